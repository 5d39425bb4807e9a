import { setTimeout as sleep } from 'node:timers/promises'
import type { DatasetReader } from '../dataset.ts'
import type { Database } from './connection.ts'

/** A statement that took longer is too long: MyISAM's tables cannot be written to meanwhile. The next ones read fewer rows. */
const statementMsMax = 40

/** A batch begins with this share of the rows that it may have at most, and grows while statements are quick. */
const shareAtFirst = 0.1

/** How often the server is asked what else it does, and how long a busy one is left alone before each batch, at most. */
const [askEveryMs, pauseMs, pauseMsMax] = [250, 250, 10_000]

/** The server's answer takes at least this much longer when it is called slow: less is chance. */
const slowerMsMin = 20

/**
 * Keeps a long read out of the office's way: batches so small that no statement holds its locks for long on a quiet server, and a pause while the server has
 * more to do than when the read began, or takes twice as long to answer. A pause ends after a while, so that a read always comes to its end.
 */
export function officePace(database: Database, wait: (ms: number) => Promise<unknown> = sleep) {
  const shares = new Map<DatasetReader, number>()
  /**
   * The largest share that was read quickly. A batch of that size which is slow later is so because the server is busy: pauses help then, and many
   * small batches would only ask more often.
   */
  const quickest = new Map<DatasetReader, number>()
  let askedAtMs = Number.NEGATIVE_INFINITY
  let quiet: { others: number; answerMs: number } | null = null
  let pausedMs = 0

  async function ask(): Promise<{ others: number; answerMs: number }> {
    askedAtMs = performance.now()
    const rows = await database.query("show global status like 'Threads_running'")
    const answerMs = performance.now() - askedAtMs
    return { others: Number(rows[0]?.Value ?? 1) - 1, answerMs }
  }

  async function isBusy(): Promise<boolean> {
    if (quiet === null) {
      const answers = [await ask(), await ask(), await ask()]
      quiet = {
        others: Math.min(...answers.map(({ others }) => others)),
        answerMs: Math.max(...answers.map(({ answerMs }) => answerMs)),
      }
      return false
    }
    const { others, answerMs } = await ask()
    const isSlow = answerMs > 2 * quiet.answerMs && answerMs > quiet.answerMs + slowerMsMin
    const isBusier = others > quiet.others
    quiet = { ...quiet, others: Math.min(quiet.others, others) }
    return isSlow || isBusier
  }

  return {
    /** Before a batch: waits while the office needs the server. */
    yieldToOffice: async (): Promise<void> => {
      if (performance.now() - askedAtMs < askEveryMs) return
      // Each pause is twice as long as the one before it: a busy server is not asked all the time whether it still is.
      for (let waited = 0, next = pauseMs; waited < pauseMsMax && (await isBusy()); next *= 2) {
        const ms = Math.min(next, pauseMsMax - waited)
        await wait(ms)
        waited += ms
        pausedMs += ms
      }
    },
    /** How many keys the next batch reads. */
    keysOf: (reader: DatasetReader): number =>
      Math.max(1, Math.round(reader.keysPerChunk * (shares.get(reader) ?? shareAtFirst))),
    /** After a batch. */
    adapt: (reader: DatasetReader): void => {
      const [slowest, share] = [database.takeSlowestMs(), shares.get(reader) ?? shareAtFirst]
      const quick = quickest.get(reader) ?? 0
      if (slowest > statementMsMax) {
        shares.set(reader, Math.max(0.01, quick / 2, (share * statementMsMax) / (2 * slowest)))
      } else if (slowest < statementMsMax / 2) {
        quickest.set(reader, Math.max(quick, share))
        shares.set(reader, Math.min(1, share * 1.5))
      }
    },
    /** How long it waited so far. */
    pausedMs: (): number => pausedMs,
  }
}
