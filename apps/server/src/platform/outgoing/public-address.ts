import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Whether an IP address is one of the public internet. None of the special-purpose ranges of IANA is (RFC 6890,
 * https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry): loopback, private, link-local, carrier-grade NAT,
 * documentation, benchmarking, multicast, reserved. Of IPv6 only 2000::/3 is given out (RFC 4291 2.4), so an address that stands for one of IPv4
 * is not public whatever it holds: mapped (`::ffff:10.0.0.1`), compatible (`::a9fe:a9fe`), NAT64; nor are 6to4 and Teredo.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(givenOut))
}

const givenOut = ipaddr.parseCIDR('2000::/3')

/** Whether a name means this machine in every resolver (RFC 6761 6.3). */
export function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname)
}
