import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import type { LoggedRequest, Usage } from '@bridgework/contract/portal'
import { actionsOf, read, someOwner } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

test('a company sees its name, owner, agreement, live pair and connections, and an admin may rename it', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location, await world.addLocation({ organizationId: location.organizationId })])
  const path = `/companies/${vendor.companyId}`
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  read(await admin.patch(path, { name: '  Better software ' }))

  const company = read<Record<string, unknown>>(await admin.get(path))

  assert.equal(company.name, 'Better software')
  assert.equal((company.owner as { name: string }).name, 'Owner')
  assert.equal((company.key_pair as { client_id: string }).client_id, vendor.clientId)
  assert.deepEqual(company.connections, { organizations: 1, locations: 2 })
  assert.deepEqual(company.agreement, {
    current_version: 1,
    accepted_version: 1,
    is_in_force: true,
    required_at: null,
  })
  const refused = await admin.patch(path, { name: ' \t' })
  assert.deepEqual([refused.status, refused.body.code], [422, 'field_invalid'])
  assert.deepEqual(await actionsOf(admin, path), [['company.update', 'Named the company “Better software”']])
})

test('the history is searched and turned over page by page, and its total is exact beyond its end too', async (t) => {
  const { owner, path } = await someOwner(t)
  for (let round = 1; round <= 27; round += 1) read(await owner.patch(path, { name: `Name_${round}` }))
  const list = async (query: string) => {
    const { data, total } = read<{ data: { what: string }[]; total: number }>(
      await owner.get(`${path}/events?${query}`),
    )
    return [total, data.length, data[0]?.what]
  }
  assert.deepEqual(await list(''), [27, 25, 'Named the company “Name_27”'])
  assert.deepEqual(await list('page=2'), [27, 2, 'Named the company “Name_2”'])
  assert.deepEqual(await list('page=3'), [27, 0, undefined])
  assert.deepEqual(await list('search=_2'), [9, 9, 'Named the company “Name_27”'])
  assert.deepEqual(await list('search=%25'), [0, 0, undefined])
  for (const query of ['page=0', 'page=1.5', 'page=-1', `search=${'x'.repeat(101)}`, 'search=%00', 'pages=1']) {
    const refused = await owner.get(`${path}/events?${query}`)
    assert.deepEqual([refused.status, refused.body.code], [422, 'parameter_invalid'], query)
  }
})

test('connections show what each practice opened and how current it is, to that company alone', async (t) => {
  const world = await somePortal(t)
  const [north, south] = [await world.addOrganization('North Dental'), await world.addOrganization('South Dental')]
  const [a, b, c] = [
    await world.addLocation({ organizationId: north, insurancePlans: 1 }),
    await world.addLocation({ organizationId: north }),
    await world.addLocation({ organizationId: south }),
  ]
  const vendor = await world.addVendor(
    [a, c],
    [...datasetNames].filter((name) => /^(insurance_plans|patients)$/.test(name)),
  )
  const other = await world.addVendor([b])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  type Connections = {
    total: number
    data: {
      organization_name: string
      locations_total: number
      locations: { id: string; datasets: Record<string, unknown>[] }[]
    }[]
  }
  const list = async (query = '') =>
    read<Connections>(await member.get(`/companies/${vendor.companyId}/connections${query}`))

  const { total, data } = await list()
  assert.equal(total, 2)
  assert.deepEqual(
    data.map((each) => [each.organization_name, each.locations.map((location) => location.id)]),
    [
      ['North Dental', [a.id]],
      ['South Dental', [c.id]],
    ],
  )
  assert.deepEqual(
    data[0]?.locations[0]?.datasets.map(({ dataset, state, granted_at }) => [dataset, state, typeof granted_at]),
    [
      ['insurance_plans', 'pending', 'string'],
      ['patients', 'pending', 'string'],
    ],
  )
  assert.deepEqual(
    (await list('?search=south')).data.map((each) => each.organization_name),
    ['South Dental'],
  )
  await world.grant(vendor.companyId, b, ['patients'])
  const [north2] = (await list('?search=north')).data
  assert.deepEqual([north2?.locations_total, north2?.locations.length], [2, 2])
  await world.pool.query(
    `insert into location (id, organization_id, source_id, name) select n, $1, 'l' || n, 'Branch ' || n from generate_series(100001, 100060) n`,
    [north],
  )
  await world.pool.query(
    `insert into dataset_state (location_id, dataset, first_stamp, last_stamp, rendering) select n, 'patients', 1, 1, 1 from generate_series(100001, 100060) n`,
  )
  for (const table of ['access_grant (id, organization_id, granted_by,', 'dataset_grant (']) {
    const own = table.startsWith('access') ? `gen_random_uuid(), ${north}, 'Olga',` : ''
    await world.pool.query(
      `insert into ${table} company_id, location_id, dataset, granted_at) select ${own} $1, n, 'patients', now() from generate_series(100001, 100060) n`,
      [vendor.companyId],
    )
  }
  const pages = await Promise.all([1, 2, 3].map((page) => list(`?page=${page}`)))
  assert.deepEqual(
    pages.map((page) => [page.total, ...page.data.map((each) => [each.locations_total, each.locations.length])]),
    [
      [63, [62, 25]],
      [63, [62, 25]],
      [63, [62, 12], [1, 1]],
    ],
    'the locations of a large practice are turned over like those of many',
  )
  await world.pool.query(`update access_grant set revoked_at = now() where location_id between 100001 and 100060`)
  await world.pool.query(`delete from dataset_grant where location_id between 100001 and 100060`)
  await world.revoke(vendor.companyId, b)
  await world.revoke(vendor.companyId, c)
  assert.equal((await list()).total, 1)
  const denied = await member.get(`/companies/${other.companyId}/connections`)
  assert.equal(denied.status, 404)
})

test('usage has a bucket for each part of the range, and each request is listed with its id and its key', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  const page = await vendor.get(`/locations/${location.id}/insurance_plans`)
  await vendor.get('/locations/1')
  await world.usage.flush()
  const path = `/companies/${vendor.companyId}`

  for (const [range, seconds, count] of [
    ['1h', 300, 12],
    ['24h', 600, 144],
    ['7d', 3_600, 168],
    ['30d', 14_400, 180],
  ] as const) {
    const usage = read<Usage>(await member.get(`${path}/usage?range=${range}`))
    assert.deepEqual([usage.bucket_seconds, usage.buckets.length], [seconds, count])
    const { p50_ms, p95_ms, p99_ms, ...totals } = usage.totals
    assert.deepEqual(totals, { requests: 2, records: 2, throttled: 0, errors: 1 })
    assert.ok(p50_ms && p95_ms && p99_ms && p50_ms <= p95_ms && p95_ms <= p99_ms)
    const quiet = usage.buckets.find(({ requests }) => requests === 0)
    assert.equal(quiet?.p99_ms, null)
    assert.equal(
      usage.buckets.reduce((sum, bucket) => sum + bucket.requests, 0),
      2,
    )
    const steps = usage.buckets
      .slice(1)
      .map(({ at }, index) => Date.parse(at) - Date.parse(usage.buckets[index]?.at ?? ''))
    assert.deepEqual([...new Set(steps)], [seconds * 1000])
  }
  assert.equal((await member.get(`${path}/usage?range=1y`)).status, 422)
  const list = async (query = '') => read<Listed>(await member.get(`${path}/requests${query}`)).data
  const data = await list()
  assert.deepEqual(
    data.map((each) => [
      each.route,
      each.location_id,
      each.client_id,
      each.outcome,
      each.status,
      each.code,
      each.records,
    ]),
    [
      ['/locations/:location_id', null, vendor.clientId, 'error', 404, 'location_unknown', 0],
      ['/locations/:location_id/insurance_plans', location.id, vendor.clientId, 'ok', 200, null, 2],
    ],
  )
  const id = page.body.meta.request_id
  const only = [`?request_id=${id}`, '?outcome=ok', '?status=200', '?status=2xx', `?location_id=${location.id}`]
  for (const query of [...only, '?route=/INSURANCE_', `?client_id=${vendor.clientId}&status=2xx`])
    assert.deepEqual(
      (await list(query)).map((each) => each.request_id),
      [id],
      query,
    )
  for (const query of ['?client_id=bwc_other', '?location_id=Smith', '?until=2020-01-01T00:00:00Z', '?code=overloaded'])
    assert.deepEqual(await list(query), [], query)
  for (const query of [
    '?status=9',
    '?status=6xx',
    '?outcome=no',
    '?since=today',
    '?since=2026-13-01T00:00:00Z',
    `?route=${'x'.repeat(101)}`,
  ])
    assert.equal((await member.get(`${path}/requests${query}`)).status, 422, query)
})

test('a refused key pair is listed with the reason, and a stranger who names it adds nothing to the figures', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  const ask = (clientId: string, clientSecret: string) =>
    world.request('/api/v1/vendors/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: clientId, client_secret: clientSecret }),
    })
  assert.equal((await ask(vendor.clientId, 'guessed')).status, 401)
  assert.equal((await ask('bwc_unknown', vendor.clientSecret)).status, 401)
  await world.usage.flush()
  const path = `/companies/${vendor.companyId}`
  const { data } = read<Listed>(await member.get(`${path}/requests`))
  assert.deepEqual(
    data.map((each) => [each.route, each.client_id, each.outcome, each.status, each.code, each.because]),
    [['/auth/token', vendor.clientId, 'unauthenticated', 401, 'credentials_invalid', 'wrong secret']],
  )
  assert.equal(read<Usage>(await member.get(`${path}/usage`)).totals.requests, 0)
})

test('the first call is a real one: made with the live pair, counted, and only in the sandbox', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor([await world.addLocation()])
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const path = `/companies/${vendor.companyId}`

  const call = read<{ url: string; status: number; body: string }>(
    await admin.post(`${path}/first_call`, { path: '/locations' }),
  )
  assert.deepEqual([call.url, call.status], ['http://localhost/api/v1/vendors/locations', 200])
  assert.equal((JSON.parse(call.body) as { data: unknown[] }).data.length, 1)
  await world.usage.flush()
  const { data } = read<{ data: { route: string }[] }>(await admin.get(`${path}/requests`))
  assert.deepEqual(
    data.map((each) => each.route),
    ['/locations'],
  )
  const elsewhere = await admin.post(`${path}/first_call`, { path: '/locations/1/patients' })
  assert.equal(elsewhere.status, 422)
  read(await admin.post(`${path}/key_pairs/revocation`, { client_id: vendor.clientId }))
  assert.equal((await admin.post(`${path}/first_call`, { path: '/locations' })).status, 409)
})

test('in production there is no first call', async (t) => {
  const world = await somePortal(t, { environment: 'production' })
  const vendor = await world.addVendor()
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const refused = await admin.post(`/companies/${vendor.companyId}/first_call`, { path: '/locations' })
  assert.deepEqual([refused.status, refused.body.code], [404, 'route_unknown'])
})

type Listed = { data: LoggedRequest[]; next_before: string | null }
