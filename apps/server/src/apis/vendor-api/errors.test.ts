import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames, vendorApiPath } from '@bridgework/contract'
import { listDisclosures } from '../../modules/disclosure/store.ts'
import { exchange } from '../../platform/http/testing/test-connection.ts'
import {
  type Answer,
  aRecord,
  aSchedule,
  someWorld,
  type TestLocation,
  type TestWorld,
} from '../../testing/test-world.ts'
import { assertProblem, getWith } from './testing/test-answer.ts'
import { holdInFlight, slotsTaken } from './testing/test-in-flight.ts'

const previewOff = { previewDatasets: new Set<never>() }
const plansOf = (location: { id: string }) => `/locations/${location.id}/insurance_plans`

test('a preview operation that is off is not found, and says why, after token and location and before the grant', async (t) => {
  const world = await someWorld(t, previewOff)
  const [granted, foreign] = [await world.addLocation({ insurancePlans: 1 }), await world.addLocation()]
  const vendor = await world.addVendor([granted])
  for (const path of ['', '/1', '?foo=1', '?items=0']) {
    assertProblem(await getWith(world, plansOf(granted) + path, undefined), 'token_required')
    assertProblem(await getWith(world, plansOf(granted) + path, 'Bearer x'), 'token_invalid')
    assertProblem(await vendor.get(`/locations/7/insurance_plans${path}`), 'location_unknown')
    assertProblem(await vendor.get(`/locations/x/insurance_plans${path}`), 'location_unknown')
    for (const location of [granted, foreign]) {
      assertProblem(await vendor.get(plansOf(location) + path), 'preview_off', /not yet available in production/)
    }
  }
  assert.equal((await vendor.get(`/locations/${granted.id}/fee_schedules`)).status, 200)
})

test('checks answer in one order: token, path, method, location, grant, parameters, slot, disclosure', async (t) => {
  const world = await someWorld(t, { limits: { initial: 1, incremental: 1 } })
  const add = () => world.addLocation({ insurancePlans: 1 })
  const [granted, foreign, partial, busy] = [await add(), await add(), await add(), await add()]
  const vendor = await world.addVendor([granted, busy])
  await world.grant(
    vendor.companyId,
    partial,
    datasetNames.filter((name) => name !== 'insurance_plans'),
  )
  const bad = '?foo=1&items=0&items=0'
  await using inFlight = await holdInFlight(world, [() => vendor.get(plansOf(busy))], 1)
  // Everything is wrong at once: the slot is taken, and nothing can be put on record.
  await world.ownerPool.query('alter table disclosure rename to disclosure_away')
  try {
    assertProblem(await getWith(world, `/nowhere${bad}`, undefined), 'token_required')
    assertProblem(await vendor.get(`/nowhere${bad}`), 'route_unknown')
    assertProblem(await vendor.get(`/locations/7/nowhere${bad}`), 'route_unknown')
    const post = { method: 'POST', headers: { authorization: `Bearer ${await vendor.token()}` } }
    assertProblem(await world.request(`${vendorApiPath}/locations/7/insurance_plans`, post), 'method_not_allowed')
    assertProblem(await vendor.get(`/locations/7/insurance_plans${bad}`), 'location_unknown')
    assertProblem(await vendor.get(plansOf(foreign) + bad), 'location_denied')
    assertProblem(await vendor.get(plansOf(partial) + bad), 'dataset_denied')
    assertProblem(await vendor.get(plansOf(granted) + bad), 'parameter_invalid')
    assertProblem(await vendor.get(plansOf(granted)), 'sync_slots_exceeded')
    const [held] = await inFlight.release()
    assertProblem(held ?? (await vendor.get('/')), 'disclosure_unavailable')
    assertProblem(await vendor.get(plansOf(granted)), 'disclosure_unavailable')
  } finally {
    await world.ownerPool.query('alter table disclosure_away rename to disclosure')
  }
  assert.equal((await vendor.get(plansOf(granted))).status, 200)
})

test('K04: what cannot be put on record is not sent: no byte of it, and the slot is free; empty answers disclose nothing', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  await location.upload('fee_schedules', { s: aSchedule() })
  const vendor = await world.addVendor([location])
  const plans = await vendor.get(plansOf(location))
  const delta = `${plansOf(location)}?q[fetch_modified_since]=${plans.body.meta.next_fetch_modified_since}`
  await world.ownerPool.query('revoke insert on disclosure from bridgework_server')
  const carrying = [
    '/insurance_plans',
    '/fee_schedules',
    '/insurance_plans?items=1',
    `/insurance_plans/${plans.body.data[0]?.id}`,
  ]
  for (const path of carrying) {
    const answer = await vendor.get(`/locations/${location.id}${path}`)
    assertProblem(answer, 'disclosure_unavailable')
    assert.doesNotMatch(answer.text, /Plan 1|Standard/)
    assert.doesNotMatch(answer.headers.get('link') ?? '', /next/)
  }
  assert.equal(await slotsTaken(world), 0)
  assert.equal((await vendor.get(delta)).status, 200)
  assert.equal((await vendor.get('/locations')).status, 200)
  const refused = world.events.flatMap((event) =>
    event.event === 'request.answered' && event.status === 503 ? [event.records] : [],
  )
  assert.deepEqual(
    refused,
    carrying.map(() => undefined),
    'the log counts no record that was not sent',
  )
})

test('K03: every answer that sent, counted or digested records is on record, once, with what it covered, and no other answer is', async (t) => {
  const world = await someWorld(t)
  const other = await world.anotherServer()
  const location = await world.addLocation({ insurancePlans: 25 })
  await location.upload('fee_schedules', { s: aSchedule(), s2: aSchedule({ name: 'Second' }) })
  const vendor = await world.addVendor([location])
  await location.upload('patients', { one: aRecord('patients') })
  const appointment = (starts_at: string) => aRecord('appointments', { patient_source_id: 'one', starts_at })
  await location.upload('appointments', {
    a1: appointment('2026-03-01T09:00:00.000Z'),
    a2: appointment('2026-03-02T09:00:00.000Z'),
  })
  const appointments = (await vendor.get(`/locations/${location.id}/appointments`)).body
  const patient = appointments.data[0]?.attributes.patient_id
  await world.ownerPool.query('truncate disclosure')
  const first = await vendor.get(`${plansOf(location)}?items=10`)
  const watermark = first.body.meta.next_fetch_modified_since
  await location.upload('insurance_plans', { p3: null })
  const asked = [
    ...Array.from({ length: 20 }, () => `/insurance_plans?items=10&after=${first.body.meta.next_after}`),
    '/insurance_plans?after=999999999',
    '/insurance_plans?items=0',
    '/insurance_plans/999999999',
    `/insurance_plans/${first.body.data[4]?.id}`,
    `/insurance_plans?q[fetch_modified_since]=${watermark}`,
    '/fee_schedules?items=1&page=2',
    '/fee_schedules?page=9',
    '/sync_status',
    '',
    `/appointments?q[patient_id]=${patient}&items=1`,
    `/appointments?q[patient_id]=${patient}&after=999999999`,
    '/appointments?q[patient_id]=999999999',
    '/appointments?q[starts_from]=2026-03-02T00:00:00Z&after=999999999',
    '/appointments?q[starts_from]=2027-01-01T00:00:00Z',
    `/appointments?q[patient_id]=${patient}&q[fetch_modified_since]=${appointments.meta.next_fetch_modified_since}`,
    '/appointments?q[patient_id]=x',
    '/insurance_plans/digest',
    `/insurance_plans/digest?after=${first.body.data[3]?.id}`,
    '/insurance_plans/digest?after=999999999',
  ]
  const headers = { authorization: `Bearer ${await vendor.token()}` }
  const answers = await Promise.all(
    asked.map((path, index) =>
      world.request(`${vendorApiPath}/locations/${location.id}${path}`, {
        on: index % 2 ? world.url : other.url,
        headers,
      }),
    ),
  )
  const told = [...answers.map((answer, index) => ({ path: asked[index] ?? '', answer })), { path: '', answer: first }]
    .filter(({ path, answer }) => answer.status === 200 && (answer === first || /plans|fee_|appointments/.test(path)))
    .map(({ path, answer }) => toldBy(path, answer))
    .filter(({ ids, counted, digested }) => ids.length > 0 || counted !== null || digested !== null)

  const onRecord = await listDisclosures(world.pool, { limit: 1000 })
  assert.deepEqual(onRecord.map(({ requestId }) => requestId).sort(), told.map(({ requestId }) => requestId).sort())
  assert.deepEqual(
    told.flatMap(({ counted }) => counted ?? []).toSorted(),
    [0, 0, 1, 2, 2],
    'the empty delta is not among them: nothing was read for it',
  )
  for (const entry of onRecord) {
    const { ids, counted, digested } = told.find(({ requestId }) => requestId === entry.requestId) ?? assert.fail()
    assert.deepEqual([entry.companyId, entry.locationId, entry.records], [vendor.companyId, location.id, ids.length])
    assert.deepEqual([entry.counted, entry.digested], [counted, digested])
    assert.match(entry.ip, /^127\.0\.0\.1$/)
    if ('ids' in entry.coverage) assert.deepEqual([...entry.coverage.ids].sort(), [...ids].sort())
    else assert.ok(ids.every((id) => isBetween(id, entry.coverage as { afterId: string; lastId: string })))
  }
  assert.deepEqual(onRecord.flatMap(({ digested }) => digested ?? []).toSorted(), [21, 25])
})

/** What an answer said of records: which it sent, how many match a filter by patient or start, how many it digested. */
function toldBy(path: string, { body, headers }: Answer) {
  const records = [body.data].flat()
  const isDigest = path.includes('/digest')
  const isCount = /q\[(patient_id|starts_)/.test(path) && !path.includes('fetch_modified_since')
  return {
    requestId: headers.get('x-request-id') ?? '',
    ids: isDigest ? [] : records.map(({ id }) => id),
    counted: isCount ? body.pagy.total : null,
    digested:
      isDigest && records.length > 0
        ? records.reduce((sum, { attributes }) => sum + Number(attributes.records), 0)
        : null,
  }
}

test('an answer is packed for who takes it so, and the same either way', async (t) => {
  const world = await someWorld(t)
  const locations: TestLocation[] = []
  for (let count = 0; count < 3; count += 1) locations.push(await world.addLocation({ insurancePlans: 10 }))
  const vendor = await world.addVendor(locations)
  for (const path of ['/locations', plansOf(locations[0] as TestLocation)]) {
    const [packed, plain] = [
      await vendor.get(path, { 'accept-encoding': 'br, gzip;q=0.5' }),
      await vendor.get(path, { 'accept-encoding': 'gzip;q=0' }),
    ]
    assert.deepEqual(
      [packed, plain].map(({ headers }) => [
        headers.get('content-encoding'),
        headers.get('vary'),
        headers.get('cache-control'),
      ]),
      [
        ['gzip', 'Accept-Encoding', 'no-store'],
        [null, 'Accept-Encoding', 'no-store'],
      ],
      path,
    )
    assert.ok(Number(packed.headers.get('content-length')) < Number(plain.headers.get('content-length')) / 2)
    assert.deepEqual(packed.body.data, plain.body.data)
    assert.match(plain.headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/)
  }
})

test('whatever the request line says, a vendor path answers in the one error shape', async (t) => {
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  const headers = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${await vendor.token()}\r\n\r\n`
  const expected: [target: string, status: number, code: string][] = [
    ['/locations/%zz', 400, 'request_malformed'],
    ['/nowhere/%zz', 400, 'request_malformed'],
    ['/nowhere/%ff', 400, 'request_malformed'],
    ['/locations?items=%zz', 422, 'parameter_invalid'],
    ['/locations/', 404, 'route_unknown'],
    ['//locations', 404, 'route_unknown'],
    ['/locations/../organizations', 404, 'route_unknown'],
    ['/LOCATIONS', 404, 'route_unknown'],
    [`/locations/${'1'.repeat(9_000)}`, 414, 'uri_too_long'],
    [`/locations?${'x'.repeat(9_000)}`, 414, 'uri_too_long'],
    ['/locations/1;x=1/insurance_plans', 404, 'location_unknown'],
    ['/locations/1%2f..%2f2', 404, 'location_unknown'],
  ]
  for (const [target, status, code] of expected) {
    const answer = await exchange(t, world.port, `GET ${vendorApiPath}${target} HTTP/1.1\r\n${headers}`)
    const body = JSON.parse(answer.body.toString())
    assert.deepEqual([answer.status, body.code, typeof body.errors], [status, code, 'string'], target.slice(0, 60))
    assert.equal(body.request_id, answer.headers.get('x-request-id'))
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  }
  await requestsStillWork(world, await vendor.token())
})

async function requestsStillWork(world: TestWorld, token: string): Promise<void> {
  assert.equal((await getWith(world, '/locations', `Bearer ${token}`)).status, 200)
}

function isBetween(id: string, { afterId, lastId }: { afterId: string; lastId: string }): boolean {
  return BigInt(afterId) < BigInt(id) && BigInt(id) <= BigInt(lastId)
}
