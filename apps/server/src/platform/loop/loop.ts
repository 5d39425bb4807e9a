import { databaseErrorCode } from '../database/unavailable.ts'
import type { Log } from '../log/log-event.ts'

/** A piece of periodic work. A long one looks at `stopping` and ends early. */
export type Step = (stopping: AbortSignal) => unknown

export type Loop = {
  start: () => void
  /** Does every step once more, after the run in progress; also after `stop`. Never rejects. */
  run: () => Promise<void>
  /** Resolves when the step in progress has ended. The steps after it are left out. */
  stop: () => Promise<void>
}

/**
 * Periodic work of one process. A run does the steps one after the other, and never begins before the last run has ended: a run that takes longer
 * than `everyMs` leaves out the times in between. Each step has an attempt of its own: when it fails, the others go on, and the next run tries it
 * again. The failure is logged with the step's name, once a minute at most while the step goes on failing.
 */
export function createLoop(options: {
  /** By the name that the log shows. */
  steps: Readonly<Record<string, Step>>
  everyMs: number
  firstAfterMs?: number
  /** What a step begins under, where the loop was started; while it does not hold, the loop looks again every few seconds. */
  when?: () => boolean
  log: Log
}): Loop {
  const { steps, everyMs, firstAfterMs = everyMs, when = () => true, log } = options
  const stopping = new AbortController()
  const loggedAtMs = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()

  const attempt = async (task: string, step: Step): Promise<void> => {
    try {
      await step(stopping.signal)
      loggedAtMs.delete(task)
    } catch (error) {
      const now = performance.now()
      if (now - (loggedAtMs.get(task) ?? Number.NEGATIVE_INFINITY) < logEveryMs) return
      loggedAtMs.set(task, now)
      log({ event: 'task.failed', task, error: databaseErrorCode(error) })
    }
  }
  const queueRun = (isWanted: () => boolean): Promise<void> => {
    running = running.then(async () => {
      for (const [task, step] of Object.entries(steps)) if (isWanted()) await attempt(task, step)
    })
    return running
  }
  const startAfter = (ms: number) => {
    timer = setTimeout(async () => {
      const begunMs = performance.now()
      if (when()) await queueRun(() => !stopping.signal.aborted && when())
      else if (!stopping.signal.aborted) return startAfter(Math.min(everyMs, lookAgainMs))
      if (!stopping.signal.aborted) startAfter(everyMs - ((performance.now() - begunMs) % everyMs))
    }, ms).unref()
  }

  return {
    start: () => startAfter(firstAfterMs),
    run: () => queueRun(() => true),
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}

const logEveryMs = 60_000
const lookAgainMs = 5_000
