import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClientAddress, limitKey } from './client-address.ts'

function addressOf(remoteAddress: string, headers: Record<string, string>, trustedProxies: string[] = []): string {
  // Only these two are read of a request.
  const request = { headers, socket: { remoteAddress } } as unknown as Parameters<
    ReturnType<typeof createClientAddress>
  >[0]
  return createClientAddress(trustedProxies)(request)
}

test('no header moves the address of a direct caller', () => {
  for (const header of [
    'x-forwarded-for',
    'forwarded',
    'x-real-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'x-client-ip',
  ]) {
    assert.equal(addressOf('203.0.113.9', { [header]: '1.2.3.4' }, ['10.0.0.0/8']), '203.0.113.9')
    assert.equal(addressOf('203.0.113.9', { [header]: '1.2.3.4' }), '203.0.113.9')
  }
})

test('a caller keeps its address after its connection has ended', () => {
  const socket: { remoteAddress?: string } = { remoteAddress: '203.0.113.9' }
  const request = { headers: {}, socket } as unknown as Parameters<ReturnType<typeof createClientAddress>>[0]
  const addressOfCaller = createClientAddress([])
  assert.equal(addressOfCaller(request), '203.0.113.9')
  delete socket.remoteAddress
  assert.equal(addressOfCaller(request), '203.0.113.9')
})

test('only X-Forwarded-For counts from a trusted proxy', () => {
  assert.equal(addressOf('10.0.0.1', { forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4' }, ['10.0.0.0/8']), '10.0.0.1')
})

test('T23: behind trusted proxies the right-most address that is none of them counts', () => {
  const cases: [header: string, expected: string][] = [
    ['1.2.3.4', '1.2.3.4'],
    ['6.6.6.6, 1.2.3.4', '1.2.3.4'],
    ['6.6.6.6, 1.2.3.4, 10.2.3.4', '1.2.3.4'],
    ['6.6.6.6,1.2.3.4:5678', '1.2.3.4'],
    ['2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
    ['[2001:db8::1]', '2001:db8:0:0:0:0:0:1'],
    ['[2001:db8::1]:443', '2001:db8:0:0:0:0:0:1'],
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['10.9.9.9', '10.9.9.9'],
  ]
  for (const [header, expected] of cases) {
    assert.equal(addressOf('10.0.0.1', { 'x-forwarded-for': header }, ['10.0.0.0/8']), expected, header)
  }
})

test('a header that is no list of addresses counts as absent', () => {
  for (const header of [
    '',
    'unknown',
    '1.2.3.4, ',
    '_hidden',
    '1.2.3',
    '01.2.3.4',
    '1.2.3.4:',
    '1.2.3.4:99999999',
    '[::1',
    '::1]',
    '::1::2',
    'a'.repeat(9999),
  ]) {
    assert.equal(addressOf('10.0.0.1', { 'x-forwarded-for': header }, ['10.0.0.0/8']), '10.0.0.1', header)
  }
})

test('a proxy may be an address or a range, of either family, however the socket spells it', () => {
  assert.equal(addressOf('::ffff:10.0.0.1', { 'x-forwarded-for': '1.2.3.4' }, ['10.0.0.1']), '1.2.3.4')
  assert.equal(addressOf('10.0.0.1', { 'x-forwarded-for': '1.2.3.4' }, ['::ffff:10.0.0.0/104']), '1.2.3.4')
  assert.equal(addressOf('11.0.0.1', { 'x-forwarded-for': '1.2.3.4' }, ['::ffff:10.0.0.0/104']), '11.0.0.1')
  assert.equal(addressOf('10.255.0.1', { 'x-forwarded-for': '1.2.3.4' }, ['::ffff:10.0.0.0/104']), '1.2.3.4')
  assert.equal(addressOf('fd00::7', { 'x-forwarded-for': '1.2.3.4' }, ['fd00::/8']), '1.2.3.4')
  assert.equal(addressOf('fe00::7', { 'x-forwarded-for': '1.2.3.4' }, ['fd00::/8']), 'fe00:0:0:0:0:0:0:7')
  assert.throws(() => createClientAddress(['proxy.internal']), /proxy\.internal/)
})

test('limits count an IPv4 address, or the /64 of an IPv6 address', () => {
  assert.equal(limitKey('1.2.3.4'), '1.2.3.4')
  assert.equal(limitKey('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(limitKey('2001:db8:1:2::ffff'), limitKey('2001:db8:1:2:aaaa::1'))
  assert.notEqual(limitKey('2001:db8:1:3::1'), limitKey('2001:db8:1:2::1'))
})
