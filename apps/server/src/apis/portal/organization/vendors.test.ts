import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { completeLocations } from '../../../modules/onboarding/complete-locations.ts'
import { aPlan } from '../../../testing/test-world.ts'
import { type SignedIn, somePortal } from '../testing/test-portal.ts'

type Vendor = {
  company_id: string
  has_access: boolean
  locations: { id: string; datasets: string[]; notes: string[] }[] & number
  datasets: string[]
  access_version: string
  all_locations: string[]
  all_locations_notes: string[]
  last_read_at: string | null
  history: {
    dataset: string
    notes: boolean
    location_id: string | null
    granted_by: string
    revoked_by: string | null
  }[]
}

type Wanted = {
  all_locations: string[]
  all_locations_notes: string[]
  locations: { id: string; datasets: string[]; notes?: string[] }[]
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
  const seen = async (companyId: string = vendor.companyId) =>
    (await owner.get(at(companyId))).body as unknown as Vendor
  /** Puts this access in place of the one that the vendor's page shows now, or showed. */
  const change = async (wanted: Partial<Wanted>, { as = owner, shown = undefined as Vendor | undefined } = {}) =>
    as.put(`${at(vendor.companyId)}/access`, {
      access_version: (shown ?? (await seen())).access_version,
      all_locations: [],
      locations: [],
      ...wanted,
    })
  return { ...world, location, second, path, owner, vendor, at, listed, seen, change }
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
  const wanted = { locations: [{ id: location.id, datasets: ['insurance_plans', 'fee_schedules'] }] }
  const opened = await world.change(wanted, { as: admin })
  assert.deepEqual([opened.status, opened.body], [200, { opened: 2, closed: 0 }], opened.text)
  assert.deepEqual([await pageOn(world.url, '?items=10'), await pageOn(other.url, '?items=10')], [200, 200])
  const vendorSeen = await world.seen()
  assert.deepEqual(vendorSeen.locations.find(({ id }) => id === location.id)?.datasets, [
    'fee_schedules',
    'insurance_plans',
  ])
  assert.deepEqual([vendorSeen.all_locations, vendorSeen.last_read_at !== null], [[], true])

  await world.letSignInAge(owner.person.userId)
  const closed = await owner.delete(`${world.at(vendor.companyId)}/access`)
  assert.deepEqual([closed.status, closed.body], [200, { opened: 0, closed: 2 }], 'without waiting for a password')
  assert.deepEqual(
    [await pageOn(world.url, '?items=10&after=1'), await pageOn(other.url, '?items=10&after=1')],
    [403, 403],
  )

  const { history } = await world.seen()
  assert.equal(history.length, 2)
  for (const grant of history) {
    assert.equal(grant.granted_by, `Person <${admin.person.email}>`)
    assert.equal(grant.revoked_by, `Person <${owner.person.email}>`)
  }
  const both = 'Fee schedules and Insurance plans at “Location”'
  const events = (await owner.get(`${world.path}/events`)).body as unknown as {
    data: { what: string; actor: string }[]
  }
  assert.deepEqual(
    events.data.map(({ what, actor }) => [what, actor]),
    [
      [`Removed the access of “Vendor” to ${both}`, `Person <${owner.person.email}>`],
      [`Granted “Vendor” access to ${both}`, `Person <${admin.person.email}>`],
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
  const wanted = { locations: [{ id: location.id, datasets: ['patients'] }] }

  assert.equal((await member.get(at)).status, 200)
  assert.equal((await world.change(wanted, { as: member })).body.code, 'role_denied')
  assert.equal((await world.change(wanted, { as: stranger })).body.code, 'organization_unknown')
  assert.equal((await member.delete(`${at}/access`)).body.code, 'role_denied')
  assert.equal((await stranger.delete(`${at}/access`)).body.code, 'organization_unknown')
  const own = `/organizations/${foreign.organizationId}/vendors/${vendor.companyId}`
  const { access_version } = (await stranger.get(own)).body as unknown as Vendor
  for (const ids of [[location.id], [foreign.id, location.id]]) {
    const locations = ids.map((id) => ({ id, datasets: ['patients'] }))
    const answer = await stranger.put(`${own}/access`, { access_version, all_locations: [], locations })
    assert.deepEqual([answer.status, answer.body.code], [404, 'location_unknown'], 'a foreign location')
  }
  for (const page of ['vendors', `vendors/${vendor.companyId}`, 'grants', 'dataset_previews/patients']) {
    assert.equal((await stranger.get(`${world.path}/${page}`)).body.code, 'organization_unknown', page)
  }
  const grants = (await stranger.get(`/organizations/${foreign.organizationId}/grants`)).body
  assert.deepEqual(grants.data, [], 'nothing of what was refused is stored')
  assert.deepEqual((await world.seen()).locations.map(({ datasets }) => datasets.length).toSorted(), [0, 7])
})

test('what cannot be granted is refused by name, and nothing is stored', async (t) => {
  const world = await somePractice(t)
  const { owner, location, vendor } = world
  const { access_version } = await world.seen()
  const valid = {
    access_version,
    all_locations: ['patients'],
    locations: [{ id: location.id, datasets: ['patients'] }],
  }
  for (const body of [
    {},
    { ...valid, access_version: undefined },
    { ...valid, all_locations: 'all' },
    { ...valid, all_locations: ['teeth'] },
    { ...valid, all_locations: ['patients', 'patients'] },
    { ...valid, locations: [{ id: location.id, datasets: 'all' }] },
    { ...valid, locations: [{ id: location.id }] },
    { ...valid, by: 'somebody else' },
  ]) {
    const answer = await owner.put(`${world.at(vendor.companyId)}/access`, body)
    assert.deepEqual([answer.status, answer.body.code], [422, 'field_invalid'], answer.text)
  }
  for (const id of ['7', 'x', 'all', '', `${location.id} `]) {
    const answer = await world.change({ locations: [{ id, datasets: ['patients'] }] })
    assert.equal(answer.body.code, 'location_unknown')
  }
  assert.equal((await world.listed()).total, 0)
})

test('to grant more asks for a fresh sign-in before anything happens; to take away never does', async (t) => {
  const world = await somePractice(t)
  const { owner, location, second } = world
  await world.change({ all_locations: ['patients'] })
  await world.letSignInAge(owner.person.userId)
  const before = await world.seen()
  const both = [location, second].map(({ id }) => ({ id, datasets: ['patients'] }))

  const mixed = await world.change({ locations: [{ id: location.id, datasets: ['treatments'] }] })
  assert.deepEqual([mixed.status, mixed.body.code], [403, 'fresh_sign_in_required'])
  assert.deepEqual(await world.seen(), before, 'nothing was taken away either')

  assert.equal((await world.change({ locations: both })).status, 200, 'future locations are no longer included')
  assert.equal((await world.change({ locations: both.slice(0, 1) })).status, 200)
  assert.equal((await world.change({ locations: both })).body.code, 'fresh_sign_in_required')
  const future = await world.change({ all_locations: ['patients'] })
  assert.equal(future.body.code, 'fresh_sign_in_required')
})

test('notes are granted beside their dataset, ask for a fresh sign-in, and stand in the page, its version and both histories', async (t) => {
  const world = await somePractice(t)
  const { owner, location, second } = world
  const at = (notes: string[], datasets = ['treatments', 'patients']) => ({
    locations: [{ id: location.id, datasets, notes }],
  })
  await world.change(at([]))
  const { access_version: version } = await world.seen()
  await world.letSignInAge(owner.person.userId)
  assert.equal((await world.change(at(['treatments']))).body.code, 'fresh_sign_in_required')
  const admin = await world.signInAs({ organizationId: location.organizationId }, 'admin')
  for (const notes of [['patients'], ['appointments']]) {
    assert.equal((await world.change(at(notes), { as: admin })).body.code, 'field_invalid')
  }

  const opened = await world.change(at(['treatments']), { as: admin })
  assert.deepEqual([opened.status, opened.body], [200, { opened: 1, closed: 0 }], opened.text)
  const seen = await world.seen()
  assert.notEqual(seen.access_version, version)
  const notesAt = (id: string) => seen.locations.find((each) => each.id === id)?.notes
  assert.deepEqual([notesAt(location.id), notesAt(second.id), seen.all_locations_notes], [['treatments'], [], []])
  const live = seen.history.filter(({ revoked_by }) => revoked_by === null)
  assert.deepEqual(live.map(({ dataset, notes }) => [dataset, notes]).toSorted(), [
    ['patients', false],
    ['treatments', true],
  ])
  const closed = await world.change(at([]))
  assert.deepEqual(closed.body, { opened: 0, closed: 1 } as object, 'to take away never waits')
  const events = (await owner.get(`${world.path}/events`)).body as unknown as { data: { details: string }[] }
  assert.equal(
    events.data[1]?.details,
    'Before: Patients and Treatments at “Location”. After: Patients and Treatments with notes at “Location”.',
  )

  await world.change({ all_locations: ['treatments'], all_locations_notes: ['treatments'] }, { as: admin })
  const late = await world.addLocation({ organizationId: location.organizationId })
  const { locations } = await world.seen()
  assert.deepEqual(locations.find(({ id }) => id === late.id)?.notes, ['treatments'], 'a future location too')
})

test('of two people who change the same access at once the second gets 409, reviews again, and has changed nothing', async (t) => {
  const world = await somePractice(t)
  const { location, second, vendor } = world
  const shown = await world.seen()
  const admin = await world.signInAs({ organizationId: location.organizationId }, 'admin')
  const one = { locations: [{ id: location.id, datasets: ['patients'] }] }
  const other = { locations: [{ id: second.id, datasets: ['patients'] }] }
  const answers = await Promise.all([world.change(one, { shown }), world.change(other, { shown, as: admin })])

  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
  const refused = answers.find(({ status }) => status === 409)
  assert.equal(refused?.body.code, 'access_changed')
  const isFirst = answers[0]?.status === 200
  const { locations } = await world.seen()
  assert.deepEqual(
    [location, second].map(({ id }) => locations.find((each) => each.id === id)?.datasets),
    isFirst ? [['patients'], []] : [[], ['patients']],
  )
  assert.equal((await world.change(isFirst ? other : one)).status, 200, 'reviewed again')

  // A location that was granted with all others while the page was open is one that the person has not seen.
  await world.change({ all_locations: ['patients'] })
  const early = await world.seen()
  await world.addLocation({ organizationId: location.organizationId })
  assert.equal((await world.change({}, { shown: early })).status, 409)
  assert.equal((await world.owner.delete(`${world.at(vendor.companyId)}/access`)).status, 200, 'without a version')
})

test('where a vendor’s access continues its delta stays a delta, also when all locations become some', async (t) => {
  const world = await somePractice(t)
  const { location, second, vendor } = world
  const page = async (id: string, since?: string | null) => {
    const query = since ? `?q[fetch_modified_since]=${encodeURIComponent(since)}` : ''
    return (await vendor.get(`/locations/${id}/insurance_plans${query}`)).body
  }
  await world.change({ all_locations: ['insurance_plans', 'patients'] })
  const first = await page(location.id)
  assert.equal(first.data.length, 30)
  await page(second.id)

  const changed = await world.change({ locations: [{ id: location.id, datasets: ['insurance_plans'] }] })
  assert.deepEqual(changed.body, { opened: 0, closed: 3 } as object)

  await location.upload('insurance_plans', { p7: aPlan({ plan_name: 'Changed' }) })
  const delta = await page(location.id, first.meta.next_fetch_modified_since)
  assert.deepEqual([delta.data.length, delta.meta.granted_at], [1, null])
  assert.equal((await vendor.get(`/locations/${second.id}/insurance_plans`)).status, 403)
  await world.change({ all_locations: ['insurance_plans'] })
  const after = await page(location.id, delta.meta.next_fetch_modified_since)
  assert.deepEqual([after.data.length, after.meta.granted_at], [0, null])
})

test('a closed company is granted nothing more, and its access can be taken away', async (t) => {
  const world = await somePractice(t)
  await world.change({ all_locations: ['patients', 'treatments'] })
  await world.pool.query(`update company set state = 'closed' where id = $1`, [world.vendor.companyId])
  assert.equal((await world.change({ all_locations: ['patients', 'appointments'] })).body.code, 'company_closed')
  assert.equal((await world.change({ all_locations: ['patients'] })).status, 200)
})

test('a practice of a thousand locations sends its whole access in one body', async (t) => {
  const world = await somePractice(t)
  await world.pool.query(
    `insert into location (id, organization_id, source_id, name) select 100000000000000 + n, $1, 's' || n, 'L' || n from generate_series(1, 1000) n`,
    [world.location.organizationId],
  )
  await completeLocations(world.pool)
  const { locations } = await world.seen()
  const wanted = locations.map(({ id }, index) => ({
    id,
    datasets: datasetNames.filter((_, at) => (index + at) % 6 > 0),
  }))
  const startedAtMs = performance.now()
  const answer = await world.change({ locations: wanted })
  t.diagnostic(`${Math.round(performance.now() - startedAtMs)} ms with the page that it is based on`)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    (await world.seen()).locations.map(({ id, datasets }) => ({ id, datasets })),
    wanted,
  )
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
      // Its grants stand, but while it is suspended it may read nothing.
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

test('one location is taken out of all: the others stay, and one that comes later is not granted', async (t) => {
  const world = await somePractice(t)
  const { location, second } = world
  await world.change({ all_locations: ['patients'] })
  const late = await world.addLocation({ organizationId: location.organizationId })
  const datasetsOf = async (id: string) => (await world.seen()).locations.find((each) => each.id === id)?.datasets
  assert.deepEqual(await datasetsOf(late.id), ['patients'])

  await world.change({ locations: [second, late].map(({ id }) => ({ id, datasets: ['patients'] })) })
  const later = await world.addLocation({ organizationId: location.organizationId })
  assert.deepEqual((await world.seen()).all_locations, [])
  assert.deepEqual(
    [await datasetsOf(location.id), await datasetsOf(second.id), await datasetsOf(late.id), await datasetsOf(later.id)],
    [[], ['patients'], ['patients'], []],
  )
})

test('every grant stays in the history, and is found by vendor, location, dataset and person', async (t) => {
  const world = await somePractice(t)
  const { owner, vendor, location } = world
  const at = (datasets: string[]) => world.change({ locations: [{ id: location.id, datasets }] })
  await at(['patients', 'treatments'])
  await owner.delete(`${world.at(vendor.companyId)}/access`)
  await at(['patients'])
  const grants = async (query = '') =>
    (await owner.get(`${world.path}/grants${query}`)).body as unknown as { total: number; code: string }

  assert.equal((await grants()).total, 3)
  assert.equal((await grants('?search=TREAT')).total, 1)
  assert.equal((await grants('?search=t%25s')).total, 0)
  assert.equal((await grants(`?search=${owner.person.email}&company_id=${vendor.companyId}`)).total, 3)
  assert.equal((await grants(`?company_id=${location.id}`)).code, 'parameter_invalid')
  assert.equal((await owner.get(`${world.path}/grants?page=0`)).status, 422)
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
