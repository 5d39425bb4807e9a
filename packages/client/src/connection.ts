import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, parseObject, refusalOf } from './api-error.ts'
import type { ClientEvent, SyncType } from './events.ts'
import type { PageBuffer } from './pages/page-buffer.ts'
import type { SyncSlots } from './sync-slots.ts'
import type { AccessTokens } from './tokens/access-token.ts'

export type RetryOptions = {
  /** How often a request is tried in all. */
  attempts: number
  /** The longest pause that the client chooses; a longer `Retry-After` is kept to. */
  delayMaxMs: number
}

export type Connection = {
  /** A GET with a token. `slot`: the request reads a location's dataset and takes a sync slot of this type for as long as it lasts. */
  get: (path: string, options?: GetOptions) => Promise<Answer>
  /** POST /auth/token: the one request without a token. */
  requestToken: (signal: AbortSignal) => Promise<string>
}

export type GetOptions = {
  query?: ReadonlyMap<string, string>
  slot?: { type: SyncType; locationId: string }
  /** More request headers. */
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** How long the service may wait with its answer because the request asks for that: the time limit comes on top. */
  waitMs?: number
  /** Takes the answer in and parses it, in the place of a text. */
  into?: PageBuffer | undefined
}

export type Answer = { body: Record<string, unknown>; requestId: string | null; date: string | null }

type Attempt =
  | { state: 'answered'; status: number; headers: Headers; text: string }
  | { state: 'broken'; because: 'connection_failed' | 'timeout'; cause: unknown }

/** Statuses after which the same read may be asked again: all of them say that it was not executed, or could not be for the moment. */
const transient = new Set([429, 500, 502, 503, 504])

/** Sends requests, repeats what is safe to repeat, and turns all else into an ApiError. */
export function createConnection(options: {
  baseUrl: string
  clientId: string
  clientSecret: string
  fetch: typeof fetch
  tokens: () => AccessTokens
  slots: SyncSlots
  retry: RetryOptions
  timeoutMs: number
  userAgent: string
  onEvent: (event: ClientEvent) => void
}): Connection {
  const { baseUrl, tokens, slots, retry, timeoutMs, userAgent, onEvent } = options

  /** One request, read to its end within the time limit. */
  const send = async (
    path: string,
    attempt: number,
    url: string,
    init: RequestInit,
    signal?: AbortSignal,
    into?: PageBuffer,
    waitMs = 0,
  ) => {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs + waitMs)
    const giveUp = () => limit.abort()
    signal?.addEventListener('abort', giveUp, { once: true })
    const beganAt = performance.now()
    onEvent({ event: 'request', path, attempt })
    let answered: Attempt & { state: 'answered' }
    try {
      // A redirect is not followed: the secret or the token would go where it points.
      const response = await options.fetch(url, { ...init, redirect: 'manual', signal: limit.signal })
      const isTakenIn = into !== undefined && response.status === 200
      const text = isTakenIn ? await into.fill(response).then(() => '') : await response.text()
      answered = { state: 'answered', status: response.status, headers: response.headers, text }
    } catch (cause) {
      signal?.throwIfAborted()
      const because = limit.signal.aborted ? 'timeout' : 'connection_failed'
      return { state: 'broken', because, cause } satisfies Attempt
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
    const { status, headers } = answered
    const durationMs = Math.round(performance.now() - beganAt)
    onEvent({ event: 'response', path, attempt, status, durationMs, requestId: headers.get('x-request-id') })
    return answered
  }

  const pause = async (
    path: string,
    attempt: number,
    because: string,
    headers: Headers | null,
    signal?: AbortSignal,
  ) => {
    const delayMs = delayOf(attempt, headers, retry.delayMaxMs)
    onEvent({ event: 'retry', path, attempt, delayMs, because })
    try {
      await sleep(delayMs, undefined, signal && { signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  }

  /** Repeats until there is an answer to give, or an error. `make` is asked anew for every attempt. */
  const persist = async (
    path: string,
    signal: AbortSignal | undefined,
    make: (attempt: number) => Promise<Attempt>,
    parse: (text: string) => Record<string, unknown> | null,
    {
      onRefused,
      isPatient = true,
    }: { onRefused?: (status: number, text: string) => boolean; isPatient?: boolean } = {},
  ): Promise<Answer> => {
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      const outcome = await make(attempt)
      const isLast = attempt >= retry.attempts
      if (outcome.state === 'broken') {
        const refused = certificateFault(outcome.cause)
        if (refused !== null) throw untrusted(refused, baseUrl, attempt, outcome.cause)
        if (isLast) throw unreachable(outcome.because, baseUrl, attempt, outcome.cause)
        await pause(path, attempt, outcome.because, null, signal)
        continue
      }
      const { status, headers, text } = outcome
      if (status === 200) {
        const body = parse(text)
        if (body) return { body, requestId: headers.get('x-request-id'), date: headers.get('date') }
        // Cut on its way, unless someone else has answered.
        if (isLast || isForeign(headers)) throw refusalOf(status, headers, text, attempt, baseUrl)
        await pause(path, attempt, 'answer_invalid', null, signal)
        continue
      }
      if (onRefused?.(status, text)) continue
      const isFinal =
        !transient.has(status) ||
        (status === 429 && !isPatient) ||
        (status === 500 && isForeign(headers)) ||
        waitsForPerson(text)
      if (isFinal || isLast) throw refusalOf(status, headers, text, attempt, baseUrl)
      await pause(path, attempt, String(status), headers, signal)
    }
  }

  return {
    get(path, { query = new Map(), slot, headers: others, signal, into, waitMs } = {}) {
      const url = `${baseUrl}${path}${queryOf(query)}`
      let type = slot?.type
      let used = ''
      let isRenewed = false
      const make = async (attempt: number) => {
        // Before the slot is taken: others need not wait while a token comes.
        used = await tokens().get(signal)
        const release = slot && type ? await slots.acquire(type, slot.locationId, signal) : undefined
        try {
          const own = { authorization: `Bearer ${used}`, accept: 'application/json', 'user-agent': userAgent }
          const headers = { ...others, ...own }
          return await send(path, attempt, url, { headers }, signal, into, waitMs)
        } finally {
          release?.()
        }
      }
      const onRefused = (status: number, text: string) => {
        if (status === 401 && !isRenewed) {
          isRenewed = true
          tokens().refuse(used)
          return true
        }
        if (status === 429) {
          const learned = learn(text)
          // A delta from before a grant is answered in full, and counts as initial: from now on this request waits for such a slot.
          if (learned && slot) type = learned
        }
        return false
      }
      // A request that waits is not repeated while others of the company wait: its caller asks in another way.
      return persist(path, signal, make, into?.parse ?? parseObject, { onRefused, isPatient: !waitMs })
    },

    async requestToken(signal) {
      const path = '/auth/token'
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': userAgent },
        body: JSON.stringify({ client_id: options.clientId, client_secret: options.clientSecret }),
      }
      const { body, requestId } = await persist(
        path,
        signal,
        (attempt) => send(path, attempt, baseUrl + path, init, signal),
        parseObject,
      )
      if (typeof body.token === 'string') return body.token
      const errors = 'The answer to POST /auth/token has no token. Check the base URL.'
      throw new ApiError({ status: 200, code: 'answer_invalid', errors, requestId, attempts: 1 })
    },
  }

  function learn(text: string): SyncType | null {
    const body = parseObject(text)
    const type = body?.sync_type
    if (type !== 'initial' && type !== 'incremental') return null
    const limit = body?.max_concurrent_locations
    if (typeof limit === 'number' && slots.learn(type, limit)) {
      onEvent({ event: 'limit.learned', syncType: type, locations: slots.limitOf(type) })
    }
    return type
  }
}

/** Whether a refusal ends with an act of the service's operator, and not by itself. */
function waitsForPerson(text: string): boolean {
  return parseObject(text)?.code === 'restore_unmarked'
}

/** Whether an answer lacks all that Bridgework puts into each: a wrong address, a login page of a network. A gateway's 502 is another matter. */
function isForeign(headers: Headers): boolean {
  return headers.get('x-request-id') === null && !/json/i.test(headers.get('content-type') ?? '')
}

/** Growing pauses with full jitter; at least what the service asked for, and a little more, so that not all come back at once. */
function delayOf(attempt: number, headers: Headers | null, delayMaxMs: number): number {
  const ceiling = Math.min(delayMaxMs, 200 * 2 ** (attempt - 1))
  const jitter = Math.random() * ceiling
  const askedMs = headers ? retryAfterMs(headers) : null
  return Math.round(askedMs === null ? ceiling / 4 + jitter : Math.min(askedMs, 600_000) + jitter)
}

/** RFC 9110: seconds, or a date, by the clock of the server that answered. Null when neither is given. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const ms = Date.parse(text) - Date.parse(headers.get('date') ?? new Date().toUTCString())
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

/**
 * Node's or OpenSSL's code of a certificate that this computer does not trust; null for any other fault. Waiting mends none of them, so the request is
 * not repeated. The codes: https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
function certificateFault(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  return /CERT|CRL|_VERIFY_|^(INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED)$/.test(code) ? code : null
}

function untrusted(fault: string, baseUrl: string, attempts: number, cause: unknown): ApiError {
  const errors = `This computer does not trust the certificate of ${baseUrl} (${fault}). If a filter of your network looks into encrypted connections, name its authority in SSL_CERT_FILE or NODE_EXTRA_CA_CERTS.`
  return new ApiError({ status: 0, code: 'certificate_untrusted', errors, requestId: null, attempts }, { cause })
}

function unreachable(
  code: 'connection_failed' | 'timeout',
  baseUrl: string,
  attempts: number,
  cause: unknown,
): ApiError {
  const what = code === 'timeout' ? 'gave no whole answer in time' : 'could not be reached, or the connection broke'
  const tries = attempts === 1 ? '' : ` (${attempts} attempts)`
  const errors = `${baseUrl} ${what}${tries}.`
  return new ApiError({ status: 0, code, errors, requestId: null, attempts }, { cause })
}

function queryOf(query: ReadonlyMap<string, string>): string {
  const parts = [...query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}
