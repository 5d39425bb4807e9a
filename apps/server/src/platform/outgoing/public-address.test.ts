import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLocalName, isPublicAddress } from './public-address.ts'

/**
 * First and last address of each range of https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, of multicast
 * (RFC 1112, RFC 4291 2.7), of site-local (RFC 3879), and of what IPv6 addresses hold of IPv4 (RFC 4291 2.5.5, RFC 6052, RFC 2765).
 */
const special = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', '::1'],
  ['::0.0.0.2', '::255.255.255.255'],
  ['::ffff:0.0.0.0', '::ffff:255.255.255.255'],
  ['::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['64:ff9b::', '64:ff9b::ffff:ffff'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const

test('X06: no address of a special-purpose range is public, in whatever spelling, and its neighbours are', () => {
  for (const address of [...special.flat(), ...others]) assert.equal(isPublicAddress(address), false, address)
  for (const address of neighbours) assert.equal(isPublicAddress(address), true, address)
})

/** Addresses of this machine and of a cloud's metadata inside IPv6 addresses, and what is no address. */
const others = [
  '::127.0.0.1',
  '::a9fe:a9fe',
  '::ffff:a9fe:a9fe',
  '::ffff:8.8.8.8',
  '0:0:0:0:0:ffff:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '2001:0:a9fe:a9fe::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  '',
  'localhost',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
]

const neighbours = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '203.0.114.0',
  '223.255.255.255',
  '2000::',
  '2001:200::',
  '2001:db7:ffff::',
  '2001:db9::',
  '2003::',
  '2606:4700::1111',
  '3ffe:ffff::',
  '3fff:1000::',
]

test('X06: a name that means this machine in every resolver is known', () => {
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.localhost.'])
    assert.ok(isLocalName(name))
  for (const name of ['notlocalhost', 'localhost.example', 'localhostess']) assert.ok(!isLocalName(name))
})
