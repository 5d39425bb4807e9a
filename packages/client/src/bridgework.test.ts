import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { datasetNames as contractNames } from '@bridgework/contract'
import { generate, typeOf } from '../scripts/generate.ts'
import { ApiError } from './api-error.ts'
import { Bridgework } from './bridgework.ts'
import { datasetNames } from './dataset-resource.ts'
import { all, aRecord, aSchedule, clientOf, someClient, statusesOf } from './testing/test-client.ts'
import { clientVersion } from './version.ts'

test('the types that are published are those of the contract', () => {
  assert.equal(readFileSync(join(import.meta.dirname, 'generated.ts'), 'utf8'), generate(), 'run npm run generate')
  assert.deepEqual(datasetNames, contractNames)
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  assert.equal(clientVersion, version)
  const schema = {
    type: 'object',
    properties: { kind: { type: 'string', description: 'Use visit_type instead', deprecated: true } },
  }
  assert.match(typeOf(schema, ''), /\/\*\* Use visit_type instead @deprecated \*\/\n {2}kind: string/)
})

test('a list gives every record once and in order, however long its pages are, and a page at a time when asked', async (t) => {
  const { client, location } = await someClient(t, { insurancePlans: 23 })
  const list = client.insurancePlans.list({ locationId: location.id, pageSize: 5 })

  const plans = await all(list)
  const pages = await all(list.pages())

  assert.equal(new Set(plans.map(({ attributes }) => attributes.plan_name)).size, 23)
  assert.deepEqual(
    pages.map(({ records }) => records.length),
    [5, 5, 5, 5, 3],
  )
  assert.deepEqual(
    pages.flatMap(({ records }) => records),
    plans,
  )
  assert.equal(pages[0]?.total, 23)
  assert.ok(pages[0]?.watermark)
  assert.equal(pages[1]?.watermark, null)
  const rest = await all(client.insurancePlans.list({ locationId: location.id, after: pages[2]?.next ?? '' }))
  assert.equal(rest.length, 8)
})

test('a list by page number is walked the same way, and a single record has what its list leaves out', async (t) => {
  const { client, location } = await someClient(t)
  await location.upload('fee_schedules', Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`${i}`, aSchedule()])))

  const schedules = await all(client.feeSchedules.list({ locationId: location.id, pageSize: 3 }))
  const first = await client.feeSchedules.first({ locationId: location.id })
  const one = await client.feeSchedules.get({ locationId: location.id, id: schedules[6]?.id ?? '' })

  assert.equal(schedules.length, 7)
  assert.equal(first?.id, schedules[0]?.id)
  assert.equal(one.attributes.fees[0]?.procedure_code, 'D0120')
})

test('filters, fields and deltas say which records come, and what of them', async (t) => {
  const { client, location } = await someClient(t)
  await location.upload('patients', { p1: aRecord('patients'), p2: aRecord('patients') })
  const [one] = await all(client.patients.list({ locationId: location.id }))
  await location.upload('appointments', {
    a1: aRecord('appointments', { patient_source_id: 'p1', starts_at: '2026-05-01T09:00:00.000Z' }),
    a2: aRecord('appointments', { patient_source_id: 'p2', starts_at: '2026-06-01T09:00:00.000Z' }),
  })
  const locationId = location.id

  const ofPatient = await all(client.appointments.list({ locationId, patientId: one?.id ?? '', fields: ['starts_at'] }))
  const ofJune = await all(client.appointments.list({ locationId, startsFrom: new Date('2026-05-02T00:00:00Z') }))
  assert.deepEqual(
    ofPatient.map(({ attributes }) => attributes),
    [{ starts_at: '2026-05-01T09:00:00.000Z' }],
  )
  assert.deepEqual(
    ofJune.map(({ attributes }) => attributes.source_id),
    ['a2'],
  )

  const { value: page } = await client.appointments.list({ locationId }).pages().next()
  await location.upload('appointments', { a2: null })
  const changed = await all(client.appointments.list({ locationId, modifiedSince: page.watermark ?? '' }))
  assert.deepEqual(
    changed.map(({ attributes }) => [attributes.source_id, attributes.is_hidden]),
    [['a2', true]],
  )
  assert.equal(await client.treatments.first({ locationId }), null)
})

test('locations, organizations and how current they are can be read', async (t) => {
  const { client, location, locations } = await someClient(t, { locations: 2 })

  const listed = await all(client.locations.list())
  const own = await all(client.locations.list({ organizationId: location.organizationId }))
  const status = await client.locations.syncStatus({ locationId: location.id })

  assert.deepEqual(listed.map(({ id }) => id).toSorted(), locations.map(({ id }) => id).toSorted())
  assert.deepEqual(
    own.map(({ id }) => id),
    [location.id],
  )
  assert.equal((await client.locations.get({ locationId: location.id })).attributes.is_active, true)
  assert.equal((await all(client.organizations.list())).length, 2)
  assert.equal(
    (await client.organizations.get({ organizationId: location.organizationId })).id,
    location.organizationId,
  )
  assert.deepEqual(status.map(({ id }) => id).toSorted(), datasetNames.toSorted())
})

test('a refusal is an ApiError with the service’s code, text and request id, and is not repeated', async (t) => {
  const { world, vendor, location, events, client } = await someClient(t)
  const foreign = await world.addLocation()

  await assert.rejects(client.patients.first({ locationId: foreign.id }), (error) => {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status, 403)
    assert.equal(error.code, 'location_denied')
    assert.match(error.errors, /may not access/)
    assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/)
    return true
  })
  assert.deepEqual(statusesOf(events), { 200: 1, 403: 1 })
  await assert.rejects(client.patients.get({ locationId: location.id, id: '99' }), { code: 'record_unknown' })
  await assert.rejects(client.patients.get({ locationId: '..', id: '99' }), TypeError)
  await assert.rejects(client.patients.first({ locationId: location.id, modifiedSince: 'soon' }), { status: 422 })
  const wrong = clientOf(world, { ...vendor, clientSecret: 'bws_wrong' })
  await assert.rejects(all(wrong.locations.list()), { status: 401, code: 'credentials_invalid' })
})

test('a base URL is taken with and without its path, and nothing is sent to one that is none', async (t) => {
  const { world, vendor, location } = await someClient(t)

  const withPath = clientOf(world, vendor, { baseUrl: `${world.url}/api/v1/vendors/` })
  assert.equal((await all(withPath.locations.list()))[0]?.id, location.id)

  const elsewhere = clientOf(world, vendor, { baseUrl: `${world.url}/elsewhere` })
  await assert.rejects(all(elsewhere.locations.list()), { status: 404 })
  for (const baseUrl of ['', 'example.com', 'ftp://example.com', 'https://me:secret@example.com']) {
    assert.throws(() => new Bridgework({ baseUrl, clientId: 'a', clientSecret: 'b' }), TypeError)
  }
  assert.throws(() => new Bridgework({ baseUrl: world.url, clientId: 'a', clientSecret: '' }), TypeError)
})

test('fields and filters of another dataset do not compile', async () => {
  const check = (client: Bridgework) => {
    // @ts-expect-error plans have no carrier_phone
    client.insurancePlans.list({ locationId: '1', fields: ['carrier_phone'] })
    // @ts-expect-error plans are not filtered by patient
    client.insurancePlans.list({ locationId: '1', patientId: '2' })
    // @ts-expect-error patients have no start
    client.patients.list({ locationId: '1', startsFrom: new Date() })
    const one = client.treatments.first({ locationId: '1', fields: ['status'] })
    // @ts-expect-error it was not asked for
    return one.then((treatment) => treatment?.attributes.fee)
  }
  assert.equal(typeof check, 'function')
})
