import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { aPlan } from '../../test-world.ts'
import { type SignedIn, somePortal } from './test-portal.ts'

type Vendor = {
  company_id: string
  has_access: boolean
  locations: { id: string; datasets: string[] }[] & number
  datasets: string[]
  all_locations: string[]
  last_read_at: string | null
  history: { dataset: string; granted_by: string; revoked_by: string | null }[]
}

async function somePractice(t: TestContext) {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 30 })
  const second = await world.addLocation({ organizationId: location.organizationId })
  const path = `/organizations/${location.organizationId}`
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const vendor = await world.addVendor()
  const at = (companyId: string) => `${path}/vendors/${companyId}`
  const listed = async (query = '', as: SignedIn = owner) =>
    (await as.get(`${path}/vendors${query}`)).body as unknown as { data: Vendor[]; total: number }
  const seen = async () => (await owner.get(at(vendor.companyId))).body as unknown as Vendor
  return { ...world, location, second, path, owner, vendor, at, listed, seen }
}

test('R07: an owner or admin lets a vendor in and shuts it out again: its next page is refused, on every process', async (t) => {
  const world = await somePractice(t)
  const { location, vendor, owner } = world
  const other = await world.anotherServer()
  const plans = `/locations/${location.id}/insurance_plans`
  const pageOn = async (url: string, query = '') =>
    (
      await world.request(`/api/v1/vendors${plans}${query}`, {
        on: url,
        headers: { authorization: `Bearer ${await vendor.token()}` },
      })
    ).status
  assert.equal(await pageOn(world.url), 403)

  const admin = await world.signInAs({ organizationId: location.organizationId }, 'admin')
  const given = { location_ids: [location.id], datasets: ['insurance_plans', 'fee_schedules'] }
  const opened = await admin.post(`${world.at(vendor.companyId)}/grants`, given)
  assert.deepEqual([opened.status, opened.body], [200, { locations: 1, datasets: 2 }], opened.text)
  assert.deepEqual([await pageOn(world.url, '?items=10'), await pageOn(other.url, '?items=10')], [200, 200])
  const vendorSeen = await world.seen()
  assert.deepEqual(vendorSeen.locations.find(({ id }) => id === location.id)?.datasets, [
    'fee_schedules',
    'insurance_plans',
  ])
  assert.deepEqual([vendorSeen.all_locations, vendorSeen.last_read_at !== null], [[], true])

  await world.letSignInAge(owner.person.userId)
  const closed = await owner.post(`${world.at(vendor.companyId)}/revocations`, { location_ids: 'all', datasets: 'all' })
  assert.deepEqual([closed.status, closed.body], [200, { locations: 1, datasets: 2 }], 'without waiting for a password')
  assert.deepEqual(
    [await pageOn(world.url, '?items=10&after=1'), await pageOn(other.url, '?items=10&after=1')],
    [403, 403],
  )

  const { history } = await world.seen()
  assert.equal(history.length, 2)
  for (const consent of history) {
    assert.equal(consent.granted_by, `Person <${admin.person.email}>`)
    assert.equal(consent.revoked_by, `Person <${owner.person.email}>`)
  }
  const events = (await owner.get(`${world.path}/events`)).body as unknown as {
    data: { action: string; actor: string }[]
  }
  assert.deepEqual(
    events.data.map(({ action, actor }) => [action, actor]),
    [
      ['grant.revoke', `Person <${owner.person.email}>`],
      ['grant.give', `Person <${admin.person.email}>`],
    ],
  )
})

test('W19: a member sees which vendors may read and decides nothing; another practice’s ids open nothing', async (t) => {
  const world = await somePractice(t)
  const { location, vendor } = world
  const member = await world.signInAs({ organizationId: location.organizationId }, 'member')
  const foreign = await world.addLocation()
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  await world.grant(vendor.companyId, location)
  const at = world.at(vendor.companyId)
  const body = { location_ids: [location.id], datasets: ['patients'] }

  assert.equal((await member.get(at)).status, 200)
  for (const act of ['grants', 'revocations']) {
    assert.equal((await member.post(`${at}/${act}`, body)).body.code, 'role_denied')
    assert.equal((await stranger.post(`${at}/${act}`, body)).body.code, 'organization_unknown')
    const own = `/organizations/${foreign.organizationId}/vendors/${vendor.companyId}/${act}`
    assert.equal(
      (await stranger.post(own, body)).body.code,
      'location_unknown',
      'a foreign location in one’s own practice',
    )
    const mixed = { ...body, location_ids: [foreign.id, location.id] }
    assert.equal((await stranger.post(own, mixed)).status, 404)
  }
  for (const page of ['vendors', `vendors/${vendor.companyId}`, 'consents', 'dataset_previews/patients']) {
    assert.equal((await stranger.get(`${world.path}/${page}`)).body.code, 'organization_unknown', page)
  }
  const consents = (await stranger.get(`/organizations/${foreign.organizationId}/consents`)).body
  assert.deepEqual(consents.data, [], 'nothing of what was refused is stored')
  assert.deepEqual((await world.seen()).locations.map(({ datasets }) => datasets.length).toSorted(), [0, 7])
})

test('what cannot be granted is refused by name, and nothing is stored', async (t) => {
  const world = await somePractice(t)
  const { owner, location, vendor } = world
  const grants = `${world.at(vendor.companyId)}/grants`
  for (const body of [
    {},
    { location_ids: [], datasets: ['patients'] },
    { location_ids: 'some', datasets: ['patients'] },
    { location_ids: [location.id], datasets: ['teeth'] },
    { location_ids: [location.id], datasets: 'all' },
    { location_ids: [location.id], datasets: ['patients'], by: 'somebody else' },
  ]) {
    const answer = await owner.post(grants, body)
    assert.deepEqual([answer.status, answer.body.code], [422, 'field_invalid'], answer.text)
  }
  for (const id of ['7', 'x', `${location.id} `]) {
    assert.equal(
      (await owner.post(grants, { location_ids: [id], datasets: ['patients'] })).body.code,
      'location_unknown',
    )
  }
  await world.letSignInAge(owner.person.userId)
  const stale = await owner.post(grants, { location_ids: 'all', datasets: ['patients'] })
  assert.equal(stale.body.code, 'fresh_sign_in_required')
  assert.equal((await world.listed()).total, 0)
})

test('vendors are those that have or had access; a search finds those that could be let in, and no other', async (t) => {
  const world = await somePractice(t)
  const [had, suspended, without] = [
    await world.addVendor(),
    await world.addVendor([world.location]),
    await world.addVendor(),
  ]
  const rename = (companyId: string, name: string) =>
    world.pool.query('update company set name = $2 where id = $1', [companyId, name])
  await rename(world.vendor.companyId, '100% Recall')
  await rename(had.companyId, 'Had Access')
  await rename(suspended.companyId, 'Paused')
  await rename(without.companyId, 'Never Agreed')
  await world.grant(had.companyId, world.location)
  await world.revoke(had.companyId, world.location)
  await world.pool.query(`update company set state = 'suspended' where id = $1`, [suspended.companyId])
  await world.ownerPool.query('delete from agreement_acceptance where company_id = $1', [without.companyId])

  const { data, total } = await world.listed()
  assert.equal(total, 2)
  assert.deepEqual(
    data.map((each) => [each.company_id, each.has_access, each.locations, each.datasets.length]),
    [
      [had.companyId, false, 0, 0],
      // Its consents stand, but while it is suspended it may read nothing.
      [suspended.companyId, false, 1, 7],
    ],
  )
  const found = async (search: string) =>
    (await world.listed(`?search=${encodeURIComponent(search)}`)).data.map(({ company_id }) => company_id)
  assert.deepEqual(await found('100%'), [world.vendor.companyId])
  assert.deepEqual(await found('never agreed'), [])
  assert.deepEqual(await found('a%a'), [])
  assert.equal((await world.owner.get(world.at(without.companyId))).body.code, 'company_unknown')
  assert.equal((await world.owner.get(world.at('7'))).body.code, 'company_unknown')
})

test('a location that is open because all are cannot be taken out alone: the answer says what to do', async (t) => {
  const world = await somePractice(t)
  const { owner, vendor, location } = world
  await owner.post(`${world.at(vendor.companyId)}/grants`, { location_ids: 'all', datasets: ['patients'] })
  assert.deepEqual((await world.seen()).all_locations, ['patients'])

  const revoke = { location_ids: [location.id], datasets: ['patients'] }
  const answer = await owner.post(`${world.at(vendor.companyId)}/revocations`, revoke)
  assert.deepEqual([answer.status, answer.body.code], [409, 'grant_covers_all_locations'])
  assert.match(answer.body.errors, /Revoke it for all locations, then grant it/)
  const late = await world.addLocation({ organizationId: location.organizationId })
  assert.deepEqual((await world.seen()).locations.find(({ id }) => id === late.id)?.datasets, ['patients'])
})

test('every consent stays in the history, and is found by vendor, location, dataset and person', async (t) => {
  const world = await somePractice(t)
  const { owner, vendor, location } = world
  const both = { location_ids: [location.id], datasets: ['patients', 'treatments'] }
  await owner.post(`${world.at(vendor.companyId)}/grants`, both)
  await owner.post(`${world.at(vendor.companyId)}/revocations`, { ...both, datasets: 'all' })
  await owner.post(`${world.at(vendor.companyId)}/grants`, { ...both, datasets: ['patients'] })
  const consents = async (query = '') =>
    (await owner.get(`${world.path}/consents${query}`)).body as unknown as { total: number }

  assert.equal((await consents()).total, 3)
  assert.equal((await consents('?search=treat')).total, 1)
  assert.equal((await consents(`?search=${owner.person.email}&company_id=${vendor.companyId}`)).total, 3)
  assert.equal(
    ((await consents(`?company_id=${location.id}`)) as unknown as { code: string }).code,
    'parameter_invalid',
  )
  assert.equal((await owner.get(`${world.path}/consents?page=0`)).status, 422)
})

test('before it grants a dataset a practice sees what it reveals: every attribute, with an invented example', async (t) => {
  const world = await somePractice(t)
  await world.location.upload('insurance_plans', { p1: null, p99: aPlan({ plan_name: 'Own-Canary' }) })
  for (const name of datasetNames) {
    const { status, body, text } = await world.owner.get(`${world.path}/dataset_previews/${name}`)
    assert.equal(status, 200)
    const preview = body as unknown as {
      records: number
      has_patient_data: boolean
      attributes: { name: string; description: string; example: string }[]
    }
    assert.equal(preview.has_patient_data, !['fee_schedules', 'insurance_plans'].includes(name), name)
    assert.equal(preview.records, name === 'insurance_plans' ? 30 : 0, 'those that the practice still has')
    for (const attribute of preview.attributes) {
      assert.notEqual(attribute.description, '', `${name}.${attribute.name} says what it is`)
      assert.notEqual(attribute.example, '', `${name}.${attribute.name}`)
    }
    assert.doesNotMatch(text, /Canary/)
  }
  assert.equal((await world.owner.get(`${world.path}/dataset_previews/teeth`)).body.code, 'dataset_unknown')
})
