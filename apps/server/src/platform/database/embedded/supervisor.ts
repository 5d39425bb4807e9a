import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../log/log-event.ts'
import { DatabaseStartError } from '../start-error.ts'
import { type Launch, launch } from './launch.ts'
import { stopPostmaster } from './postmaster.ts'

/**
 * Keeps a server running: starting → running → (died → starting)* → stopped. The first start's failure is thrown; a later one is logged
 * and tried again for ever, because the cause (a full disk) may go away and requests get 503 meanwhile.
 */
export async function supervise(
  options: Omit<Launch, 'signal'> & { log: Log },
): Promise<{ stop: (way: 'smart' | 'fast') => Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  let postmaster = await launch({ ...options, signal })
  let startedAt = performance.now()
  options.log({ event: 'database.ready', kind: 'embedded' })

  const watch = async () => {
    let failures = 0
    for (;;) {
      await postmaster.exited
      if (signal.aborted) return
      failures = performance.now() - startedAt > 10_000 ? 0 : failures + 1
      for (;;) {
        const restartInMs = Math.min(2_500, 100 * 2 ** failures)
        options.log({ event: 'database.died', restartInMs })
        await sleep(restartInMs, undefined, { signal }).catch(() => {})
        if (signal.aborted) return
        try {
          postmaster = await launch({ ...options, signal })
          if (signal.aborted) return await stopPostmaster(postmaster, 'fast')
          break
        } catch (error) {
          if (signal.aborted) return
          failures += 1
          options.log({
            event: 'server.warning',
            text: error instanceof DatabaseStartError ? error.message : 'Postgres cannot be restarted.',
          })
        }
      }
      startedAt = performance.now()
      options.log({ event: 'database.ready', kind: 'embedded' })
    }
  }
  const watching = watch()

  return {
    async stop(way) {
      stopping.abort()
      await stopPostmaster(postmaster, way)
      await watching
    },
  }
}
