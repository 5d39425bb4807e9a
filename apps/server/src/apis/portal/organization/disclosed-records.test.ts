import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DisclosedRecords, DisclosureEntry, FoundPatients } from '@bridgework/contract/portal'
import { aRecord } from '../../../testing/test-world.ts'
import { somePortal } from '../testing/test-portal.ts'

const aPatient = (first_name: string, last_name: string) =>
  aRecord('patients', { first_name, last_name, middle_name: null, preferred_name: null, date_of_birth: '1990-01-31' })
const anAppointment = (patient_source_id: string) =>
  aRecord('appointments', { patient_source_id, starts_at: '2026-03-01T09:00:00.000Z', treatment_source_ids: [] })

/** A location with the patients Ana Silva and Bo "Bear" Li, who each have an appointment, and a vendor that read them as a list and one by one. */
async function someReads(t: TestContext) {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const { organizationId } = location
  await location.upload('patients', { one: aPatient('Ana', 'Silva'), two: aPatient('Bo "Bear"', 'Li') })
  await location.upload('appointments', { a1: anAppointment('one'), a2: anAppointment('two') })
  await location.upload('fee_schedules', { f1: aRecord('fee_schedules') })
  const vendor = await world.addVendor([location])
  const { body } = await vendor.get(`/locations/${location.id}/patients`)
  const idOf = (number: string) =>
    body.data.find(({ attributes }) => attributes.source_id === number)?.id ?? assert.fail(number)
  await vendor.get(`/locations/${location.id}/patients/${idOf('two')}`)
  await vendor.get(`/locations/${location.id}/appointments`)
  await vendor.get(`/locations/${location.id}/fee_schedules`)
  const owner = await world.signInAs({ organizationId }, 'owner')
  const path = `/organizations/${organizationId}`
  const disclosures = (await owner.get(`${path}/disclosures`)).body.data as unknown as DisclosureEntry[]
  const [fees, appointments, single, list] = disclosures.map(({ id }) => `${path}/disclosures/${id}/records`)
  if (!fees || !appointments || !single || !list) assert.fail('four reads')
  const records = async (of: string, with_patients: boolean, after?: string) => {
    const answer = await owner.post(of, { with_patients, ...(after && { after }) })
    assert.equal(answer.status, 200, answer.text)
    return answer.body as unknown as DisclosedRecords
  }
  const find = async (body: object) => {
    const answer = await owner.post(`${path}/patient_search`, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.body as unknown as FoundPatients
  }
  const acts = async () => {
    const events = (await owner.get(`${path}/events?kind=disclosures`)).body.data as unknown as { what: string }[]
    return events.map(({ what }) => what).toReversed()
  }
  return { ...world, location, vendor, idOf, owner, path, fees, appointments, single, list, records, find, acts }
}

test('F24: a disclosure shows each record that it sent, by its interval or its ids, and whose records they are', async (t) => {
  const world = await someReads(t)
  const { records, idOf } = world
  const [ana, bo] = [
    { number: 'one', name: 'Ana Silva', date_of_birth: '1990-01-31' },
    { number: 'two', name: 'Bo "Bear" Li', date_of_birth: '1990-01-31' },
  ]

  const list = await records(world.list, false)
  assert.deepEqual(
    list.data,
    [
      { id: idOf('one'), patient: null },
      { id: idOf('two'), patient: null },
    ].toSorted(byId),
  )
  assert.ok(list.interval && Number(list.interval.last_id) >= Number(list.data.at(-1)?.id))
  assert.deepEqual(await world.acts(), [], 'ids alone are no look-up of patients')
  assert.deepEqual(await records(world.single, true), {
    interval: null,
    data: [{ id: idOf('two'), patient: bo }],
    next_after: null,
  })
  const names = (await records(world.appointments, true)).data.map(({ patient }) => patient)
  assert.deepEqual(names, [ana, bo])
  assert.deepEqual(
    (await records(world.fees, true)).data.map(({ patient }) => patient),
    [null],
  )
  assert.deepEqual(await world.acts(), [
    'Looked up the patients of a read of Patients by “Vendor” at “Location”: 1 record',
    'Looked up the patients of a read of Appointments by “Vendor” at “Location”: 2 records',
    'Looked up the patients of a read of Fee schedules by “Vendor” at “Location”: 1 record',
  ])
  const csv = (await world.owner.get(`${world.path}/disclosures.csv`)).text.trimEnd().split('\r\n')
  assert.match(csv[3] ?? '', new RegExp(`,${idOf('two')}$`))
  assert.match(csv[4] ?? '', /,"\(0,\d+\]"$/)
})

test('only an owner or an admin of the practice sees whom a disclosure was about, and searches patients', async (t) => {
  const world = await someReads(t)
  const member = await world.signInAs({ organizationId: world.location.organizationId }, 'member')
  const foreign = await world.addLocation()
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  const elsewhere = world.single.replace(world.location.organizationId, foreign.organizationId)

  assert.equal((await member.post(world.single, { with_patients: false })).body.code, 'role_denied')
  assert.equal((await member.post(`${world.single}.csv`)).body.code, 'role_denied')
  assert.equal((await member.post(`${world.path}/patient_search`, { name: 'Ana' })).body.code, 'role_denied')
  assert.equal((await stranger.post(elsewhere, { with_patients: true })).body.code, 'not_found')
  assert.equal((await stranger.post(`${elsewhere}.csv`)).body.code, 'not_found')
  const there = { name: 'Ana', location_id: world.location.id }
  const search = `/organizations/${foreign.organizationId}/patient_search`
  assert.equal((await stranger.post(search, there)).body.code, 'location_unknown')
  assert.deepEqual((await stranger.post(search, { name: 'Ana' })).body.data, [])
  for (const id of ['0', 'x', '999999999999'])
    assert.equal(
      (await world.owner.post(`${world.path}/disclosures/${id}/records`, { with_patients: true })).status,
      404,
    )
  assert.deepEqual(await world.acts(), [])
})

test('a patient is found by parts of the name, in any case, once for all locations, and the act has no name', async (t) => {
  const world = await someReads(t)
  const other = await world.addLocation({ organizationId: world.location.organizationId })
  await other.upload('patients', { one: aPatient('Ana', 'Silva'), x: aPatient('Ann%', 'O_Neil') })
  const names = async (name: string, location_id?: string) =>
    (await world.find({ name, ...(location_id && { location_id }) })).data.map((each) => each.name).toSorted()

  const [ana] = (await world.find({ name: 'silva AN' })).data
  assert.deepEqual(ana, {
    ...{ number: 'one', name: 'Ana Silva', date_of_birth: '1990-01-31' },
    locations: ['Location', 'Location'],
  })
  assert.deepEqual(await names('an'), ['Ana Silva', 'Ann% O_Neil'])
  assert.deepEqual(await names('an', world.location.id), ['Ana Silva'])
  assert.deepEqual(await names('"bear"'), ['Bo "Bear" Li'])
  assert.deepEqual(await names('%'.repeat(2)), [])
  assert.deepEqual(await names('a_a'), [], 'no pattern')
  assert.deepEqual(await names('1990'), [], 'names alone')
  const acts = await world.acts()
  assert.deepEqual([acts[0], acts.length], ['Searched for a patient by name: 1 found', 7])
  const { rows } = await world.pool.query(`select actor || facts::text as text from audit_event`)
  assert.doesNotMatch(JSON.stringify(rows), /silva|bear/i)
})

test('a read of 5,000 records is shown page by page, each in less than a second, and its file is one act', async (t) => {
  const world = await someReads(t)
  await world.ownerPool.query(
    `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash, source, document)
     select $1, 'patients', 1000000000 + n, 'p' || n, 1, false, 1, 1, now(), '', '[]',
            json_build_object('attributes', json_build_object('first_name', 'Pat ' || n))
       from generate_series(1, 5000) n`,
    [world.location.id],
  )
  const { rows } = await world.ownerPool.query<{ id: string }>(
    `insert into disclosure (company_id, key_pair_id, location_id, dataset, filters, records, record_ids, request_id, ip)
     select $1, $1, $2, 'patients', '{}', 5000, array_agg(1000000000 + n order by random()), 'r', '203.0.113.9'
       from generate_series(1, 5000) n
     returning id`,
    [world.vendor.companyId, world.location.id],
  )
  const path = `${world.path}/disclosures/${rows[0]?.id}/records`
  const seen: string[] = []
  let slowest = 0
  for (let after: string | null = '0'; after !== null; ) {
    const beganAt = performance.now()
    const page: DisclosedRecords = await world.records(path, seen.length < 400, after)
    slowest = Math.max(slowest, performance.now() - beganAt)
    seen.push(...page.data.map(({ id }) => id))
    after = page.next_after
  }
  t.diagnostic(`the slowest page: ${Math.round(slowest)} ms`)
  assert.deepEqual([seen.length, new Set(seen).size, slowest < 1_000], [5000, 5000, true])
  const csv = await world.owner.post(`${path}.csv`)
  const lines = csv.text.trimEnd().split('\r\n')
  assert.deepEqual([lines.length, lines[0]], [5001, 'record_id,patient_number,patient_name,date_of_birth'])
  assert.equal(lines[5000], '1000005000,p5000,Pat 5000,')
  assert.equal((await world.acts()).length, 3, 'two pages with patients, and the file')
})

function byId(one: { id: string }, other: { id: string }): number {
  return Number(one.id) - Number(other.id)
}
