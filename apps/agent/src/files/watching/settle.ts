import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type ExportFile, isSame, type Look, look } from './export-files.ts'

/** The monotonic clock of the computer, and a wait. `waitMaxMs`: the next cycle does a longer wait. */
export type OwnClock = {
  readonly monotonicMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly waitMaxMs: number
}

/** A file as it was first seen in its present state. `atMs`: on our own clock. */
type FirstLook = { readonly look: Look; readonly sha256: string; readonly atMs: number }

/**
 * Decides whether a file is finished: two looks, `settleMs` apart on our own clock, found the same size and content. A file's own time does not
 * show that: a copy keeps the time of what it copies, and a file server's clock may be behind.
 */
export type Settling = {
  /** Looks at the files, and waits until a second look can tell. */
  look(files: readonly ExportFile[], settleMs: number): Promise<void>
  /** The hash of the first look; null: the second look must wait. */
  settledHash(file: ExportFile, now: Look, settleMs: number): string | null
  /** The hash of what the file was found to be, whether it rests or not; null: it was not looked at as it is now. */
  knownHash(file: ExportFile, now: Look): string | null
  /** Another content was found: this is the first look at what the file is now. */
  begin(file: ExportFile, now: Look, sha256: string): void
  /** When the next second look can be taken, in ms from now; null when none is waited for. */
  waitMs(settleMs: number): number | null
}

/** A timer may end a little before its time. */
const timerEarlyMs = 10

export function settling({ monotonicMs, sleep, waitMaxMs }: OwnClock): Settling {
  let firsts = new Map<string, FirstLook>()
  const waiting = new Set<string>()
  const remaining = (first: FirstLook, settleMs: number) => first.atMs + settleMs - monotonicMs()

  return {
    look: async (files, settleMs) => {
      const now = new Map<string, FirstLook>()
      for (const file of files) {
        const seen = look(file.path)
        if (seen === null) continue
        const before = firsts.get(file.name)
        const isKnown = before !== undefined && isSame(before.look, seen)
        // The time comes after the hash: what a slow read saw last must rest as long as all of it.
        now.set(file.name, isKnown ? before : { look: seen, sha256: await hashOf(file.path), atMs: monotonicMs() })
      }
      firsts = now
      const waitMs = Math.max(0, ...[...firsts.values()].map((first) => remaining(first, settleMs)))
      if (waitMs > 0 && waitMs <= waitMaxMs) await sleep(waitMs + timerEarlyMs)
    },

    settledHash: (file, now, settleMs) => {
      const first = firsts.get(file.name)
      const isSettled = first !== undefined && isSame(first.look, now) && remaining(first, settleMs) <= 0
      if (!isSettled) waiting.add(file.name)
      else waiting.delete(file.name)
      return isSettled ? first.sha256 : null
    },

    knownHash: (file, now) => {
      const first = firsts.get(file.name)
      return first !== undefined && isSame(first.look, now) ? first.sha256 : null
    },

    begin: (file, now, sha256) => {
      waiting.add(file.name)
      firsts.set(file.name, { look: now, sha256, atMs: monotonicMs() })
    },

    waitMs: (settleMs) => {
      const waits = [...firsts].flatMap(([name, first]) => (waiting.has(name) ? [remaining(first, settleMs)] : []))
      return waits.length === 0 ? null : Math.max(0, ...waits)
    },
  }
}

/** A hash of a file's content; empty for one that cannot be read now: its readers say why. */
export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk)
  } catch {
    return ''
  }
  return hash.digest('hex')
}
