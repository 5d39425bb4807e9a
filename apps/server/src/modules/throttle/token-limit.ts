import type { Pool } from 'pg'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { limitKey } from '../../platform/http/client-address.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop, type Loop } from '../../platform/loop/loop.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'
import { admitTokenAttempt, deleteOldTokenAttempts, purgedAtOnce } from './token-attempt-store.ts'

/** `resetSeconds`: until the oldest admitted request leaves the window. */
type TokenAdmission =
  | { admitted: true; remaining: number; resetSeconds: number }
  | { admitted: false; retryAfterSeconds: number }

export type TokenLimit = {
  /** How many token requests an address may send, and in which window. */
  readonly max: number
  readonly windowMs: number
  /** Counts a token request of this address. Throws `unavailable` when it cannot be counted: no request goes uncounted. */
  admit: (ip: string) => Promise<TokenAdmission>
  /** RateLimit and RateLimit-Policy for an answer (draft-ietf-httpapi-ratelimit-headers-11). */
  headersOf: (admission: TokenAdmission) => Record<string, string>
  /** Deletes every address that has no request in the window any more; returns how many. */
  purge: () => Promise<number>
} & Pick<Loop, 'start' | 'stop'>

/**
 * At most `max` token requests of an address in any `windowMs`, over all processes: a sliding log, because a bucket or a fixed window lets
 * about twice as many through in some windows. Refused requests are not stored, and until the known moment they are refused from memory,
 * so that a flood costs no query. Requests of one address take turns, so that it never holds more than one connection.
 */
export function createTokenLimit(options: {
  pool: Pick<Pool, 'query'>
  log: Log
  max?: number
  windowMs?: number
  /** A query that takes longer counts as failed. */
  timeoutMs?: number
  /** How many refused addresses are remembered. */
  rememberedMax?: number
  purgeEveryMs?: number
  /** Milliseconds of a clock that never jumps. */
  now?: () => number
}): TokenLimit {
  const {
    pool,
    log,
    max = 10,
    windowMs = 60_000,
    timeoutMs = 3_000,
    rememberedMax = 10_000,
    purgeEveryMs = 15_000,
  } = options
  const now = options.now ?? (() => performance.now())
  const refusedUntil = new BoundedMap<string, number>(rememberedMax)
  const turns = new Map<string, Promise<TokenAdmission>>()

  const ask = async (key: string): Promise<TokenAdmission> => {
    const until = refusedUntil.get(key)
    if (until !== undefined && until > now())
      return { admitted: false, retryAfterSeconds: Math.ceil((until - now()) / 1000) }
    refusedUntil.delete(key)
    try {
      const answer = await admitTokenAttempt(pool, { address: key, max, windowMs, timeoutMs })
      // At most the window, whatever the database's clock does between two statements.
      const waitMs = Math.min(Math.max(answer.waitMs, 1), windowMs)
      if (answer.admitted)
        return { admitted: true, remaining: answer.remaining, resetSeconds: Math.ceil(waitMs / 1000) }
      refusedUntil.set(key, now() + waitMs)
      return { admitted: false, retryAfterSeconds: Math.ceil(waitMs / 1000) }
    } catch (cause) {
      throw new Problem('unavailable', {
        cause,
        retryAfterSeconds: 5,
        because: `token limit: ${databaseErrorCode(cause)}`,
      })
    }
  }

  /** Until nothing old is left: a fixed number every few seconds would be slower than a flood that never repeats an address. */
  const purge = async (): Promise<number> => {
    for (let purged = 0; ; ) {
      const count = await deleteOldTokenAttempts(pool, { windowMs, timeoutMs })
      purged += count
      if (count < purgedAtOnce) return purged
    }
  }

  const policy = { 'RateLimit-Policy': `"token";q=${max};w=${Math.ceil(windowMs / 1000)}` }

  const { start, stop } = createLoop({ steps: { 'delete old token requests': purge }, everyMs: purgeEveryMs, log })

  return {
    max,
    windowMs,
    admit(ip) {
      const key = limitKey(ip)
      // A failure is passed to those who wait behind it: each of them would wait the whole timeout for the same answer.
      const turn = (turns.get(key) ?? Promise.resolve()).then(() => ask(key))
      turns.set(key, turn)
      const leave = () => {
        if (turns.get(key) === turn) turns.delete(key)
      }
      turn.then(leave, leave)
      return turn
    },
    headersOf(admission) {
      const [left, seconds] = admission.admitted
        ? [admission.remaining, admission.resetSeconds]
        : [0, admission.retryAfterSeconds]
      return { ...policy, RateLimit: `"token";r=${left};t=${seconds}` }
    },
    purge,
    start,
    stop,
  }
}
