import { createHash } from 'node:crypto'
import { parseObject } from '../api-error.ts'
import type { ClientEvent } from '../events.ts'
import type { StoredToken, TokenStore } from './token-store.ts'

export type AccessTokens = {
  /** A token that is good for a while, fetched at most once for all that ask. When none of them waits any more, it is not fetched. */
  get: (signal?: AbortSignal) => Promise<string>
  /** Forgets a token that the service refused, so that the next `get` brings another. */
  refuse: (token: string) => void
}

/** A token that is on its way, and how many wait for it. */
type Coming = { token: Promise<StoredToken>; callers: number; stop: AbortController }

/** Renewed this long before its end, or a tenth of its life when that is shorter. */
const renewBeforeMs = 5 * 60 * 1000

/** Shares one token among calls, and through the store among processes; keeps it for its whole life, less a little. */
export function createAccessTokens(options: {
  key: string
  store: TokenStore
  request: (signal: AbortSignal) => Promise<string>
  now: () => number
  onEvent: (event: ClientEvent) => void
}): AccessTokens {
  const { key, store, request, now, onEvent } = options
  let current: StoredToken | null = null
  let refused: string | null = null
  let coming: Coming | null = null

  const isFresh = (token: StoredToken | null): token is StoredToken => {
    if (!token || token.token === refused) return false
    const margin = Math.min(renewBeforeMs, (token.expiresAtMs - token.receivedAtMs) / 10)
    // A clock that was set back makes a token of the future; it is not to be kept for hours on end.
    return now() < token.expiresAtMs - margin && token.receivedAtMs <= now() + 60_000
  }

  const keep = (token: StoredToken, from: 'store' | 'service') => {
    current = token
    onEvent({ event: 'token', from, expiresAt: new Date(token.expiresAtMs) })
    return token
  }

  /** A full disk or a read-only folder does not stop reads. */
  const orGoOn = (work: Promise<StoredToken | null>) =>
    work.catch((error: unknown) => {
      onEvent({ event: 'token.store.failed', because: error instanceof Error ? error.message : String(error) })
      return null
    })

  const bring = async (signal: AbortSignal): Promise<StoredToken> => {
    const stored = await orGoOn(store.read(key))
    if (isFresh(stored)) return keep(stored, 'store')
    const fetched = async () => {
      const other = await orGoOn(store.read(key))
      if (isFresh(other)) return keep(other, 'store')
      try {
        const fresh = keep(tokenOf(await request(signal), now()), 'service')
        await orGoOn(store.write(key, fresh).then(() => null))
        return fresh
      } catch (error) {
        // It is early: what we have is still good.
        const old = other ?? current
        if (old && old.token !== refused && now() < old.expiresAtMs - 10_000) return old
        throw error
      }
    }
    return store.alone(key, fetched, signal)
  }

  const begin = (): Coming => {
    const stop = new AbortController()
    const begun: Coming = { token: bring(stop.signal), callers: 0, stop }
    const end = () => {
      if (coming === begun) coming = null
    }
    // Callers that wait get the error too.
    begun.token.then(end, end)
    return begun
  }

  return {
    async get(signal) {
      if (isFresh(current)) return current.token
      coming ??= begin()
      const shared = coming
      shared.callers += 1
      try {
        return (await orAborted(shared.token, signal)).token
      } finally {
        shared.callers -= 1
        if (shared.callers === 0) {
          if (coming === shared) coming = null
          shared.stop.abort(signal?.reason)
        }
      }
    },
    refuse(token) {
      if (current === null || current.token === token) refused = token
    },
  }
}

/** Names a service and a key pair in a store; no secret can be read from it, and another secret never uses its token. */
export function tokenKeyOf(baseUrl: string, clientId: string, clientSecret: string): string {
  return createHash('sha256')
    .update(JSON.stringify([baseUrl, clientId, clientSecret]))
    .digest('hex')
    .slice(0, 32)
}

/** The token's life is counted from now on our own clock: the two clocks need not agree. */
function tokenOf(token: string, nowMs: number): StoredToken {
  const payload = parseObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const { iat, exp } = payload ?? {}
  const lifeMs = typeof iat === 'number' && typeof exp === 'number' ? (exp - iat) * 1000 : 6 * 60 * 60 * 1000
  return { token, receivedAtMs: nowMs, expiresAtMs: nowMs + lifeMs }
}

/** What is shared goes on for the others when one caller gives up. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
