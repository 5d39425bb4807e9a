import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { listLocations } from '../../../modules/directory/location.ts'
import { makeMonthsBetween } from '../../../modules/disclosure/testing/test-months.ts'
import { aPlan, aRecord } from '../../../testing/test-world.ts'
import { somePortal } from '../testing/test-portal.ts'
import { disclosureCsv } from './disclosures.ts'

type Entry = { id: string; company_name: string; location_id: string; dataset: string; records: number }
type Page = { data: (Entry & Record<string, unknown>)[]; next_before: string | null }
type Summary = {
  total_reads: number
  total_records: number
  days: { day: string; company_id: string; reads: number; records: number }[]
  vendors: { company_id: string; name: string; reads: number; records: number }[]
}

/** A practice with a location and a vendor, and what it disclosed: as many as asked for, one a minute until `lastAt`. */
async function someHistory(t: TestContext, options: { rows?: number; lastAt?: string } = {}) {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  const path = `/organizations/${location.organizationId}`
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const disclose = async (
    rows: number,
    lastAt: string,
    locationId: string = location.id,
    companyId: string = vendor.companyId,
  ) => {
    await makeMonthsBetween(world.ownerPool, new Date(Date.parse(lastAt) - rows * 60_000), new Date(lastAt))
    await world.ownerPool.query(
      `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, after_id, last_id, request_id, ip)
       select $2::timestamptz - ($1::integer - n) * interval '1 minute', $3, (select id from key_pair where company_id = $3 limit 1), $4,
              ($5::text[])[1 + n % 7], '{"fetch_modified_since": "secret-canary"}', 1 + n % 100, 0, n, 'r' || n, '203.0.113.9'
         from generate_series(1, $1::integer) n`,
      [rows, lastAt, companyId, locationId, datasetNames],
    )
  }
  if (options.rows) await disclose(options.rows, options.lastAt ?? new Date().toISOString())
  const list = async (query = '') => {
    const { status, body } = await owner.get(`${path}/disclosures${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body as unknown as Page
  }
  const summarize = async (query = '') =>
    (await owner.get(`${path}/disclosure_summary${query}`)).body as unknown as Summary
  return { ...world, location, vendor, path, owner, disclose, list, summarize }
}

test('a practice sees each read of its records: by whom, when, of what, how many, and from where', async (t) => {
  const world = await someHistory(t)
  const { vendor, location } = world
  const whole = await vendor.get(`/locations/${location.id}/insurance_plans`)
  await location.upload('insurance_plans', { p9: aPlan({ plan_name: 'Ninth' }) })
  const since = encodeURIComponent(whole.body.meta.next_fetch_modified_since)
  const delta = await vendor.get(`/locations/${location.id}/insurance_plans?q[fetch_modified_since]=${since}`)

  const { data, next_before } = await world.list()
  assert.equal(next_before, null)
  assert.equal(data.length, 2)
  const { id, disclosed_at, request_id, ...entry } = data[0] ?? assert.fail()
  assert.match(String(id), /^\d+$/)
  assert.equal(request_id, delta.body.meta.request_id)
  assert.ok(Math.abs(Date.parse(String(disclosed_at)) - Date.now()) < 60_000)
  assert.deepEqual(entry, {
    company_id: vendor.companyId,
    company_name: 'Vendor',
    location_id: location.id,
    location_name: 'Location',
    dataset: 'insurance_plans',
    records: 1,
    counted: null,
    digested: null,
    filters: ['modified_after'],
    client_id: vendor.clientId,
    ip: '127.0.0.1',
    notes: false,
  })
  const summary = await world.summarize()
  assert.deepEqual([summary.total_reads, summary.total_records], [2, 4])
})

test('a practice also sees what was counted or compared without being sent, and no sum of records has it', async (t) => {
  const world = await someHistory(t)
  const { vendor, location } = world
  await location.upload('patients', { one: aRecord('patients') })
  await location.upload('appointments', {
    a1: aRecord('appointments', { patient_source_id: 'one' }),
    a2: aRecord('appointments', { patient_source_id: 'one' }),
  })
  const path = `/locations/${location.id}/appointments`
  const patient = (await vendor.get(path)).body.data[0]?.attributes.patient_id
  await vendor.get(`${path}?q[patient_id]=${patient}&after=999999999`)
  await vendor.get(`${path}/digest`)

  const shown = (await world.list()).data.map(({ records, counted, digested, filters }) => [
    records,
    counted,
    digested,
    filters,
  ])
  assert.deepEqual(shown, [
    [0, null, 2, []],
    [0, 2, null, ['patient_id']],
    [2, null, null, []],
  ])
  const summary = await world.summarize()
  assert.deepEqual([summary.total_reads, summary.total_records], [3, 2])
  const csv = (await world.owner.get(`${world.path}/disclosures.csv`)).text.split('\r\n')
  assert.match(csv[0] ?? '', /,records,counted,digested,filters,.*,notes,record_ids$/)
  assert.match(csv[1] ?? '', /,appointments,0,,2,,/)
  assert.match(csv[2] ?? '', /,appointments,0,2,,patient_id,/)
})

test('disclosures are turned over page by page, each once, the newest first, also over several locations', async (t) => {
  const world = await someHistory(t)
  const second = await world.addLocation({ organizationId: world.location.organizationId })
  await world.disclose(70, '2026-03-01T12:00:00Z')
  await world.disclose(60, '2026-03-01T12:00:00Z', second.id)
  const seen: Page['data'] = []
  let before: string | null = ''
  let pages = 0
  while (before !== null) {
    const page: Page = await world.list(before === '' ? '' : `?before=${before}`)
    seen.push(...page.data)
    before = page.next_before
    pages += 1
  }
  assert.deepEqual([pages, seen.length, new Set(seen.map(({ id }) => id)).size], [3, 130, 130])
  const times = seen.map((entry) => String(entry.disclosed_at))
  assert.deepEqual(times, times.toSorted().reverse())
})

test('filters: vendor, location, dataset, and days of the practice’s own time zone', async (t) => {
  const world = await someHistory(t)
  const { location, owner, path } = world
  await owner.patch(path, { name: 'Practice', time_zone: 'America/New_York' })
  const other = await world.addVendor()
  const second = await world.addLocation({ organizationId: location.organizationId })
  // New York is four hours behind in July: the first is still of the 3rd there.
  await world.disclose(1, '2026-07-04T03:59:59Z')
  await world.disclose(1, '2026-07-04T04:00:00Z', second.id)
  await world.disclose(1, '2026-07-05T03:59:59Z', location.id, other.companyId)
  const times = async (query: string) => (await world.list(query)).data.map((entry) => entry.disclosed_at)

  const [first, middle, last] = ['2026-07-04T03:59:59.000Z', '2026-07-04T04:00:00.000Z', '2026-07-05T03:59:59.000Z']
  assert.deepEqual(await times('?from=2026-07-04&to=2026-07-04'), [last, middle])
  assert.deepEqual(await times('?to=2026-07-03'), [first])
  assert.deepEqual(await times('?from=2026-07-05'), [])
  assert.deepEqual(await times(`?company_id=${other.companyId}`), [last])
  assert.deepEqual(await times(`?location_id=${second.id}`), [middle])
  assert.deepEqual(await times('?dataset=patients'), [])
  assert.equal((await times(`?dataset=${datasetNames[1]}`)).length, 3)
  const summary = await world.summarize()
  assert.deepEqual(
    summary.days.map(({ day, company_id, reads }) => [day, company_id === other.companyId, reads]).toSorted(),
    [
      ['2026-07-03', false, 1],
      ['2026-07-04', false, 1],
      ['2026-07-04', true, 1],
    ],
  )
  assert.deepEqual(
    summary.vendors.map(({ company_id, reads }) => [company_id, reads]),
    [
      [world.vendor.companyId, 2],
      [other.companyId, 1],
    ],
  )
  assert.equal((await world.summarize('?from=2026-07-05')).total_reads, 0)
})

test('a filter that cannot be understood is refused by name', async (t) => {
  const { owner, path } = await someHistory(t)
  for (const query of [
    'company_id=7',
    'from=2026-02-30',
    'to=yesterday',
    'from=2026-02-02&to=2026-02-01',
    'before=x',
    'page=1',
  ]) {
    const answer = await owner.get(`${path}/disclosures?${query}`)
    assert.deepEqual([answer.status, answer.body.code], [422, 'parameter_invalid'], query)
    assert.ok(answer.body.errors.includes(query.split('=')[0] ?? ''), query)
  }
})

test('W19: a practice sees its own disclosures alone, whatever ids it names, and a member none', async (t) => {
  const world = await someHistory(t, { rows: 3 })
  const foreign = await world.addLocation()
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  const member = await world.signInAs({ organizationId: world.location.organizationId }, 'member')
  const { id = '' } = (await world.list()).data[0] ?? {}
  for (const list of ['disclosures', 'disclosure_summary', 'disclosures.csv']) {
    const at = `/organizations/${foreign.organizationId}/${list}`
    assert.equal((await stranger.get(`${world.path}/${list}`)).body.code, 'organization_unknown')
    assert.equal((await member.get(`${world.path}/${list}`)).body.code, 'role_denied')
    for (const query of [`company_id=${world.vendor.companyId}`, `location_id=${world.location.id}`]) {
      const own = await stranger.get(`${at}?${query}`)
      assert.equal(own.status, 200, query)
      assert.doesNotMatch(own.text, new RegExp(`${world.vendor.companyId}|r1`), query)
    }
  }
  const page = (await stranger.get(`/organizations/${foreign.organizationId}/disclosures?before=${id}`)).body
  assert.deepEqual(page, { data: [], next_before: null })
})

test('R10: the export is CSV with a line for each disclosure, and what others named cannot run in a spreadsheet', async (t) => {
  const world = await someHistory(t, { rows: 4_500, lastAt: '2026-03-01T12:00:00Z' })
  await world.pool.query(`update company set name = '=HYPERLINK("http://evil.example","Vendor, Inc.")' where id = $1`, [
    world.vendor.companyId,
  ])
  const answer = await world.owner.get(`${world.path}/disclosures.csv?to=2026-03-01`)
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/)
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="disclosures-\d+\.csv"$/)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const lines = answer.text.split('\r\n')
  assert.equal(lines.length, 4_500 + 2, 'a heading, the rows, and an end of line')
  assert.equal(new Set(lines.slice(1, -1).map((line) => /,(\d+),(?:yes|no),/.exec(line)?.[1])).size, 4_500, 'each once')
  assert.match(
    lines[1] ?? '',
    /^2026-03-01T12:00:00\.000Z,"'=HYPERLINK\(""http:\/\/evil\.example"",""Vendor, Inc\.""\)",/,
  )
  assert.doesNotMatch(answer.text, /secret-canary/, 'names of filters, never their values')
})

test('an export that would be too long ends with a line that says so', async (t) => {
  const world = await someHistory(t, { rows: 12 })
  const { organizationId, id } = world.location
  const filter = { locationIds: [id], companyId: null, dataset: null, from: new Date(0), until: new Date('2100-01-01') }
  const locations = await listLocations(world.pool, organizationId)
  const read = async (rowsMax: number) =>
    (await Array.fromAsync(disclosureCsv(world.pool, filter, locations, rowsMax))).join('').trim().split('\r\n')

  const cut = await read(5)
  assert.equal(cut.length, 1 + 5 + 1)
  assert.match(cut.at(-1) ?? '', /ends after 5 rows/)
  const whole = await read(12)
  assert.equal(whole.length, 1 + 12)
  assert.doesNotMatch(whole.at(-1) ?? '', /ends after/)
})

test('L14: with 200,000 disclosures every page, summary and filter answers within two seconds', async (t) => {
  const world = await someHistory(t, { rows: 200_000 })
  await world.ownerPool.query('vacuum analyze disclosure')
  const middle = (await world.list()).next_before
  for (const query of [
    '',
    `?before=${middle}`,
    `?company_id=${world.vendor.companyId}`,
    '?dataset=patients',
    '?to=2026-01-02',
  ]) {
    for (const list of query.includes('before') ? ['disclosures'] : ['disclosures', 'disclosure_summary']) {
      const beganAt = performance.now()
      assert.equal((await world.owner.get(`${world.path}/${list}${query}`)).status, 200)
      const ms = performance.now() - beganAt
      assert.ok(ms < 2_000, `${list}${query}: ${Math.round(ms)} ms`)
    }
  }
  assert.equal((await world.summarize()).total_reads, 200_000)
})
