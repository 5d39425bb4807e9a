import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, aSchedule, someWorld, type TestVendor, type VendorRecord } from '../../testing/test-world.ts'

/** Follows the cursor to the end, as the specification tells vendors to (Pagination rules 1). */
async function walk(vendor: TestVendor, path: string, query: Record<string, string> = {}): Promise<VendorRecord[]> {
  const records: VendorRecord[] = []
  for (let after = ''; ; ) {
    const answer = await vendor.get(`${path}?${new URLSearchParams({ ...query, ...(after && { after }) })}`)
    assert.equal(answer.status, 200, answer.text)
    records.push(...answer.body.data)
    if (answer.body.meta.next_after === null) return records
    after = answer.body.meta.next_after
  }
}

test('S02: a plan reaches the vendor with the specification’s members and the fee schedule it pays by', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  await location.upload('fee_schedules', { s1: aSchedule({ name: 'Standard' }) })
  await location.upload('insurance_plans', {
    p1: aPlan({ plan_name: 'Acme', fee_schedule_source_id: 's1' }),
    p2: aPlan({ carrier_name: null, fee_schedule_source_id: null }),
  })

  const answer = await vendor.get(`/locations/${location.id}/insurance_plans`)

  assert.equal(answer.status, 200, answer.text)
  const [acme, bare] = answer.body.data
  assert.match(acme?.id ?? '', /^[1-9]\d*$/)
  assert.equal(acme?.type, 'insurance_plan')
  assert.deepEqual(Object.keys(acme?.attributes ?? {}).slice(0, 5), [
    'plan_name',
    'group_number',
    'carrier_name',
    'is_hidden',
    'fee_schedule',
  ])
  assert.equal(acme?.attributes.plan_name, 'Acme')
  assert.deepEqual(acme?.attributes.fee_schedule.data?.attributes, { name: 'Standard', is_hidden: false })
  assert.equal(bare?.attributes.fee_schedule.data, null)
  assert.equal(bare?.attributes.carrier_name, null)
  assert.deepEqual(answer.body.pagy, { total: 2, items: 100 })
  assert.equal(answer.body.meta.next_after, null)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('x-request-id'), answer.body.meta.request_id)
  const schedules = await vendor.get(`/locations/${location.id}/fee_schedules`)
  assert.equal(schedules.body.data[0]?.id, acme?.attributes.fee_schedule.data?.id)
  assert.deepEqual(schedules.body.pagy, { total: 1, items: 100, page: 1, pages: 1 })
})

test('S04: a walk over the pages returns every record once, in ascending order of id', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 23 })
  const vendor = await world.addVendor([location])

  const records = await walk(vendor, `/locations/${location.id}/insurance_plans`, { items: '5' })

  assert.equal(new Set(records.map((record) => record.id)).size, 23)
  const ids = records.map((record) => Number(record.id))
  assert.deepEqual(
    ids,
    ids.toSorted((one, other) => one - other),
  )
  const first = await vendor.get(`/locations/${location.id}/insurance_plans?items=5`)
  assert.equal(first.headers.get('link'), `<?after=${ids[4]}&items=5>; rel="next"`)
  assert.deepEqual([first.body.pagy.total, first.body.meta.has_more], [23, true])
  const last = await vendor.get(`/locations/${location.id}/insurance_plans?after=${ids[19]}&items=5`)
  assert.deepEqual([last.body.data.length, last.body.meta.has_more, last.headers.get('link')], [3, false, null])
})

test('S06: with the watermark a delta returns what changed since, and nothing else', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const since = async (watermark: string) => vendor.get(`${path}?q[fetch_modified_since]=${watermark}`)
  const { next_fetch_modified_since: watermark } = (await vendor.get(path)).body.meta
  assert.match(watermark, /\.\d{6}Z$/)

  for (let again = 0; again < 3; again += 1) assert.deepEqual((await since(watermark)).body.data, [])
  await location.upload('insurance_plans', { p2: aPlan({ plan_name: 'Plan 2' }) })
  assert.deepEqual((await since(watermark)).body.data, [], 'a row sent again unchanged modifies nothing')
  await location.upload('insurance_plans', { p2: aPlan({ plan_name: 'Renamed' }), p3: null })
  const changed = await since(watermark)
  assert.deepEqual(
    changed.body.data.map(({ attributes }) => [attributes.plan_name, attributes.is_hidden]),
    [
      ['Renamed', false],
      ['Plan 3', true],
    ],
  )
  assert.equal(changed.body.pagy.total, 2)
  assert.deepEqual((await since(changed.body.meta.next_fetch_modified_since)).body.data, [])
  await location.upload('insurance_plans', { p3: aPlan({ plan_name: 'Plan 3' }) })
  const back = await since(changed.body.meta.next_fetch_modified_since)
  assert.deepEqual(
    back.body.data.map(({ attributes }) => [attributes.source_id, attributes.is_hidden]),
    [['p3', false]],
  )
})

test('a renamed fee schedule modifies the plans that carry it, and edited fees do not', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}`
  await location.upload('insurance_plans', {
    p1: aPlan({ fee_schedule_source_id: 's1' }),
    p2: aPlan({ fee_schedule_source_id: null }),
  })
  const before = (await vendor.get(`${path}/insurance_plans`)).body
  assert.equal(before.data[0]?.attributes.fee_schedule.data, null, 'a reference to something not received is null')

  await location.upload('fee_schedules', { s1: aSchedule({ name: 'First' }) })
  const filled = (
    await vendor.get(`${path}/insurance_plans?q[fetch_modified_since]=${before.meta.next_fetch_modified_since}`)
  ).body
  assert.deepEqual(
    filled.data.map((plan) => plan.attributes.fee_schedule.data?.attributes.name),
    ['First'],
  )

  await location.upload('fee_schedules', { s1: aSchedule({ name: 'First', fees: [] }) })
  const edited = (
    await vendor.get(`${path}/insurance_plans?q[fetch_modified_since]=${filled.meta.next_fetch_modified_since}`)
  ).body
  assert.deepEqual(edited.data, [])

  await location.upload('fee_schedules', { s1: null })
  const hidden = (
    await vendor.get(`${path}/insurance_plans?q[fetch_modified_since]=${filled.meta.next_fetch_modified_since}`)
  ).body
  assert.deepEqual(
    hidden.data.map((plan) => plan.attributes.fee_schedule.data?.attributes),
    [{ name: 'First', is_hidden: true }],
  )
})

test('a delta from before the grant returns the whole dataset, once, and says why', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const early = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const { next_fetch_modified_since: watermark } = (await early.get(path)).body.meta

  const late = await world.addVendor([location])
  const whole = await late.get(`${path}?q[fetch_modified_since]=${watermark}`)
  assert.equal(whole.body.data.length, 3)
  assert.notEqual(whole.body.meta.granted_at, null)
  const again = await late.get(`${path}?q[fetch_modified_since]=${whole.body.meta.next_fetch_modified_since}`)
  assert.deepEqual([again.body.data, again.body.meta.granted_at], [[], null])
})

test('P16: a moment that lies ahead is refused with the server’s time, the service’s own watermark never', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans?q[fetch_modified_since]=`

  const ahead = await vendor.get(path + new Date(Date.now() + 6 * 60_000).toISOString())
  assert.equal(ahead.status, 422)
  assert.match(ahead.body.errors, /server's time is \d{4}-/)
  assert.equal((await vendor.get(path + new Date(Date.now() + 4 * 60_000).toISOString())).status, 200)
})

test('S03: one record comes with what its list leaves out, and one of another location does not come', async (t) => {
  const world = await someWorld(t)
  const [one, other] = [await world.addLocation({ insurancePlans: 1 }), await world.addLocation({ insurancePlans: 1 })]
  const vendor = await world.addVendor([one, other])
  await one.upload('fee_schedules', { s1: aSchedule() })
  const [schedule] = (await vendor.get(`/locations/${one.id}/fee_schedules`)).body.data
  const [plan] = (await vendor.get(`/locations/${one.id}/insurance_plans`)).body.data

  const detail = await vendor.get(`/locations/${one.id}/fee_schedules/${schedule?.id}`)
  assert.deepEqual((detail.body.data as unknown as VendorRecord).attributes.fees, aSchedule().fees)
  assert.deepEqual((await vendor.get(`/locations/${one.id}/insurance_plans/${plan?.id}`)).body.data, plan)
  for (const id of [plan?.id, '0', '01', '-1', 'abc', '9223372036854775808', '%00']) {
    const answer = await vendor.get(`/locations/${other.id}/insurance_plans/${id}`)
    assert.deepEqual([answer.status, answer.body.code], [404, 'record_unknown'], id ?? 'none')
  }
})

test('P07: page mode, beyond the last page as well', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  await location.upload(
    'fee_schedules',
    Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`s${index}`, aSchedule({ name: `S${index}` })])),
  )
  const path = `/locations/${location.id}/fee_schedules`

  const second = await vendor.get(`${path}?items=3&page=2`)
  assert.deepEqual(
    second.body.data.map((record) => record.attributes.name),
    ['S3', 'S4', 'S5'],
  )
  assert.deepEqual(second.body.pagy, { total: 7, items: 3, page: 2, pages: 3 })
  assert.equal(second.headers.get('link'), '<?page=3&items=3>; rel="next"')
  assert.deepEqual((await vendor.get(`${path}?items=3&page=9`)).body.data, [])
})
