import type { IncomingMessage } from 'node:http'
import { Problem } from '../../errors/problem.ts'

/**
 * Refuses what Node's parser takes although it says two things at once, or asks for what this server is not: two programs on the way of
 * such a request may read it differently. `publicUrl` is the service's own address, which an absolute target may name. Throws request_malformed.
 */
export function refuseMalformed(request: IncomingMessage, publicUrl: string | null): void {
  const reason = reasonOf(request, publicUrl)
  if (reason !== null) throw new Problem('request_malformed', { errors: reason })
}

function reasonOf(request: IncomingMessage, publicUrl: string | null): string | null {
  const { httpVersion, headers, method, url = '' } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'The request must say HTTP/1.1.'
  const repeated = findRepeated(request)
  if (repeated !== null) return `The request has more than one header ${repeated}.`
  if (headers.host === undefined && httpVersion === '1.1') return 'The request has no Host header.'
  if (headers.host !== undefined && /[\s/?#@\\,]/.test(headers.host)) return 'The header Host is not a host.'
  if (url === '*' && method === 'OPTIONS') return null
  if (url.startsWith('/')) return null
  const target = URL.canParse(url) ? new URL(url) : null
  return target && isOurs(target, request, publicUrl) ? null : 'The request names another host, or no path.'
}

/** The headers of which Node hands on the first and drops the others. */
const single: Readonly<Record<string, string>> = {
  authorization: 'Authorization',
  host: 'Host',
  'content-type': 'Content-Type',
}

/** `rawHeaders` has names and values in turns. */
function findRepeated({ headers, rawHeaders }: IncomingMessage): string | null {
  // Each name came once, as in most requests.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return null
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (seen.has(name) && single[name] !== undefined) return single[name]
    seen.add(name)
  }
  return null
}

/** RFC 9112 3.2.2: an absolute target is a proxy's form, and its host the one that Host says. */
function isOurs(target: URL, request: IncomingMessage, publicUrl: string | null): boolean {
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return false
  const said = `${target.protocol}//${request.headers.host}`
  if (!URL.canParse(said) || new URL(said).host !== target.host) return false
  const own = publicUrl === null ? [] : [new URL(publicUrl).hostname]
  return [...own, 'localhost', '127.0.0.1', '[::1]'].includes(target.hostname)
}
