import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Answer, aPlan, aRecord, someWorld, type TestVendor } from '../../../testing/test-world.ts'
import { assertProblem } from '../testing/test-answer.ts'

const day = (number: number) => `2026-03-${String(number).padStart(2, '0')}T09:00:00.000Z`
const anAppointment = (patient: string | null, startsAt: string | null, more: object = {}) =>
  aRecord('appointments', { patient_source_id: patient, starts_at: startsAt, treatment_source_ids: [], ...more })

/** Patients one and two; appointments a1…a6 on the days 1–6 of March, the odd ones of patient one, and a7 without either. */
async function someAppointments(t: TestContext) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('patients', { one: aRecord('patients'), two: aRecord('patients') })
  const appointments = Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((n) => [`a${n}`, anAppointment(n % 2 === 1 ? 'one' : 'two', day(n))]),
  )
  const uploaded = await location.upload('appointments', { ...appointments, a7: anAppointment(null, null) })
  assert.equal(uploaded.status, 200, uploaded.text)
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}`
  const patients = new Map(
    (await vendor.get(`${path}/patients`)).body.data.map((each) => [each.attributes.source_id, each.id]),
  )
  const ask = (query: Record<string, string>) => vendor.get(`${path}/appointments?${new URLSearchParams(query)}`)
  return { world, location, vendor, path, ask, one: patients.get('one') ?? '', two: patients.get('two') ?? '' }
}

const sourceIds = (answer: Answer) => {
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.pagy.total, answer.body.data.length)
  return answer.body.data.map(({ attributes }) => attributes.source_id)
}

/** Follows the `Link` header and nothing else, one record at a time. */
async function followLinks(vendor: TestVendor, path: string, query: string): Promise<string[]> {
  const found: string[] = []
  for (let next: string | undefined = `?items=1&${query}`; next !== undefined; ) {
    const answer: Answer = await vendor.get(path + next)
    assert.equal(answer.status, 200, answer.text)
    found.push(...answer.body.data.map((each) => String(each.attributes.source_id)))
    next = /<(.*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  return found
}

test('a list of one patient’s appointments, of those that start in a range, and of both', async (t) => {
  const { ask, one, two } = await someAppointments(t)
  assert.deepEqual(sourceIds(await ask({ 'q[patient_id]': one })), ['a1', 'a3', 'a5'])
  assert.deepEqual(sourceIds(await ask({ 'q[patient_id]': two })), ['a2', 'a4', 'a6'])
  assert.deepEqual(sourceIds(await ask({ 'q[starts_from]': day(5) })), ['a5', 'a6'])
  assert.deepEqual(sourceIds(await ask({ 'q[starts_to]': day(3) })), ['a1', 'a2'])
  const range = { 'q[starts_from]': day(2), 'q[starts_to]': day(5) }
  assert.deepEqual(sourceIds(await ask(range)), ['a2', 'a3', 'a4'])
  assert.deepEqual(sourceIds(await ask({ ...range, 'q[patient_id]': one })), ['a3'])
  assert.deepEqual(sourceIds(await ask({ 'q[patient_id]': '999999999' })), [])
  assert.equal(sourceIds(await ask({})).length, 7)
})

test('every start that an agent may send is found: before 1970, after 2255, and a leap second', async (t) => {
  const { world, location, vendor, path, ask } = await someAppointments(t)
  const starts = {
    b1: '0000-01-01T00:00:00.000Z',
    b2: '1899-12-30T08:00:00.000Z',
    b3: '1969-12-31T23:59:59.999Z',
    b4: '2016-12-31T23:59:60.000Z',
    b5: '2255-06-05T23:47:34.741Z',
    b6: '9999-12-31T23:59:59.999Z',
  }
  const records = Object.entries(starts).map(([key, startsAt]) => [key, anAppointment(null, startsAt)])
  const uploaded = await location.upload('appointments', Object.fromEntries(records))
  assert.equal(uploaded.status, 200, uploaded.text)
  for (const [from, to, expected] of [
    ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00Z', ['b1', 'b2', 'b3']],
    ['1899-12-30T08:00:00Z', '1969-12-31T23:59:59.999Z', ['b2']],
    ['1969-12-31T23:59:59.998001Z', '1969-12-31T23:59:59.999001Z', ['b3']],
    ['2017-01-01T00:00:00Z', '2017-01-01T00:00:01Z', ['b4']],
    ['2255-06-05T23:47:34.740999Z', '2255-06-05T23:47:34.741001Z', ['b5']],
    ['2255-06-05T23:47:34.741001Z', '9999-12-31T23:59:59.999Z', []],
    ['2200-01-01T00:00:00Z', null, ['b5', 'b6']],
    [null, '1900-01-01T00:00:00Z', ['b1', 'b2']],
  ] as const) {
    const query = { ...(from && { 'q[starts_from]': from }), ...(to && { 'q[starts_to]': to }) }
    assert.deepEqual(sourceIds(await ask(query)), expected, `${from} ${to}`)
  }
  const refused = await vendor.get(`${path}/appointments?q[fetch_modified_since]=1969-12-31T23:59:59Z`)
  assertProblem(refused, 'parameter_invalid', /must be an RFC 3339 date-time from 1970 on/)
  await world.disclosures.flush()
  const { rows } = await world.pool.query(`select filters from disclosure where filters ? 'starts_from' order by id`)
  assert.deepEqual(rows[0]?.filters, {
    starts_from: '0000-01-01T00:00:00.000000Z',
    starts_to: '1970-01-01T00:00:00.000000Z',
  })
})

test('every dataset of a patient is filtered by the patient’s id', async (t) => {
  const { location, vendor, path, one, two } = await someAppointments(t)
  for (const name of ['treatments', 'ledger_transactions', 'patient_referrals']) {
    const records = { r1: 'one', r2: 'two', r3: 'one', r4: null }
    const lines = Object.entries(records).map(([id, patient]) => [id, aRecord(name, { patient_source_id: patient })])
    await location.upload(name, Object.fromEntries(lines))
    assert.deepEqual(sourceIds(await vendor.get(`${path}/${name}?q[patient_id]=${one}`)), ['r1', 'r3'], name)
    assert.deepEqual(sourceIds(await vendor.get(`${path}/${name}?q[patient_id]=${two}`)), ['r2'], name)
    assertProblem(
      await vendor.get(`${path}/${name}?q[starts_from]=${day(1)}`),
      'parameter_invalid',
      /Accepted: after, items, q\[fetch_modified_since\], q\[patient_id\], fields\[/,
    )
  }
})

test('a patient’s records are found under the id that arrives after them', async (t) => {
  const { location, vendor, path, ask } = await someAppointments(t)
  await location.upload('appointments', { a8: anAppointment('three', day(8)) })
  await location.upload('patients', { three: aRecord('patients') })
  const three = (await vendor.get(`${path}/patients`)).body.data.at(-1)?.id ?? ''
  assert.deepEqual(sourceIds(await ask({ 'q[patient_id]': three })), ['a8'])
})

test('filters stay in force from page to page, in the links and beside the cursor', async (t) => {
  const { vendor, path, one, ask } = await someAppointments(t)
  const list = `${path}/appointments`
  assert.deepEqual(await followLinks(vendor, list, `q[patient_id]=${one}`), ['a1', 'a3', 'a5'])
  const range = `q[starts_from]=${day(2)}&q[starts_to]=${encodeURIComponent('2026-03-05T10:00:00+01:00')}`
  assert.deepEqual(await followLinks(vendor, list, range), ['a2', 'a3', 'a4'])
  assert.deepEqual(await followLinks(vendor, list, `${range}&q[patient_id]=${one}&fields[appointment]=source_id`), [
    'a3',
  ])
  const first = await ask({ 'q[patient_id]': one, items: '2' })
  assert.deepEqual([first.body.pagy, first.body.meta.has_more], [{ total: 3, items: 2 }, true])
  const rest = await ask({ 'q[patient_id]': one, after: first.body.meta.next_after ?? '' })
  assert.deepEqual([rest.body.pagy.total, rest.body.data.length, rest.body.meta.next_after], [3, 1, null])
  assert.equal(rest.body.meta.next_fetch_modified_since, null)
})

test('a delta under filters returns what changed and matches now: what moved out of the filter is not named', async (t) => {
  const { location, ask, one } = await someAppointments(t)
  const range = { 'q[starts_from]': day(1), 'q[starts_to]': day(4) }
  const { next_fetch_modified_since: watermark } = (await ask(range)).body.meta
  const since = { 'q[fetch_modified_since]': watermark }
  assert.deepEqual(sourceIds(await ask({ ...range, ...since })), [])

  await location.upload('appointments', {
    a1: anAppointment('one', day(1), { status: 'completed' }),
    a2: anAppointment('two', day(9)),
    a6: anAppointment('two', day(2)),
    a3: anAppointment('two', day(3)),
    a5: null,
  })
  assert.deepEqual(sourceIds(await ask(since)), ['a1', 'a2', 'a3', 'a5', 'a6'])
  assert.deepEqual(sourceIds(await ask({ ...range, ...since })), ['a1', 'a3', 'a6'])
  assert.deepEqual(sourceIds(await ask({ ...since, 'q[patient_id]': one })), ['a1', 'a5'])
  assert.deepEqual(sourceIds(await ask({ ...range, ...since, 'q[patient_id]': one })), ['a1'])
  assert.deepEqual(await ask({ ...range, ...since, items: '2' }).then((answer) => answer.body.pagy.total), 3)
})

test('a company granted later gets everything that a filter matches, and the answer says why', async (t) => {
  const { world, location, path, ask, one } = await someAppointments(t)
  const { next_fetch_modified_since: watermark } = (await ask({})).body.meta
  const late = await world.addVendor([location])
  const answer = await late.get(`${path}/appointments?q[patient_id]=${one}&q[fetch_modified_since]=${watermark}`)
  assert.deepEqual(sourceIds(answer), ['a1', 'a3', 'a5'])
  assert.notEqual(answer.body.meta.granted_at, null)
})

test('a filtered read is on record with its filters and with each id, and with no value of a patient’s', async (t) => {
  const { world, ask, one } = await someAppointments(t)
  const before = (await ask({ items: '1' })).body.meta.next_fetch_modified_since
  const all = { 'q[patient_id]': one, 'q[starts_from]': day(2), 'q[starts_to]': day(6) }
  const page = await ask({ ...all, 'fields[appointment]': 'status,starts_at' })
  await ask({ ...all, 'q[fetch_modified_since]': before })
  const { rows } = await world.pool.query(
    'select filters, record_ids, after_id, records, counted from disclosure order by id desc limit 1',
  )
  assert.deepEqual(rows, [
    {
      filters: {
        patient_id: one,
        starts_from: '2026-03-02T09:00:00.000000Z',
        starts_to: '2026-03-06T09:00:00.000000Z',
        fields: ['status', 'starts_at'],
      },
      record_ids: page.body.data.map(({ id }) => id),
      after_id: null,
      records: 2,
      counted: 2,
    },
  ])
})

test('an appointment’s time cannot be found by counting without a disclosure for each count', async (t) => {
  const { world, ask, one } = await someAppointments(t)
  await world.ownerPool.query('truncate disclosure')
  const beyond = '9223372036854775807'
  const atOrAfter = async (moment: number) => {
    const answer = await ask({
      'q[patient_id]': one,
      'q[starts_from]': new Date(moment).toISOString(),
      after: beyond,
    })
    assert.deepEqual(answer.body.data, [])
    return answer.body.pagy.total
  }
  // The last appointment of patient one, to the minute, from totals alone.
  let [low, high] = [Date.parse(day(1)), Date.parse(day(28))]
  let asked = 0
  for (; high - low > 60_000; asked += 1) {
    const middle = (low + high) / 2
    if ((await atOrAfter(middle)) > 0) low = middle
    else high = middle
  }
  assert.ok(Math.abs(low - Date.parse(day(5))) <= 60_000)

  const { rows } = await world.pool.query(
    `select count(*)::integer as entries, count(distinct filters ->> 'starts_from')::integer as moments,
            min(filters ->> 'patient_id') as patient, sum(records)::integer as sent, sum(counted)::integer as counted
       from disclosure`,
  )
  const [{ counted, ...rest }] = rows
  assert.deepEqual(rest, { entries: asked, moments: asked, patient: one, sent: 0 })
  assert.ok(counted > 0)
})

test('fields return the named attributes and no other, of lists and of single records', async (t) => {
  const { location, vendor, path } = await someAppointments(t)
  const shape = (record: object | undefined) => {
    const { attributes, ...rest } = record as { attributes: object; id: string; type: string }
    return [Object.keys(rest), Object.keys(attributes)]
  }
  const list = await vendor.get(`${path}/appointments?fields[appointment]=status,patient_id`)
  for (const record of list.body.data)
    assert.deepEqual(shape(record), [
      ['id', 'type'],
      ['patient_id', 'status'],
    ])
  const id = list.body.data[0]?.id
  const one = await vendor.get(`${path}/appointments/${id}?fields%5Bappointment%5D=updated_at`)
  assert.deepEqual(shape(one.body.data), [['id', 'type'], ['updated_at']])
  await location.upload('fee_schedules', { s: aRecord('fee_schedules') })
  const schedule = (await vendor.get(`${path}/fee_schedules?fields[fee_schedule]=name&items=1&page=1`)).body.data[0]
  assert.deepEqual(shape(schedule), [['id', 'type'], ['name']])
  const detail = await vendor.get(`${path}/fee_schedules/${schedule?.id}?fields[fee_schedule]=fees`)
  assert.deepEqual(shape(detail.body.data), [['id', 'type'], ['fees']])
  await location.upload('insurance_plans', { p: aPlan() })
  const plan = await vendor.get(`${path}/insurance_plans?fields[insurance_plan]=plan_name`)
  assert.deepEqual(shape(plan.body.data[0]), [['id', 'type'], ['plan_name']])
  for (const query of ['fields[appointment]=', 'fields[appointment]=x', 'fields[patient]=status', 'fields=status'])
    assertProblem(await vendor.get(`${path}/appointments/${id}?${query}`), 'parameter_invalid', /Accepted/)
})

test('a patient of another location is unknown here', async (t) => {
  const { world, location, vendor } = await someAppointments(t)
  const other = await world.addLocation({ organizationId: location.organizationId })
  await other.upload('patients', { one: aRecord('patients') })
  await other.upload('appointments', { a1: anAppointment('one', day(1)) })
  await world.grant(vendor.companyId, other)
  const there = (await vendor.get(`/locations/${other.id}/patients`)).body.data[0]?.id
  const here = await vendor.get(`/locations/${location.id}/appointments?q[patient_id]=${there}`)
  assert.deepEqual([here.status, here.body.data], [200, []])
  const found = await vendor.get(`/locations/${other.id}/appointments?q[patient_id]=${there}`)
  assert.equal(found.body.data.length, 1)
})
