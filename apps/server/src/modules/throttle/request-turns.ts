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
  /** So many bytes of the answer are left in memory. */
  keep: (bytes: number) => void
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
  const requestTurn = (turn: Turn): RequestTurn => ({
    keep: (left) => turn.resize(megabytes(left)),
    end: turn.end,
  })
  return {
    take: async (companyId, bytes) => requestTurn(await turns(companyId, megabytes(bytes))),
    takeAtOnce(companyId, bytes) {
      const turn = turns.atOnce(companyId, megabytes(bytes))
      return turn && requestTurn(turn)
    },
  }
}

function megabytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 2 ** 20))
}

function refusal(): Problem {
  return new Problem('requests_exceeded', { retryAfterSeconds: 2 })
}
