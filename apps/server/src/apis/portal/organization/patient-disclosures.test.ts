import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { PatientAccounting } from '@bridgework/contract/portal'
import { sealKeyOf } from '../../../modules/chain/seal-key.ts'
import { sealOnce } from '../../../modules/chain/sealer.ts'
import { makeMonthsBetween } from '../../../modules/disclosure/testing/test-months.ts'
import { aRecord } from '../../../testing/test-world.ts'
import { somePortal } from '../testing/test-portal.ts'

const anAppointment = (patient: string) =>
  aRecord('appointments', {
    patient_source_id: patient,
    starts_at: '2026-03-01T09:00:00.000Z',
    treatment_source_ids: [],
  })

/** A location with patients one and two, the appointments a1 of the one and a2 of the other, and a vendor that reads them in every way. */
async function someReads(t: TestContext) {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const named = (first_name: string) => aRecord('patients', { first_name, middle_name: null, last_name: 'Example' })
  await location.upload('patients', { one: named('Ann'), two: named('Bruno') })
  await location.upload('appointments', { a1: anAppointment('one'), a2: anAppointment('two') })
  const uploaded = await location.upload('treatments', { t2: aRecord('treatments', { patient_source_id: 'two' }) })
  assert.equal(uploaded.status, 200, uploaded.text)
  const [vendor, other] = [await world.addVendor([location]), await world.addVendor([location])]
  const path = `/locations/${location.id}`
  const listed = await vendor.get(`${path}/patients`)
  const idOf = (sourceId: string) =>
    listed.body.data.find(({ attributes }) => attributes.source_id === sourceId)?.id ?? assert.fail()
  const [one, two] = [idOf('one'), idOf('two')]
  await vendor.get(`${path}/appointments`)
  await vendor.get(`${path}/patients/${two}`)
  await other.get(`${path}/patients/${one}`)
  await other.get(`${path}/appointments?q[patient_id]=${one}`)
  await other.get(`${path}/treatments?q[patient_id]=${one}`)
  await other.get(`${path}/patients/digest`)
  await other.get(`${path}/appointments?q[starts_from]=2030-01-01T00:00:00Z`)
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const at = `/organizations/${location.organizationId}/patient_disclosures`
  const account = async (patient_number: string) => {
    const { status, body, text } = await owner.post(at, { patient_number })
    assert.equal(status, 200, text)
    return body as unknown as PatientAccounting
  }
  const seal = () => sealOnce({ pool: world.pool, key: async () => sealKeyOf(world.secretKey), now: () => new Date() })
  return { ...world, location, vendor, other, path, one, two, owner, at, account, seal }
}

test('F24: an accounting for a patient has each disclosure of the patient’s records, by its interval, its ids or its filter, and no other', async (t) => {
  const world = await someReads(t)
  const { vendor, other } = world
  const told = async (patient: string) => {
    const { locations, patients, data } = await world.account(patient)
    assert.deepEqual([locations, patients], [1, [patient === 'one' ? 'Ann Example' : 'Bruno Example']])
    for (const { first_at, last_at, count } of data) assert.equal(first_at < last_at, count > 1)
    return data.map((each) => [each.company_id, each.dataset, each.kind, each.count]).toReversed()
  }
  const ofOne = [
    [vendor.companyId, 'patients', 'sent', 1],
    [vendor.companyId, 'appointments', 'sent', 1],
    [other.companyId, 'patients', 'sent', 1],
    [other.companyId, 'appointments', 'sent', 1],
    [other.companyId, 'treatments', 'counted', 1],
    [other.companyId, 'patients', 'compared', 1],
  ]
  const ofTwo = [
    [vendor.companyId, 'appointments', 'sent', 1],
    [vendor.companyId, 'patients', 'sent', 2],
    [other.companyId, 'patients', 'compared', 1],
  ]
  assert.deepEqual(await told('one'), ofOne, 'before the sealer added them to days')
  await world.seal()
  assert.deepEqual(await told('one'), ofOne, 'after it')
  assert.deepEqual(await told('two'), ofTwo)
  await other.get(`${world.path}/patients/${world.two}`)
  const added = [other.companyId, 'patients', 'sent', 1]
  assert.deepEqual(await told('two'), [...ofTwo, added])
  await world.seal()
  assert.deepEqual(await told('two'), [...ofTwo, added])
  const { from, to, ...none } = await world.account('three')
  assert.deepEqual(none, { locations: 0, patients: [], data: [] })
  assert.deepEqual([Number(to.slice(0, 4)) - Number(from.slice(0, 4)), to.slice(4)], [6, from.slice(4)])
})

test('45 CFR 164.528(b)(2): an accounting names the recipient and its address, the purpose, and what was disclosed', async (t) => {
  const world = await someReads(t)
  const recipientOf = async (companyId: string) => {
    const { data } = await world.account('one')
    const { recipient, postal_address, purpose, description } =
      data.find((each) => each.company_id === companyId && each.dataset === 'patients') ?? assert.fail()
    assert.match(description, /^title, first name, .*date of birth/)
    return [recipient, postal_address, purpose]
  }
  const { vendor, other } = world
  const [name] = await recipientOf(other.companyId)
  assert.deepEqual(await recipientOf(other.companyId), [name, null, null])
  await world.pool.query(
    `insert into company_profile (company_id, legal_name, postal_address, purpose) values ($1, 'Acme, Inc.', '1 Main Street', 'Software')`,
    [vendor.companyId],
  )
  assert.deepEqual(await recipientOf(vendor.companyId), ['Acme, Inc.', '1 Main Street', 'Software'])
  // What the practice agreed to goes before what the company says of itself, also after the access ended.
  await world.pool.query(`update access_grant set purpose = 'Recall', revoked_at = now() where company_id = $1`, [
    vendor.companyId,
  ])
  assert.deepEqual(await recipientOf(vendor.companyId), ['Acme, Inc.', '1 Main Street', 'Recall'])
  assert.deepEqual(await recipientOf(other.companyId), [name, null, null])
})

test('F24: an accounting shows a practice its own patients alone', async (t) => {
  const world = await someReads(t)
  const foreign = await world.addLocation()
  await foreign.upload('patients', { one: aRecord('patients') })
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  const own = await stranger.post(`/organizations/${foreign.organizationId}/patient_disclosures`, {
    patient_number: 'one',
  })
  assert.deepEqual([own.status, own.body.data], [200, []])
  assert.equal((await stranger.post(world.at, { patient_number: 'one' })).body.code, 'organization_unknown')
})

/** The bench tries millions: `BRIDGEWORK_TEST_DISCLOSURES=2000000`. */
const rows = Number(process.env.BRIDGEWORK_TEST_DISCLOSURES ?? 20_000)

test('F24: with many disclosures of a location the accounting for a patient takes less than a second', async (t) => {
  const world = await someReads(t)
  const { location, vendor } = world
  // One a minute: in the first week every tenth is a page of all patients, any other is of five other records.
  await makeMonthsBetween(world.ownerPool, new Date(Date.now() - rows * 60_000), new Date())
  for (let before = 0; before < rows; before += 100_000) {
    await world.ownerPool.query(
      `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, after_id, last_id, record_ids, request_id, ip)
       select now() - ($3 + 1 - n) * interval '1 minute', $1, $1, $2, 'patients', '{}', 5,
              case when is_page then 0 end, case when is_page then 1000000000 end,
              case when not is_page then array(select 2000000000 + (n * 7 + i) % 5000 from generate_series(1, 5) i) end, 'r' || n, '203.0.113.9'
         from generate_series($4::integer, least($3::integer, $4::integer + 99999)) n,
              lateral (select n % 10 = 0 and n < 10_000 as is_page) page`,
      [vendor.companyId, location.id, rows, before + 1],
    )
  }
  while ((await world.seal()).isMore);
  await world.ownerPool.query('vacuum analyze disclosure, disclosed_day')
  const beganAt = performance.now()
  const { data } = await world.account('one')
  const ms = performance.now() - beganAt
  t.diagnostic(`${rows} disclosures: ${Math.round(ms)} ms`)
  assert.equal(
    data.reduce((total, { count }) => total + count, 0),
    999 + 6,
  )
  assert.ok(ms < 1_000, `${Math.round(ms)} ms`)
})
