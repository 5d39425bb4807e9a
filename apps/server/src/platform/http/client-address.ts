import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'

/** Says which address a request came from. */
export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/**
 * The caller's address: the socket's, unless that is a configured proxy; then the right-most address of X-Forwarded-For that is no proxy
 * of ours, for everything left of it was written by the caller. A header that is not a list of addresses counts as absent, so that garbage
 * buys no fresh limit. No other header is ever looked at. `trustedProxies`: addresses and CIDR ranges, already checked.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = createIsTrusted(trustedProxies)

  return (request) => {
    const socketAddress = addressOf(request.socket) ?? '0.0.0.0'
    const header = request.headers['x-forwarded-for']
    if (trustedProxies.length === 0 || header === undefined || !isTrusted(socketAddress)) return socketAddress

    let caller = socketAddress
    for (const entry of String(header).split(',').reverse()) {
      const address = parseAddress(entry.trim())
      if (address === null) return socketAddress
      caller = address
      if (!isTrusted(address)) return caller
    }
    return caller
  }
}

/** Says whether a caller came over https: to us, or to a configured proxy that says so in X-Forwarded-Proto. */
export function createIsHttps(
  trustedProxies: readonly string[],
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => boolean {
  const isTrusted = createIsTrusted(trustedProxies)
  return ({ headers, socket }) => {
    if (socket instanceof TLSSocket) return true
    if (headers['x-forwarded-proto'] !== 'https') return false
    const address = addressOf(socket)
    return address !== null && isTrusted(address)
  }
}

const addresses = new WeakMap<Socket, string>()

/** The other end of a connection, which stays the same: parsed for the first request on it. */
function addressOf(socket: Socket): string | null {
  const known = addresses.get(socket)
  if (known !== undefined) return known
  const address = parseAddress(socket.remoteAddress ?? '')
  if (address !== null) addresses.set(socket, address)
  return address
}

function createIsTrusted(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) addTo(trusted, proxy)
  return (address) => trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** What limits count by: an IPv4 address, or the /64 of an IPv6 address, for a customer is given at least that much. */
export function limitKey(address: string): string {
  if (isIPv4(address)) return address
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`
}

/** The one spelling of an address as proxies write it: with a port, in brackets, with a zone, IPv4 mapped into IPv6. Null for anything else. */
function parseAddress(text: string): string | null {
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([^:]*):\d{1,5}$/.exec(text)?.[1] ?? text
  const address = bare.replace(/%.*$/, '')
  // The library also reads forms such as 0x7f.1, which no proxy writes.
  return isIP(address) === 0 ? null : ipaddr.process(address).toNormalizedString()
}

function addTo(list: BlockList, proxy: string): void {
  const [text = '', bits] = proxy.split('/')
  const address = parseAddress(text)
  if (address === null) throw new Error(`not an address or CIDR range: ${proxy}`)
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (bits === undefined) list.addAddress(address, family)
  // A range of mapped addresses (::ffff:10.0.0.0/104) is a range of IPv4 addresses.
  else list.addSubnet(address, Number(bits) - (family === 'ipv4' && isIPv6(text) ? 96 : 0), family)
}
