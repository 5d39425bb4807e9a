import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId } from '../../platform/identity/identity.ts'

/** Each waits for a turn and returns what ends it. Refuses with `busy` after some seconds, and at once when many wait already. */
export type LargeBodies = {
  /** Each agent has one large body in memory at a time, and all agents together a few. */
  receive: (agentId: AgentId) => Promise<() => void>
  /** A body that is larger than agents send goes on alone: with what is made of it, it takes a hundred megabytes. */
  receiveLargest: () => Promise<() => void>
  /** Of what was received, one at a time is rendered and written: that takes several times its size. */
  store: () => Promise<() => void>
}

export function createLargeBodies(): LargeBodies {
  const receiving = createTurns({ max: 8, waitMs: 5_000 })
  const largest = createTurns({ max: 1, waitMs: 20_000 })
  const storing = createTurns({ max: 1, waitMs: 20_000 })
  return { receive: receiving, receiveLargest: () => largest('all'), store: () => storing('all') }
}

/** Turns, of which each key has one at a time and all keys `max`, in the order in which they were asked for. */
export function createTurns({ max, waitMs, waitingMax = 100 }: { max: number; waitMs: number; waitingMax?: number }) {
  const busy = new Set<string>()
  const waiting = new Map<() => void, string>()
  const isFree = (key: string) => busy.size < max && !busy.has(key)
  const take = (key: string) => {
    busy.add(key)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      busy.delete(key)
      for (const [go, other] of waiting) if (isFree(other)) go()
    }
  }
  return (key: string): Promise<() => void> => {
    if (isFree(key)) return Promise.resolve(take(key))
    if (waiting.size >= waitingMax) return Promise.reject(refusal())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(go)
        reject(refusal())
      }, waitMs)
      const go = () => {
        clearTimeout(timer)
        waiting.delete(go)
        resolve(take(key))
      }
      waiting.set(go, key)
    })
  }
}

function refusal(): Problem {
  return new Problem('busy', {
    errors: 'The service is still busy with other large requests. Send this one again shortly.',
    retryAfterSeconds: 5,
  })
}
