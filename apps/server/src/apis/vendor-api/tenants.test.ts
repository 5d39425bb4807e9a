import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames, datasets, vendorApiPath } from '@bridgework/contract'
import { grantAccess, revokeAccess } from '../../modules/consent/grant.ts'
import { acceptAgreement, publishAgreement } from '../../modules/credentials/agreement.ts'
import { closeCompany, resumeCompany, suspendCompany } from '../../modules/directory/company.ts'
import { findForeignReferences, type Position } from '../../modules/records/write/foreign-reference.ts'
import {
  aPlan,
  aSchedule,
  someWorld,
  type TestLocation,
  type TestVendor,
  type TestWorld,
} from '../../testing/test-world.ts'
import { assertProblem, eventually } from './testing/test-answer.ts'
import { times } from './testing/test-runs.ts'

/** Companies one and two; practices p1 (granted to one), p2 (two), p3 (both), p4 (nobody), p5 (was one's, revoked). */
async function someTenants(world: TestWorld) {
  const add = async (name: string) => {
    const location = await world.addLocation({ organizationId: await world.addOrganization(`Organization ${name}`) })
    await location.upload('insurance_plans', { p: aPlan({ plan_name: `Plan of ${name}` }) })
    await location.upload('fee_schedules', { s: aSchedule({ name: `Schedule of ${name}` }) })
    return location
  }
  const [p1, p2, p3, p4, p5] = [await add('P1'), await add('P2'), await add('P3'), await add('P4'), await add('P5')]
  const one = await world.addVendor([p1, p3, p5])
  const two = await world.addVendor([p2, p3])
  await world.revoke(one.companyId, p5)
  return { p1, p2, p3, p4, p5, one, two }
}

const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id)

test('A01, A02, A03, A04: what was granted to another, to nobody or no longer is denied; what does not exist is not found', async (t) => {
  const world = await someWorld(t)
  const { p1, p2, p3, p4, p5, one } = await someTenants(world)
  const below = [
    '',
    '/sync_status',
    '/insurance_plans',
    '/fee_schedules',
    '/insurance_plans/1',
    '/fee_schedules/digest',
    '/insurance_plans/export',
  ]
  for (const path of below) {
    for (const { id } of [p2, p4, p5]) {
      const answer = await one.get(`/locations/${id}${path}`)
      assertProblem(answer, 'location_denied', /may not access this location/)
      assert.doesNotMatch(answer.text, /P\d/)
    }
    for (const id of [
      '7',
      '0',
      '-1',
      '01',
      'abc',
      `${p1.id}0`,
      '9007199254740993',
      '9'.repeat(30),
      '%00',
      `%20${p1.id}`,
    ]) {
      assertProblem(await one.get(`/locations/${id}${path}`), 'location_unknown')
    }
  }
  for (const { id } of [p1, p3]) assert.equal((await one.get(`/locations/${id}/insurance_plans`)).body.data.length, 1)
  for (const { organizationId } of [p2, p4, p5]) {
    assertProblem(await one.get(`/organizations/${organizationId}`), 'organization_denied')
  }
  assertProblem(await one.get('/organizations/7'), 'organization_unknown')
})

test('A07: lists show a company its own practices, and count no others', async (t) => {
  const world = await someWorld(t)
  const { p1, p2, p3, p4, p5, one, two } = await someTenants(world)
  const sorted = (locations: TestLocation[], key: 'id' | 'organizationId') =>
    locations.map((location) => location[key]).sort((left, right) => Number(left) - Number(right))
  for (const [vendor, own, foreign] of [
    [one, [p1, p3], [p2, p4, p5]],
    [two, [p2, p3], [p1, p4, p5]],
  ] as const) {
    const locations = await vendor.get('/locations')
    assert.deepEqual(idsOf(locations), sorted([...own], 'id'))
    assert.deepEqual(locations.body.pagy, { total: 2, items: 100, page: 1, pages: 1 })
    const organizations = await vendor.get('/organizations')
    assert.deepEqual(idsOf(organizations), sorted([...own], 'organizationId'))
    assert.equal(organizations.body.pagy.total, 2)
    for (const { id, organizationId } of foreign) {
      assert.equal((locations.text + organizations.text).includes(id), false)
      assert.equal((locations.text + organizations.text).includes(organizationId), false)
    }
  }
})

test('A08, A09: the parameters of /locations restrict the list and never widen it', async (t) => {
  const world = await someWorld(t)
  const { p1, p2, p3, p4, p5, one } = await someTenants(world)
  for (const { id, organizationId } of [p1, p3]) {
    assert.deepEqual(idsOf(await one.get(`/locations?organization_id=${organizationId}`)), [id])
  }
  for (const { organizationId } of [p2, p4, p5]) {
    assertProblem(await one.get(`/locations?organization_id=${organizationId}`), 'organization_denied')
  }
  assertProblem(await one.get('/locations?organization_id=7'), 'organization_unknown')
  const own = p1.organizationId
  for (const query of ['abc', '', `${own}&organization_id=${own}`, '1'.repeat(20), `${own},${p2.organizationId}`]) {
    assertProblem(await one.get(`/locations?organization_id=${query}`), 'parameter_invalid', /organization_id/)
  }
  assertProblem(await one.get(`/locations?organization_id[]=${own}`), 'parameter_invalid', /organization_id/)
  const both = [p1.id, p3.id].sort((left, right) => Number(left) - Number(right))
  for (const flag of ['=false', '=0']) {
    assert.deepEqual(idsOf(await one.get(`/locations?with_attribution_script_install${flag}`)), both)
  }
  for (const flag of ['', '=', '=true', '=1']) {
    assert.deepEqual(idsOf(await one.get(`/locations?with_attribution_script_install${flag}`)), [])
  }
  assertProblem(await one.get('/locations?with_attribution_script_install=yes'), 'parameter_invalid')
})

test('A10: of a granted location only the granted datasets are there', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  await location.upload('fee_schedules', { s: aSchedule() })
  const vendor = await world.addVendor(
    [location],
    datasetNames.filter((name) => name === 'insurance_plans'),
  )
  const path = `/locations/${location.id}`

  assert.equal((await vendor.get(`${path}/insurance_plans`)).status, 200)
  assertProblem(await vendor.get(`${path}/fee_schedules`), 'dataset_denied')
  assertProblem(await vendor.get(`${path}/fee_schedules/1`), 'dataset_denied')
  const { attributes } = (await vendor.get(path)).body.data as unknown as { attributes: Record<string, unknown> }
  assert.deepEqual(attributes.datasets_granted, ['insurance_plans'])
  assert.deepEqual(idsOf(await vendor.get(`${path}/sync_status`)), ['insurance_plans'])
})

test('A12: a plan never shows another practice’s fee schedule, though both have one under the same key', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const [p1, p2] = [await world.addLocation({ organizationId }), await world.addLocation({ organizationId })]
  const vendor = await world.addVendor([p1, p2])
  await p2.upload('fee_schedules', { shared: aSchedule({ name: 'Of the second' }) })
  await p1.upload('insurance_plans', { p: aPlan({ fee_schedule_source_id: 'shared' }) })
  const scheduleOf = async () =>
    (await vendor.get(`/locations/${p1.id}/insurance_plans`)).body.data[0]?.attributes.fee_schedule.data

  assert.equal(await scheduleOf(), null)
  await p2.upload('fee_schedules', { shared: aSchedule({ name: 'Renamed' }) })
  assert.equal(await scheduleOf(), null)
  // By our id of it, too: references are looked up by the practice management system's keys of the plan's own location.
  const [foreign] = (await vendor.get(`/locations/${p2.id}/fee_schedules`)).body.data
  await p1.upload('insurance_plans', { p: aPlan({ fee_schedule_source_id: foreign?.id }) })
  assert.equal(await scheduleOf(), null)
  await p1.upload('fee_schedules', { shared: aSchedule({ name: 'Of the first' }) })
  await p1.upload('insurance_plans', { p: aPlan({ fee_schedule_source_id: 'shared' }) })
  assert.equal((await scheduleOf())?.attributes.name, 'Of the first')
})

test('A12: a foreign reference that was planted in the database raises an alarm, and is shown no longer', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const [p1, p2] = [await world.addLocation({ organizationId }), await world.addLocation({ organizationId })]
  const vendor = await world.addVendor([p1, p2])
  // Every dataset, under the keys by which the others' examples refer to it: references of each kind that are resolved.
  for (const { name, example } of datasets) {
    const keys = datasets.flatMap((other) =>
      other.refersTo.filter((rule) => rule.dataset === name).flatMap((rule) => rule.keysOf(other.example)),
    )
    for (const location of [p1, p2]) {
      await location.upload(name, Object.fromEntries(['1', ...keys].map((key) => [key, example])))
    }
  }
  await p2.upload('fee_schedules', { theirs: aSchedule({ name: 'Of the second' }) })
  await p1.upload('insurance_plans', { p: aPlan({ fee_schedule_source_id: 'theirs' }) })
  const look = async () => {
    let position: Position = { locationId: p1.id, dataset: datasetNames[0] as Position['dataset'], afterId: '0' }
    const begun = new Set<string>()
    while (!begun.has(JSON.stringify(position))) {
      begun.add(JSON.stringify(position))
      position = await findForeignReferences({ pool: world.pool, log: world.log }, position, 1)
    }
    return world.events.filter((event) => event.event === 'record.foreign_reference')
  }
  const planOf = async () =>
    (await vendor.get(`/locations/${p1.id}/insurance_plans`)).body.data.find(
      ({ attributes }) => attributes.source_id === 'p',
    )
  assert.equal((await planOf())?.attributes.fee_schedule.data, null)
  assert.deepEqual(await look(), [], 'no alarm where nothing is wrong')

  const theirs = (await vendor.get(`/locations/${p2.id}/fee_schedules`)).body.data.find(
    ({ attributes }) => attributes.source_id === 'theirs',
  )
  const planted = JSON.stringify({ data: { id: theirs?.id, type: 'fee_schedule', attributes: { name: 'x' } } })
  const { rowCount } = await world.ownerPool.query(
    `update record set document = replace(document, '"fee_schedule":{"data":null}', '"fee_schedule":' || $1)
      where location_id = $2 and dataset = 'insurance_plans' and source_id = 'p'`,
    [planted, p1.id],
  )
  assert.equal(rowCount, 1)

  const recordId = (await planOf())?.id
  assert.deepEqual(await look(), [
    { event: 'record.foreign_reference', locationId: p1.id, dataset: 'insurance_plans', recordId },
  ])
  assert.equal((await planOf())?.attributes.fee_schedule.data, null)
  assert.equal((await look()).length, 1, 'once')
})

test('A15: one URL answers each company on its own, and no answer may be stored', async (t) => {
  const world = await someWorld(t)
  const { p1, p2, p3, one, two } = await someTenants(world)
  const paths = ['/locations', '/organizations', `/locations/${p3.id}`, `/locations/${p3.id}/insurance_plans`]
  for (const path of paths) {
    for (const vendor of [one, two]) {
      const answer = await vendor.get(path, { 'if-none-match': '*', 'if-modified-since': new Date().toUTCString() })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.equal(answer.headers.get('etag'), null)
    }
  }
  assert.equal((await one.get('/locations')).text.includes(p2.id), false)
  assert.equal((await two.get('/locations')).text.includes(p1.id), false)
})

const mixed = { rounds: 3 * times, requests: 60 }

test('A16: many companies asking at once each get their own rows and no other', async (t) => {
  const world = await someWorld(t)
  const other = await world.anotherServer()
  const tenants: { location: TestLocation; vendor: TestVendor; marker: string }[] = []
  for (let number = 0; number < 6; number += 1) {
    const [location, marker] = [await world.addLocation(), `Tenant ${number}.`]
    const plans = Array.from({ length: 30 }, (_, plan) => [`p${plan}`, aPlan({ plan_name: `${marker} Plan ${plan}` })])
    await location.upload('insurance_plans', Object.fromEntries(plans))
    tenants.push({ location, vendor: await world.addVendor([location]), marker })
  }
  for (let round = 0; round < mixed.rounds; round += 1) {
    const asked = Array.from({ length: mixed.requests }, async (_, index) => {
      const caller = tenants[index % tenants.length]
      // A third asks for somebody else's location.
      const target = tenants[(index + (index % 3 === 0 ? 1 : 0)) % tenants.length]
      if (!caller || !target) throw new Error('there are tenants')
      const headers = { authorization: `Bearer ${await caller.vendor.token()}` }
      const on = index % 2 ? world.url : other.url
      const path = `/locations/${target.location.id}/insurance_plans?items=${5 + (index % 20)}`
      const answer = await world.request(vendorApiPath + path, { headers, on })
      if (caller !== target) return assertProblem(answer, 'location_denied')
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.body.data.length, 5 + (index % 20))
      for (const plan of answer.body.data) assert.ok(plan.attributes.plan_name.startsWith(caller.marker))
    })
    await Promise.all(asked)
  }
})

test('A18: no method and no other site’s script gets around the check, and nothing tells the size of foreign data', async (t) => {
  const world = await someWorld(t)
  const { p1, p2, one } = await someTenants(world)
  const authorization = `Bearer ${await one.token()}`
  for (const { id } of [p1, p2]) {
    for (const method of ['OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await world.request(`${vendorApiPath}/locations/${id}/insurance_plans`, {
        method,
        headers: {
          authorization,
          origin: 'https://evil.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'authorization',
        },
      })
      assert.equal(answer.status, 405)
      assert.equal(answer.headers.get('allow'), 'GET, HEAD')
      assert.deepEqual(
        [...answer.headers.keys()].filter((name) => name.startsWith('access-control')),
        [],
      )
      assertProblem(answer, 'method_not_allowed')
    }
  }
  const get = await one.get(`/locations/${p1.id}/insurance_plans`, { origin: 'https://evil.example' })
  assert.deepEqual(
    [...get.headers.keys()].filter((name) => name.startsWith('access-control')),
    [],
  )
})

test('A19, B22: an opt-out in the middle of a walk ends it at the next page, on every process, and leaves other practices open', async (t) => {
  const world = await someWorld(t)
  const other = await world.anotherServer()
  const [closing, open] = [
    await world.addLocation({ insurancePlans: 9 }),
    await world.addLocation({ insurancePlans: 1 }),
  ]
  const vendor = await world.addVendor([closing, open])
  const path = `/locations/${closing.id}/insurance_plans?items=3`
  const first = await vendor.get(path)
  const next = `${path}&after=${first.body.meta.next_after}`
  assert.equal((await vendor.get(next)).body.data.length, 3)

  await world.revoke(vendor.companyId, closing)

  assertProblem(await vendor.get(next), 'location_denied')
  const headers = { authorization: `Bearer ${await vendor.token()}` }
  assertProblem(await world.request(vendorApiPath + next, { on: other.url, headers }), 'location_denied')
  assert.equal((await vendor.get(`/locations/${open.id}/insurance_plans`)).status, 200)
  assert.deepEqual(idsOf(await vendor.get('/locations')), [open.id])
  await world.grant(vendor.companyId, closing)
  assert.equal((await vendor.get(next)).body.data.length, 3)
})

test('A19: while a walk runs, no page is begun after the opt-out was committed', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 20 })
  const vendor = await world.addVendor([location])
  let revokedAt = Number.POSITIVE_INFINITY
  let served = 0
  const walkers = Array.from({ length: 4 }, async () => {
    for (;;) {
      const beganAt = performance.now()
      const answer = await vendor.get(`/locations/${location.id}/insurance_plans?items=2`)
      if (answer.status !== 200) return assertProblem(answer, 'location_denied')
      assert.ok(beganAt <= revokedAt, 'a page was served that was asked for after the opt-out')
      served += 1
    }
  })
  await eventually(async () => served > 20, 10_000, 'pages are served')
  await world.revoke(vendor.companyId, location)
  revokedAt = performance.now()
  await Promise.all(walkers)
})

test('A20: the tokens of a suspended or closed company are refused, and of a resumed one accepted again', async (t) => {
  const world = await someWorld(t)
  const { p1, one } = await someTenants(world)
  const paths = ['/locations', `/locations/${p1.id}`, `/locations/${p1.id}/insurance_plans`, '/nowhere']
  await suspendCompany(world.pool, one.companyId)
  for (const path of paths) assertProblem(await one.get(path), 'token_invalid')
  await resumeCompany(world.pool, one.companyId)
  assert.equal((await one.get('/locations')).status, 200)
  await closeCompany(world.pool, one.companyId)
  for (const path of paths) assertProblem(await one.get(path), 'token_invalid')
})

test('a new agreement binds at the end of its grace period: then reads are refused until the owner accepts it', async (t) => {
  const world = await someWorld(t)
  const { p1, one } = await someTenants(world)
  const paths = [
    '/locations',
    '/organizations',
    `/locations/${p1.id}/sync_status`,
    `/locations/${p1.id}/insurance_plans`,
  ]
  await publishAgreement(world.pool, { version: 2, body: 'Later.', enforcedAt: new Date(Date.now() + 3_600_000) })
  for (const path of paths) assert.equal((await one.get(path)).status, 200)
  await world.ownerPool.query("update agreement set enforced_at = now() - interval '1 second' where version = 2")
  for (const path of paths) assertProblem(await one.get(path), 'agreement_required')
  await acceptAgreement(world.pool, { companyId: one.companyId, memberId: one.ownerId, version: 2 })
  for (const path of paths) assert.equal((await one.get(path)).status, 200)
})

test('a grant of the whole organization opens a location that is added later, and its end closes all', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const first = await world.addLocation({ organizationId, insurancePlans: 1 })
  const vendor = await world.addVendor()
  const whole = {
    companyId: vendor.companyId,
    organizationId,
    locationIds: 'all',
    datasets: 'all',
    by: 'test',
  } as const
  await grantAccess(world.pool, whole)
  const second = await world.addLocation({ organizationId, insurancePlans: 1 })
  for (const { id } of [first, second]) {
    assert.equal((await vendor.get(`/locations/${id}/insurance_plans`)).body.data.length, 1)
  }
  await revokeAccess(world.pool, whole)
  for (const { id } of [first, second]) {
    assertProblem(await vendor.get(`/locations/${id}/insurance_plans`), 'location_denied')
  }
})
