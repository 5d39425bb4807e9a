import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { aPlan, someWorld, type TestLocation, type TestVendor } from '../../testing/test-world.ts'
import { assertProblem } from './testing/test-answer.ts'
import { holdInFlight } from './testing/test-in-flight.ts'

type Range = { attributes: { after_id: string; last_id: string; records: number; sha256: string } }

async function rangesOf(vendor: TestVendor, location: TestLocation, after = '0'): Promise<Range['attributes'][]> {
  const { body, text } = await vendor.get(`/locations/${location.id}/insurance_plans/digest?after=${after}`)
  const ranges = (body.data as unknown as Range[] | undefined)?.map(({ attributes }) => attributes)
  assert.ok(ranges, text)
  return body.meta.next_after === null
    ? ranges
    : [...ranges, ...(await rangesOf(vendor, location, body.meta.next_after))]
}

/** What anyone can work out who has the bytes of a list. */
function digestOf(records: readonly string[]): string {
  const sum = records
    .map((record) => BigInt(`0x${createHash('sha256').update(record).digest('hex')}`))
    .reduce((left, right) => left ^ right, 0n)
  return sum.toString(16).padStart(64, '0')
}

test('a digest is that of the records that the list sends without what is null, range by range, and a changed record changes its range alone', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 2_345 })
  const vendor = await world.addVendor([location])
  const list = async () => {
    const { body } = await vendor.get(`/locations/${location.id}/insurance_plans?items=5000`)
    return body.data.map((record) => ({ id: record.id, text: withoutNulls(record) }))
  }
  const expected = async () => {
    const records = await list()
    return [0, 1000, 2000].map((first) => {
      const range = records.slice(first, first + 1000)
      const after = first === 0 ? '0' : records[first - 1]?.id
      const sha256 = digestOf(range.map(({ text }) => text))
      return { after_id: after, last_id: range.at(-1)?.id, records: range.length, sha256 }
    })
  }
  const before = await rangesOf(vendor, location)
  assert.deepEqual(before, await expected())

  // Nested, removed, and with signs that JSON escapes or that take several bytes.
  await location.upload('fee_schedules', { s1: { name: 'Zoë "\\ \u2028', is_hidden: false, fees: [] } })
  const odd = aPlan({ plan_name: 'Ünï "\\\n\u2028 🦷', fee_schedule_source_id: 's1' })
  const uploaded = await location.upload('insurance_plans', { p1500: odd, p1501: null })
  assert.equal(uploaded.status, 200, uploaded.text)
  const after = await rangesOf(vendor, location)
  assert.deepEqual(after, await expected())
  assert.deepEqual([after[0], after[2]], [before[0], before[2]])
  assert.notEqual(after[1]?.sha256, before[1]?.sha256)
  assert.equal(digestOf((await list()).toReversed().map(({ text }) => text)), xor(after.map(({ sha256 }) => sha256)))
})

/** As the documentation of `sha256` says: members that are null are left out, in nested objects too; items of lists are not. */
function withoutNulls(record: unknown): string {
  return JSON.stringify(record, (_, value: unknown) => value ?? undefined)
}

test('a digest of what holds nothing is empty, also after the last record, and is no disclosure', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  const [range] = await rangesOf(vendor, location)
  await world.ownerPool.query('truncate disclosure')
  assert.deepEqual(await rangesOf(vendor, location, range?.last_id), [])
  assert.equal((await rangesOf(vendor, location, '9223372036854775807')).length, 0)
  for (const query of ['after=x', 'after=-1', 'items=5', 'after=1&after=2']) {
    assertProblem(await vendor.get(`/locations/${location.id}/insurance_plans/digest?${query}`), 'parameter_invalid')
  }
  assert.deepEqual((await world.ownerPool.query('select from disclosure')).rows, [])
})

test('a digest is a disclosure of what it covers: two that overlap give away the digest of one record', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 30 })
  const vendor = await world.addVendor([location])
  const records = (await vendor.get(`/locations/${location.id}/insurance_plans`)).body.data
  await world.ownerPool.query('truncate disclosure')
  const ranges = await Promise.all([4, 5].map((index) => rangesOf(vendor, location, records[index]?.id)))
  const [wide, narrow] = ranges.map(([range]) => range ?? assert.fail())
  assert.ok(wide && narrow)
  assert.equal(xor([wide.sha256, narrow.sha256]), digestOf([withoutNulls(records[5])]))

  const { rows } = await world.pool.query(
    `select company_id, records, digested, after_id, last_id, filters from disclosure order by digested desc`,
  )
  const entry = { company_id: vendor.companyId, records: 0, last_id: records.at(-1)?.id, filters: {} }
  assert.deepEqual(rows, [
    { ...entry, digested: 25, after_id: records[4]?.id },
    { ...entry, digested: 24, after_id: records[5]?.id },
  ])

  await world.ownerPool.query('alter table disclosure rename to disclosure_gone')
  const refused = await vendor.get(`/locations/${location.id}/insurance_plans/digest`)
  assertProblem(refused, 'disclosure_unavailable')
})

test('an answer has so many ranges at most, and the next one begins where it ended', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  // Stored as they are, because 51,000 uploaded ones would say no more.
  await world.ownerPool.query(
    `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash, source, document)
     select location_id, dataset, id + n, 'more' || n, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash, source, document
       from record, generate_series(1, 50999) n`,
  )
  const first = await vendor.get(`/locations/${location.id}/insurance_plans/digest`)
  assert.deepEqual([first.body.data.length, first.body.meta.has_more], [50, true])
  const ranges = await rangesOf(vendor, location)
  assert.equal(ranges.length, 51)
  assert.equal(
    ranges.reduce((sum, { records }) => sum + records, 0),
    51_000,
  )
  assert.ok(ranges.every(({ after_id }, index) => after_id === (ranges[index - 1]?.last_id ?? '0')))
})

test('a digest takes a sync slot of the initial kind, and is refused when there is none', async (t) => {
  const world = await someWorld(t, { limits: { initial: 1, incremental: 1 } })
  const [one, other] = [await world.addLocation({ insurancePlans: 1 }), await world.addLocation({ insurancePlans: 1 })]
  const vendor = await world.addVendor([one, other])
  const digest = (location: TestLocation) => vendor.get(`/locations/${location.id}/insurance_plans/digest`)
  {
    await using inFlight = await holdInFlight(world, [() => digest(one)], 1)
    const refused = await digest(other)
    assert.deepEqual([refused.status, refused.body.sync_type], [429, 'initial'])
    for (const answer of await inFlight.release()) assert.equal(answer.status, 200)
  }
  assert.equal((await digest(other)).status, 200)
})

function xor(hexes: readonly string[]): string {
  return hexes
    .reduce((sum, hex) => sum ^ BigInt(`0x${hex}`), 0n)
    .toString(16)
    .padStart(64, '0')
}
