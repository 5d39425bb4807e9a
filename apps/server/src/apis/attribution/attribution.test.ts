import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteOldSightings } from '../../modules/attribution/store.ts'
import { someWebsite } from './testing/test-website.ts'

/** Beacons come through a proxy here, so that each may have an address of its own. */
const proxied = { trustedProxies: ['127.0.0.1'] }
const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id)

test('S07: a script that runs on a website of the practice counts as installed there, for the practice and for its vendors', async (t) => {
  const site = await someWebsite(t, proxied)
  const other = await site.addLocation({ organizationId: site.location.organizationId })
  const vendor = await site.addVendor([site.location, other])
  const installOf = async (id: string) => (await vendor.get(`/locations/${id}`)).body.data as unknown as Location
  type Location = { attributes: { attribution_script: Record<string, unknown> } }
  const not = { is_installed: false, installed_at: null, last_seen_at: null }
  assert.deepEqual((await installOf(site.location.id)).attributes.attribution_script, not)
  assert.deepEqual(idsOf(await vendor.get('/locations?with_attribution_script_install')), [])

  assert.equal((await site.load('https://www.smile.example')).status, 204)

  const { attribution_script: seen } = (await installOf(site.location.id)).attributes
  assert.equal(seen.is_installed, true)
  assert.ok(Math.abs(Date.parse(String(seen.installed_at)) - Date.now()) < 60_000)
  assert.equal(seen.last_seen_at, seen.installed_at)
  assert.deepEqual((await installOf(other.id)).attributes.attribution_script, not)
  const listed = await vendor.get('/locations?with_attribution_script_install')
  assert.deepEqual([idsOf(listed), listed.body.pagy.total], [[site.location.id], 1])
  assert.equal((await vendor.get('/locations?with_attribution_script_install=false')).body.pagy.total, 2)
})

test('after 30 days without a sighting the script is not installed any more; what is seen then begins anew', async (t) => {
  const site = await someWebsite(t, proxied)
  const vendor = await site.addVendor([site.location])
  await site.load('https://smile.example')
  const first = await site.state()
  await site.letTimePass('29 days')
  assert.equal((await site.state()).isInstalled, true)
  await site.letTimePass('1 day')

  const gone = await site.state()
  assert.deepEqual([gone.isInstalled, gone.installedAt], [false, null])
  assert.ok(gone.lastSeenAt, 'when it was last seen is still told')
  assert.deepEqual(idsOf(await vendor.get('/locations?with_attribution_script_install')), [])

  // Another name of the same website: the server's memory of five minutes must not hide it.
  await site.load('https://www.smile.example')
  const again = await site.state()
  assert.equal(again.isInstalled, true)
  assert.ok(again.installedAt && first.installedAt && again.installedAt >= first.installedAt)
})

test('while it is seen at least every 30 days, the script counts as installed since the first day', async (t) => {
  const site = await someWebsite(t, proxied)
  await site.load('https://smile.example')
  await site.letTimePass('20 days')
  await site.load('https://www.smile.example')
  await site.letTimePass('20 days')
  await site.load('https://book.smile.example')

  const { installedAt, lastSeenAt } = await site.state()
  const days = (Number(lastSeenAt) - Number(installedAt)) / 86_400_000
  assert.ok(Math.abs(days - 40) < 0.1, `${days} days`)
})

test('only the practice’s own domains and what is below them count; other origins are shown to it and change nothing', async (t) => {
  const site = await someWebsite(t, proxied)
  const foreign = ['https://smile.example.evil.example', 'https://notsmile.example', 'https://translate.example:8443']
  for (const origin of foreign) assert.equal((await site.load(origin)).status, 204)
  assert.equal((await site.state()).isInstalled, false)
  assert.deepEqual(
    (await site.sightings()).map(({ origin, isOwnDomain }) => [origin, isOwnDomain]).toSorted(),
    foreign.map((origin) => [origin, false]).toSorted(),
  )

  await site.set(['Translate.Example'])
  assert.equal((await site.state()).isInstalled, true, 'what was seen is judged by the new domains')
  await site.set([])
  assert.equal((await site.state()).isInstalled, false, 'without domains of its own the website’s counts again')
})

test('V01: a beacon records an origin and the time, and nothing else of a visitor', async (t) => {
  const site = await someWebsite(t, { trustedProxies: [] })
  await site.request(`/attribution/${site.key}?page=/patient-canary`, {
    method: 'POST',
    headers: {
      origin: 'https://smile.example',
      referer: 'https://smile.example/patient-canary',
      'user-agent': 'agent-canary',
      cookie: 'session=cookie-canary',
    },
    body: '{"path":"/patient-canary"}',
  })
  const { rows } = await site.ownerPool.query('select * from attribution_sighting')
  assert.deepEqual(Object.keys(rows[0] ?? {}), [
    'location_id',
    'origin',
    'is_own_domain',
    'first_seen_at',
    'last_seen_at',
  ])
  assert.equal(rows[0].origin, 'https://smile.example')
  assert.doesNotMatch(JSON.stringify([rows, site.events]), /canary/)
})

test('V04: a beacon learns nothing: every one gets 204, and what is not a beacon is not kept', async (t) => {
  const site = await someWebsite(t, proxied)
  const unknown = await site.load('https://smile.example', { key: 'A'.repeat(22) })
  const known = await site.load('https://smile.example')
  const plain = (answer: typeof known) => [...answer.headers].filter(([name]) => !/^(x-request-id|date)$/.test(name))
  assert.deepEqual([known.status, known.text, plain(known)], [204, '', plain(unknown)])
  assert.equal(known.headers.get('set-cookie'), null)
  for (const origin of [
    'null',
    'app://phone',
    'https://smile.example/path',
    'HTTPS://SMILE.EXAMPLE',
    'x'.repeat(400),
  ]) {
    assert.equal((await site.load(origin)).status, 204, origin)
  }
  assert.equal((await site.request(`/attribution/${site.key}`, { method: 'POST' })).status, 204)
  assert.equal((await site.load('https://smile.example', { key: 'short' })).status, 204)
  assert.deepEqual(
    (await site.sightings()).map(({ origin }) => origin),
    ['https://smile.example'],
  )
})

test('V05: strangers who invent origins fill no more than a bounded list, and never push out the practice’s own', async (t) => {
  const site = await someWebsite(t, proxied)
  for (let i = 0; i < 25; i += 1) await site.load(`https://site${i}.evil.example`)
  for (let i = 0; i < 55; i += 1) await site.load(`https://n${i}.smile.example`)
  const own = (await site.sightings()).filter(({ isOwnDomain }) => isOwnDomain)
  assert.deepEqual([(await site.sightings()).length - own.length, own.length], [20, 50])

  await site.letTimePass('31 days')
  await site.load('https://www.smile.example')
  assert.equal((await site.state()).isInstalled, true, 'installed, though the list is full')
  await deleteOldSightings(site.pool, [site.location.id])
  await site.load('https://later.evil.example')
  const foreign = (await site.sightings()).filter(({ isOwnDomain }) => !isOwnDomain).map(({ origin }) => origin)
  assert.deepEqual(foreign, ['https://later.evil.example'], 'what was not seen for 30 days makes room')
})

test('V06: an address is heard 20 times in any minute, and a key and origin are written at most once an hour', async (t) => {
  const clock = { now: Date.now() }
  const site = await someWebsite(t, { ...proxied, now: () => new Date(clock.now) })
  const ip = '198.51.100.7'
  for (let i = 0; i < 30; i += 1) await site.load(`https://n${i}.smile.example`, { ip })
  assert.equal((await site.sightings()).length, 20)
  await site.load('https://other.smile.example')
  assert.equal((await site.sightings()).length, 21, 'others are heard')
  clock.now += 60_001
  await site.load('https://minute-later.smile.example', { ip })
  assert.equal((await site.sightings()).length, 22)

  const lastSeen = async () =>
    Number((await site.sightings()).find(({ origin }) => origin.includes('//n0.'))?.lastSeenAt)
  const before = await lastSeen()
  clock.now += 10 * 60_000
  await site.load('https://n0.smile.example')
  assert.equal(await lastSeen(), before, 'ten minutes later nothing is written')
  await site.letTimePass('61 minutes')
  clock.now += 10 * 60_000
  await site.load('https://n0.smile.example')
  assert.ok((await lastSeen()) > before)
})

test('the script is small, may be loaded by any site, is kept for five minutes and compared after that', async (t) => {
  const site = await someWebsite(t)
  await site.set(
    [],
    Array.from({ length: 20 }, (_, index) => `/patient-portal-${index}/`),
  )
  const answer = await site.request(`/attribution/${site.key}.js`)
  assert.equal(answer.status, 200)
  assert.ok(Buffer.byteLength(answer.text) < 1024, `${Buffer.byteLength(answer.text)} bytes`)
  assert.doesNotMatch(answer.text, /cookie|storage|document|navigator|eval/i)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/javascript/)
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=300')
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  assert.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin')
  assert.equal(answer.headers.get('set-cookie'), null)

  const etag = answer.headers.get('etag') ?? ''
  const same = await site.request(`/attribution/${site.key}.js`, { headers: { 'if-none-match': etag } })
  assert.deepEqual([same.status, same.text], [304, ''])
  await site.set([], ['/portal'])
  const changed = await site.request(`/attribution/${site.key}.js`, { headers: { 'if-none-match': etag } })
  assert.equal(changed.status, 200)
})

test('a script that does not exist is 404 and a comment: it breaks no page', async (t) => {
  const site = await someWebsite(t)
  for (const path of [`${'A'.repeat(22)}.js`, 'x.js', site.key, `${site.key}.mjs`]) {
    const { status, text, headers } = await site.request(`/attribution/${path}`)
    assert.deepEqual([status, /^\/\/ [^\n]*\n$/.test(text)], [404, true], path)
    assert.match(headers.get('content-type') ?? '', /^text\/javascript/)
  }
})

test('domains are host names and excluded paths are paths; what is neither is refused by name', async (t) => {
  const site = await someWebsite(t)
  for (const domain of [
    '',
    'com',
    'https://smile.example',
    'smile.example/path',
    'a b.example',
    '203.0.113.9',
    '*.smile.example',
    '-a.example',
    'user@smile.example',
    'smile.example:80',
    '[::1]',
  ]) {
    await assert.rejects(site.set([domain]), { code: 'field_invalid', message: /domains/ }, domain)
  }
  for (const path of ['', 'portal', '/a?b', '/a#b', '/a b', '/%zz', '/a\u0007']) {
    await assert.rejects(site.set([], [path]), { code: 'field_invalid', message: /excluded_paths/ }, path)
  }
  await assert.rejects(
    site.set(
      [],
      Array.from({ length: 10 }, (_, i) => `/${i}${'x'.repeat(100)}`),
    ),
    /together/,
  )
  await site.set(['Smile.Example', 'smile.example.', 'zähne.example'], ['/Portal', '/m%C3%A4n'])
  const { domains, excludedPaths } = await site.state()
  assert.deepEqual(
    [domains, excludedPaths],
    [
      ['smile.example', 'xn--zhne-loa.example'],
      ['/portal', '/män'],
    ],
  )
})
