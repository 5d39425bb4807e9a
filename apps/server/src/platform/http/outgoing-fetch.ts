import { lookup } from 'node:dns'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What may be fetched: a part of `fetch`. */
export type OutgoingFetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: unknown; signal?: AbortSignal },
) => Promise<Response>

/** Why an address is not fetched, for the person who entered it. */
export class AddressRefused extends Error {}

const bodyBytesMax = 1024 * 1024

/**
 * Fetches addresses that customers enter. Only https and only public network addresses, also after the name was looked up, so that no
 * customer reaches the operator's own network through the server; no redirect is followed; at most 1 MiB. `allowPrivate`: any http address, for the
 * sandbox. The connection goes to the address that was checked. Throws AddressRefused.
 */
export function createOutgoingFetch({ allowPrivate }: { allowPrivate: boolean }): OutgoingFetch {
  return (address, { method, headers, body, signal }) => {
    const url = new URL(address)
    if (!allowPrivate) requirePublic(url)
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    return new Promise((resolve, reject) => {
      const call = request(
        url,
        {
          method,
          headers: { ...headers, 'accept-encoding': 'identity' },
          agent: false,
          ...(signal && { signal }),
          ...(!allowPrivate && { lookup: lookupPublic }),
        },
        (answer) => {
          const chunks: Buffer[] = []
          let size = 0
          answer.on('data', (chunk: Buffer) => {
            size += chunk.length
            if (size > bodyBytesMax) answer.destroy(new Error('the answer is larger than 1 MiB'))
            else chunks.push(chunk)
          })
          answer.on('error', reject)
          answer.on('end', () => {
            const status = answer.statusCode ?? 502
            const isEmpty = [204, 205, 304].includes(status)
            const type = answer.headers['content-type']
            const challenge = answer.headers['www-authenticate']
            resolve(
              new Response(isEmpty ? null : Buffer.concat(chunks), {
                status,
                headers: { ...(type && { 'content-type': type }), ...(challenge && { 'www-authenticate': challenge }) },
              }),
            )
          })
        },
      )
      call.on('error', reject)
      call.end(body === undefined || body === null ? undefined : String(body))
    })
  }
}

function requirePublic({ protocol, hostname }: URL): void {
  if (protocol !== 'https:') throw new AddressRefused('the address must begin with https://')
  const literal = hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal) && !isPublic(literal)) throw new AddressRefused(`${literal} is not a public address`)
}

const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '')
    const refused = addresses.find(({ address }) => !isPublic(address))
    if (refused) return callback(new AddressRefused(`${hostname} is not at a public address`), '')
    const [first] = addresses
    if (options.all) return callback(null, addresses)
    callback(null, first?.address ?? '', first?.family)
  })
}

/** Neither private, local, link-local nor of any other special use, also not inside an IPv6 address. */
function isPublic(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast'
}
