import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PortalAnswers, VendorEntry } from '@bridgework/contract/portal'
import { makeMonthsOf } from '../../../modules/disclosure/months.ts'
import { somePortal } from '../testing/test-portal.ts'

const zone = 'America/New_York'
const [today, offset = ''] = inZone(new Date())
/** When the day began there: what was read since is of today. */
const midnight = Date.parse(`${today}T00:00:00${offset}`)

/** The day there, and how far its clocks are from UTC. */
function inZone(at: Date): string[] {
  const part = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('sv', { timeZone: zone, ...options })
  const { value = '' } = part({ timeZoneName: 'longOffset' }).formatToParts(at).at(-1) ?? {}
  return [part({ dateStyle: 'short' }).format(at), value.replace('GMT', '').replace('\u2212', '-')]
}

/** The day so many days before today. */
const dayAgo = (days: number) => new Date(Date.parse(today ?? '') - days * 24 * 60 * 60_000).toISOString().slice(0, 10)
const noonAgo = (days: number) => `${dayAgo(days)}T17:00:00Z`
const atMidnight = (seconds: number) => new Date(midnight + seconds * 1_000).toISOString()

async function someReaders(t: Parameters<typeof somePortal>[0]) {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const { organizationId } = location
  await world.pool.query(`update organization set time_zone = $2 where id = $1`, [organizationId, zone])
  const second = await world.addLocation({ organizationId })
  await world.pool.query(`update location set name = 'South' where id = $1`, [second.id])
  const [often, once] = [await world.addVendor([location, second]), await world.addVendor([location])]
  await world.pool.query(`update company set name = case id when $1 then 'Often' else 'Once' end`, [often.companyId])
  await makeMonthsOf(world.ownerPool, [...new Set([57, 27, 8, 1, 0].map((days) => `${dayAgo(days).slice(0, 7)}-01`))])
  const disclose = (
    vendor: typeof often,
    at: string,
    more: { locationId?: string; dataset?: string; records?: number } = {},
  ) =>
    world.ownerPool.query(
      `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, counted, after_id, last_id, request_id, ip)
       select $1, $2, id, $3, $4, '{}', $5, case when $5 = 0 then 1 end, 0, 9, 'r', '203.0.113.9' from key_pair where company_id = $2 limit 1`,
      [at, vendor.companyId, more.locationId ?? location.id, more.dataset ?? 'patients', more.records ?? 10],
    )
  const path = `/organizations/${organizationId}`
  return { ...world, location, second, often, once, disclose, path, organizationId }
}

test('a practice sees which vendors read its data, what they may read, and how much they read on each of its days', async (t) => {
  const world = await someReaders(t)
  const { often, once, path, organizationId } = world
  const read = async (role: 'owner' | 'member') =>
    (await (await world.signInAs({ organizationId }, role)).get(`${path}/readers`))
      .body as unknown as PortalAnswers['listReaders']
  await world.disclose(often, atMidnight(-1))
  await world.disclose(often, atMidnight(0), { records: 7 })
  await world.disclose(once, noonAgo(27))
  const { data, days } = await read('owner')
  assert.deepEqual([days.length, days.at(-1)], [14, today])
  assert.deepEqual(
    data.map(({ name, records, locations, has_access }) => [name, records?.slice(-3), locations, has_access]),
    [
      ['Often', [0, 10, 7], 2, true],
      ['Once', [0, 0, 0], 1, true],
    ],
  )
  assert.equal(data[0]?.last_read_at, atMidnight(0))
  assert.deepEqual(
    (await read('member')).data.map(({ records }) => records),
    [null, null],
    'how much was read is for managers',
  )
  const stranger = await world.addLocation()
  const other = await world.signInAs({ organizationId: stranger.organizationId }, 'owner')
  assert.equal((await other.get(`${path}/readers`)).status, 404)
  assert.deepEqual((await other.get(`/organizations/${stranger.organizationId}/readers`)).body.data, [])
})

test('reads are grouped by day and vendor, with what was read where, in pages of a week', async (t) => {
  const world = await someReaders(t)
  const { often, once, path, organizationId, second } = world
  const owner = await world.signInAs({ organizationId }, 'owner')
  const list = async (query = '') => {
    const { status, body } = await owner.get(`${path}/disclosure_days${query}`)
    assert.equal(status, 200)
    return body as unknown as PortalAnswers['listDisclosureDays']
  }
  assert.deepEqual(await list(), { data: [], today, next_to: null })
  for (const at of [0, 0.1, 0.2].map(atMidnight)) {
    await world.disclose(often, at)
    await world.disclose(often, at, { locationId: second.id, dataset: 'treatments', records: 400 })
  }
  await world.disclose(once, atMidnight(0), { records: 0 })
  await world.disclose(once, noonAgo(8))
  await world.disclose(once, noonAgo(57))

  const first = await list()
  assert.deepEqual(
    first.data.map(({ day, company_name, reads, records }) => [day, company_name, reads, records]).toSorted(),
    [
      [today, 'Often', 6, 1230],
      [today, 'Once', 1, 0],
    ],
  )
  const busy = first.data.find(({ reads }) => reads === 6)
  assert.deepEqual(busy?.datasets, [
    { dataset: 'treatments', reads: 3, records: 1200 },
    { dataset: 'patients', reads: 3, records: 30 },
  ])
  assert.deepEqual([busy?.locations.count, busy?.locations.names.toSorted()], [2, ['Location', 'South']])
  assert.equal(first.next_to, dayAgo(8))
  const next = await list(`?to=${first.next_to}`)
  assert.deepEqual(
    [next.data.map(({ day }) => day), next.next_to],
    [[dayAgo(8)], dayAgo(57)],
    'the days between are skipped',
  )
  assert.equal((await list(`?to=${next.next_to}`)).next_to, null)
  const filtered = await list(`?company_id=${once.companyId}&from=${dayAgo(27)}`)
  assert.deepEqual([filtered.data.map(({ day }) => day), filtered.next_to], [[today], dayAgo(8)])
  assert.equal((await list(`?company_id=${once.companyId}&from=${dayAgo(27)}&to=${dayAgo(8)}`)).next_to, null)
})

test('a practice chooses from the verified vendors that have no access yet', async (t) => {
  const world = await someReaders(t)
  const { often, once, path, organizationId } = world
  const chosen = await world.addVendor()
  await world.addVendor()
  await world.pool.query('update company set verified_at = now(), verified_by = $2 where id = any($1)', [
    [often.companyId, chosen.companyId],
    'test',
  ])
  const owner = await world.signInAs({ organizationId }, 'owner')
  const list = async (query: string) => {
    const { data } = (await owner.get(`${path}/vendors${query}`)).body as unknown as { data: VendorEntry[] }
    return data.map(({ company_id }) => company_id)
  }
  assert.deepEqual(await list('?show=verified'), [chosen.companyId])
  assert.deepEqual((await list('')).toSorted(), [often.companyId, once.companyId].toSorted())
  assert.deepEqual(await list('?show=verified&search=no+such+vendor'), [])
  assert.equal((await owner.get(`${path}/vendors?show=all`)).status, 422)
})
