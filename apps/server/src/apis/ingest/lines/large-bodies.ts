import { Problem } from '../../../platform/errors/problem.ts'
import type { AgentId } from '../../../platform/identity/identity.ts'
import type { LoadWatch } from '../../../platform/memory/load-watch.ts'
import { createTurns } from '../../../platform/memory/turns.ts'

/** Each waits for a turn and returns what ends it. Refuses with `busy` after some seconds, and at once when many wait already or memory is short. */
export type LargeBodies = {
  /** Each agent has one large body in memory at a time, and all agents together a few. */
  receive: (agentId: AgentId) => Promise<() => void>
  /** A body that is larger than agents send goes on alone: with what is made of it, it takes a hundred megabytes. */
  receiveLargest: () => Promise<() => void>
  /** Of what was received, one at a time is rendered and written: that takes several times its size. */
  store: () => Promise<() => void>
}

export function createLargeBodies(load: LoadWatch): LargeBodies {
  const receiving = createTurns({ max: 8, keyMax: 1, waitMs: 5_000, waitingMax, refusal })
  const largest = createTurns({ max: 1, keyMax: 1, waitMs: 20_000, waitingMax, refusal })
  const storing = createTurns({ max: 1, keyMax: 1, waitMs: 20_000, waitingMax, refusal })
  return {
    receive: async (agentId) => {
      if (load.isFull()) throw new Problem('overloaded', { because: 'heap', retryAfterSeconds: 5 })
      return (await receiving(agentId)).end
    },
    receiveLargest: async () => (await largest('all')).end,
    store: async () => (await storing('all')).end,
  }
}

const waitingMax = 100

function refusal(): Problem {
  return new Problem('busy', {
    errors: 'The service is still busy with other large requests. Send this one again shortly.',
    retryAfterSeconds: 5,
  })
}
