import { limits } from '@bridgework/contract'
import type { Pool } from 'pg'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import type { Stamp } from '../datasets/stamp.ts'
import { readHorizon } from './horizon.ts'
import { findNews } from './news.ts'

export type ChangeWatch = {
  /** Counts a request of the company that may wait, until the function that it returns is called. Throws `requests_exceeded`. */
  enter: (companyId: CompanyId) => () => void
  /**
   * Resolves when something of the company changed after `since`, when the epoch is another one, after `ms`, when `signal` fires, and when the
   * service stops. It may also resolve for nothing.
   */
  wait: (asked: { companyId: CompanyId; since: Stamp; epoch: string; ms: number; signal: AbortSignal }) => Promise<void>
  /** Whether the service stops: nothing waits any more. */
  isStopping: () => boolean
  stop: () => Promise<void>
}

/** How often a process looks for all that wait in it. */
export const lookEveryMs = 500

type Waiting = { companyId: CompanyId; since: Stamp; epoch: string; wake: () => void }

/** One look of the process for all requests that wait in it; none while no request waits. */
export function createChangeWatch({ pool, log }: { pool: Pool; log: Log }): ChangeWatch {
  const entered = new Map<CompanyId, number>()
  const waiting = new Set<Waiting>()
  const stopping = new AbortController()
  let hasStarted = false

  const look = async () => {
    const all = [...waiting]
    if (all.length === 0) return
    const horizon = await readHorizon(pool)
    const news = await findNews(pool, {
      companyIds: [...new Set(all.map(({ companyId }) => companyId))],
      since: Math.min(...all.map(({ since }) => since)),
      restored: horizon.restored,
    })
    for (const each of all) {
      if (each.epoch !== horizon.epoch || (news.get(each.companyId) ?? 0) > each.since) each.wake()
      // What comes to light from now on is later, so the next look needs to go back no farther.
      else each.since = Math.max(each.since, horizon.stamp)
    }
  }
  const loop = createLoop({ steps: { 'look for changes': look }, everyMs: lookEveryMs, log })

  return {
    enter(companyId) {
      const before = entered.get(companyId) ?? 0
      if (before >= limits.changesWaitingMax) throw tooMany()
      entered.set(companyId, before + 1)
      return () => {
        const left = (entered.get(companyId) ?? 0) - 1
        if (left <= 0) entered.delete(companyId)
        else entered.set(companyId, left)
      }
    },
    async wait({ companyId, since, epoch, ms, signal }) {
      if (!hasStarted) loop.start()
      hasStarted = true
      const end = AbortSignal.any([signal, stopping.signal])
      if (end.aborted) return
      await new Promise<void>((resolve) => {
        const mine: Waiting = { companyId, since, epoch, wake }
        const timer = setTimeout(wake, ms)
        function wake() {
          waiting.delete(mine)
          clearTimeout(timer)
          end.removeEventListener('abort', wake)
          resolve()
        }
        waiting.add(mine)
        end.addEventListener('abort', wake)
      })
    },
    isStopping: () => stopping.signal.aborted,
    async stop() {
      stopping.abort()
      await loop.stop()
    },
  }
}

function tooMany(): Problem {
  const errors = `${limits.changesWaitingMax} requests of this company wait for changes already. One is enough for all locations: share it, or ask without wait.`
  return new Problem('requests_exceeded', { errors, retryAfterSeconds: 5 })
}
