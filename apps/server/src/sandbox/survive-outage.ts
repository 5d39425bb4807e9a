import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from '../platform/database/unavailable.ts'

/** Does `work` again while the database cannot be reached, for a minute at most. For work that looks what is there before each of its steps. */
export async function surviveOutage<T>(work: () => Promise<T>, signal: AbortSignal, patienceMs = 60_000): Promise<T> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() > until) throw error
      await sleep(250, undefined, { signal })
    }
  }
}
