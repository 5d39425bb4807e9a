import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { addAbortListener } from 'node:events'
import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { codeOf } from '../errors/error-code.ts'
import { isLocalName, isPublicAddress } from './public-address.ts'

/** What may be fetched: a part of `fetch`. */
export type OutgoingFetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: unknown; signal?: AbortSignal },
) => Promise<Response>

/** How the service reaches addresses and names that customers enter. Every call ends within `timeoutMs` (10 seconds), and with its signal. */
export type Outgoing = {
  fetch: OutgoingFetch
  /** The TXT records of a name. */
  resolveTxt: (name: string, signal?: AbortSignal) => Promise<string[][]>
}

/** Why an address is not fetched, for the person who entered it. */
export class AddressRefused extends Error {}

/** Why an answer was not taken. */
export class AnswerRefused extends Error {
  readonly code: 'ANSWER_TOO_LARGE' | 'ANSWER_UNUSABLE'

  constructor(code: AnswerRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}

export type OutgoingOptions = {
  /** Any http or https address, also of this machine and its network: for the sandbox. */
  allowPrivate: boolean
  /** Ends every call with its reason. */
  stopping?: AbortSignal | undefined
  timeoutMs?: number
  /** Absent: the system's. */
  nameServers?: readonly string[]
  /** The IP addresses of a name. Called once for each attempt. */
  resolve?: ((hostname: string, ended: AbortSignal) => Promise<LookupAddress[]>) | undefined
  /** What opens the connections; absent: an agent of its own for each call. */
  agent?: Agent
  /** Of a longer answer only so many bytes are read, and the connection is ended; absent: an answer of more than 128 KiB is refused. */
  cutAfterBytes?: number
}

const bodyBytesMax = 128 * 1024
/** Answers before the answer (103 and others), of which a server may send any number. */
const informationMax = 10

/**
 * The one client for what customers enter. Only https and only public addresses, so that no customer reaches the operator's own network through
 * the server: a name is resolved once for each attempt, all its addresses must be public, and the connection goes to one of these. No redirect is
 * followed. An answer has at most 128 KiB, and `timeoutMs` from the look-up to its last byte. A call settles whatever the other side does, and
 * leaves no socket. Throws AddressRefused, AnswerRefused, a DOMException TimeoutError, the reason of a signal, or an error with a code of the system.
 */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { allowPrivate, stopping, timeoutMs = 10_000, agent = false, cutAfterBytes } = options
  const resolverUntil = (ended: AbortSignal) => openResolver(options.nameServers, timeoutMs, ended)
  const resolveName = (hostname: string, ended: AbortSignal) =>
    allowPrivate ? lookup(hostname, { all: true }) : resolveByDns(resolverUntil(ended), hostname)
  const { resolve = resolveName } = options
  return {
    fetch: async (address, { method, headers, body, signal }) => {
      const url = new URL(address)
      if (!allowPrivate) requirePublicUrl(url)
      const host = hostOf(url)
      const isName = isIP(host) === 0
      const work = async (ended: AbortSignal) => {
        const addresses = isName ? await resolve(host, ended) : []
        if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
          throw new AddressRefused(`${host} is not at a public address`)
        }
        ended.throwIfAborted()
        const request = url.protocol === 'https:' ? requestHttps : requestHttp
        const call = request(url, {
          method,
          headers: { ...headers, 'accept-encoding': 'identity' },
          agent,
          lookup: lookupIn(addresses),
        })
        return await answerTo(call, body, ended, cutAfterBytes)
      }
      return await settle(work, timeoutMs, [stopping, signal])
    },
    resolveTxt: (name, signal) =>
      settle((ended) => resolverUntil(ended).resolveTxt(name), timeoutMs, [stopping, signal]),
  }
}

function requirePublicUrl(url: URL): void {
  if (url.protocol !== 'https:') throw new AddressRefused('the address must begin with https://')
  if (url.username !== '' || url.password !== '') {
    throw new AddressRefused('the address must have no user name and no password')
  }
  const host = hostOf(url)
  if (isLocalName(host) || (isIP(host) !== 0 && !isPublicAddress(host))) {
    throw new AddressRefused(`${host} is not a public address`)
  }
}

/** A name, or an IP address without the brackets. The URL's parser has read decimal, octal and hexadecimal spellings of one. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/**
 * Settles with the work, or before it with the time or a signal: `ended` tells the work to give up, and nothing waits for it to do so. A timer of
 * our own, because what AbortSignal.any makes of AbortSignal.timeout is held by nothing.
 */
async function settle<T>(
  work: (ended: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signals: readonly (AbortSignal | undefined)[],
): Promise<T> {
  for (const signal of signals) signal?.throwIfAborted()
  const ending = new AbortController()
  const cut = new Promise<never>((_, reject) => addAbortListener(ending.signal, () => reject(ending.signal.reason)))
  const timer = setTimeout(() => {
    ending.abort(new DOMException('no answer in time', 'TimeoutError'))
  }, timeoutMs)
  const listening = signals
    .filter((signal) => signal !== undefined)
    .map((signal) => addAbortListener(signal, () => ending.abort(signal.reason)))
  try {
    return await Promise.race([cut, work(ending.signal)])
  } finally {
    clearTimeout(timer)
    for (const each of listening) each[Symbol.dispose]()
    // Whatever is left of the work: a look-up, a socket.
    ending.abort()
  }
}

/** What the server answered, read to its end or to where it is cut. */
async function answerTo(
  call: ReturnType<typeof requestHttp>,
  body: unknown,
  ended: AbortSignal,
  cutAfterBytes = Number.POSITIVE_INFINITY,
): Promise<Response> {
  addAbortListener(ended, () => call.destroy())
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    let informed = 0
    call.on('response', resolve)
    call.on('error', reject)
    call.on('close', () => reject(new AnswerRefused('ANSWER_UNUSABLE', 'the connection ended without an answer')))
    call.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new AnswerRefused('ANSWER_UNUSABLE', 'the answer changes the protocol'))
    })
    call.on('information', () => {
      informed += 1
      if (informed > informationMax) reject(new AnswerRefused('ANSWER_UNUSABLE', 'the answer does not begin'))
    })
    call.end(body === undefined || body === null ? undefined : String(body))
  })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    // Leaving the loop ends the connection.
    if (size >= cutAfterBytes) break
    if (size > bodyBytesMax) throw new AnswerRefused('ANSWER_TOO_LARGE', 'the answer is larger than 128 KiB')
  }
  const status = answer.statusCode ?? 0
  if (status < 200 || status > 599) throw new AnswerRefused('ANSWER_UNUSABLE', 'the answer has no status of HTTP')
  const isEmpty = [204, 205, 304].includes(status)
  const passedOn = ['content-type', 'www-authenticate', 'retry-after'] as const
  const headers = passedOn.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]]))
  return new Response(isEmpty ? null : Buffer.concat(chunks).subarray(0, cutAfterBytes), {
    status,
    headers: Object.fromEntries(headers),
  })
}

/** For a connection that looks its name up: what was found already, and nothing else. */
function lookupIn(addresses: LookupAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses
    if (!first) callback(Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' }), '')
    else if (all) callback(null, addresses)
    else callback(null, first.address, first.family)
  }
}

/**
 * Asks the system's name servers, without its thread pool: there, names whose servers are silent would keep the look-up of our own database waiting.
 * The codes are those of the system's look-up.
 */
async function resolveByDns(resolver: Resolver, hostname: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found.map((address) => ({ address, family: isIP(address) }))
  const isUnknown = answers.every(
    (answer) => answer.status === 'rejected' && ['ENOTFOUND', 'ENODATA'].includes(codeOf(answer.reason) ?? ''),
  )
  throw Object.assign(new Error(`${hostname} has no address`), { code: isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN' })
}

/** A resolver of its own for each attempt: it reads the system's servers when it is made. Asks twice, the second time for twice as long. */
function openResolver(servers: readonly string[] | undefined, timeoutMs: number, ended: AbortSignal): Resolver {
  const resolver = new Resolver({ timeout: timeoutMs / 8, tries: 2 })
  if (servers) resolver.setServers(servers)
  addAbortListener(ended, () => resolver.cancel())
  return resolver
}
