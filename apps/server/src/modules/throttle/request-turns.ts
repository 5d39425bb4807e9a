import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { createTurns, type Turn, type TurnOptions } from '../../platform/memory/turns.ts'

export type RequestTurns = {
  /** Waits until the company may have another answer in memory, of about so many bytes. Throws `requests_exceeded`. */
  take: (companyId: CompanyId, bytes: number) => Promise<RequestTurn>
  /** The same where nothing has to be waited for; null: it has. */
  takeAtOnce: (companyId: CompanyId, bytes: number) => RequestTurn | null
}

export type RequestTurn = {
  /** How many bytes of the answer are left in memory. */
  keep: (bytes: number) => void
  /**
   * For an answer that turns out to be larger than was said: waits as `take` does. Meanwhile it holds nothing, so that two that wait for room never
   * wait for each other. To be called while next to nothing is in memory.
   */
  widen: (bytes: number) => Promise<void>
  /** Holds nothing until it is widened: the request waits for something else, with nothing in memory. */
  rest: () => void
  end: Turn['end']
}

/** Megabytes of answers in memory: of all companies, and of one. */
const usual = { max: 64, keyMax: 32, waitMs: 5_000, waitingMax: 1_000, keyWaitingMax: 100 }

/**
 * Bounds what the answers to a company, and to all of them, take in this process at one time, from before anything is read until the last
 * byte is sent. An answer counts as its megabytes, estimated before it is read, and at least as one, so it also bounds their number.
 */
export function createRequestTurns(options: Partial<TurnOptions> = {}): RequestTurns {
  const turns = createTurns({ ...usual, refusal, ...options })
  const requestTurn = (companyId: CompanyId, first: Turn, bytes: number): RequestTurn => {
    let turn = first
    let weight = megabytes(bytes)
    let hasEnded = false
    return {
      keep: (left) => turn.resize(megabytes(left)),
      async widen(bytes) {
        if (megabytes(bytes) <= weight) return
        weight = megabytes(bytes)
        turn.end()
        turn = await turns(companyId, weight)
        // Its caller may have left while it waited.
        if (hasEnded) turn.end()
      },
      rest() {
        turn.end()
        weight = 0
      },
      end() {
        hasEnded = true
        turn.end()
      },
    }
  }
  return {
    take: async (companyId, bytes) => requestTurn(companyId, await turns(companyId, megabytes(bytes)), bytes),
    takeAtOnce(companyId, bytes) {
      const turn = turns.atOnce(companyId, megabytes(bytes))
      return turn && requestTurn(companyId, turn, bytes)
    },
  }
}

function megabytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 2 ** 20))
}

function refusal(): Problem {
  return new Problem('requests_exceeded', { retryAfterSeconds: 2 })
}
