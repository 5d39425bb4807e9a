import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AccessRequest, OrganizationPage } from '@bridgework/contract/portal'
import { actionsOf, read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

test('a vendor asks a practice by its id; the practice grants less than was asked, and both histories have it', async (t) => {
  const { world, location, vendor, company, practice, ask, ofCompany, ofPractice, answer } = await someRequest(t)
  const second = await world.addLocation({ organizationId: location.organizationId })
  read(await ask({ datasets: ['treatments', 'patients'], locations: 'Main Street  and the other' }))
  const [open] = await ofPractice()
  assert.deepEqual(
    [open?.state, open?.datasets, open?.locations, open?.purpose],
    ['open', ['patients', 'treatments'], 'Main Street  and the other', 'Recall messages'],
  )
  const overview = read<OrganizationPage>(await practice.get(`/organizations/${location.organizationId}`))
  assert.deepEqual(overview.access_requests, [{ company_id: vendor.companyId, company_name: 'Vendor' }])
  const waiting = async () => read(await practice.get(`/organizations/${location.organizationId}/waiting`))
  assert.deepEqual(await waiting(), { removals: 0, access_requests: 1 })
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 403, 'a request opens nothing')
  assert.equal((await ask()).body.code, 'access_request_open')

  for (const wrong of [{ datasets: [] }, { location_ids: [] }, { location_ids: ['7'] }]) {
    assert.ok((await answer('grant', { datasets: ['patients'], location_ids: null, ...wrong })).status >= 400)
  }
  const longest = {
    location_ids: Array.from({ length: 5000 }, (_, index) => String(9e15 - index)),
    message: '🦷'.repeat(300),
  }
  assert.equal((await answer('grant', { datasets: ['patients'], ...longest })).body.code, 'location_unknown')
  assert.equal((await ofPractice())[0]?.state, 'open', 'a refused answer changes nothing')
  read(await answer('grant', { datasets: ['patients'], location_ids: [location.id], message: 'Only Main Street.' }))
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 200)
  assert.equal((await vendor.get(`/locations/${location.id}/treatments`)).status, 403)
  assert.equal((await vendor.get(`/locations/${second.id}/patients`)).status, 403)
  assert.deepEqual(await waiting(), { removals: 0, access_requests: 0 })
  const [granted] = await ofCompany()
  assert.deepEqual([granted?.state, granted?.message], ['granted', 'Only Main Street.'])
  assert.equal(
    (await answer('grant', { datasets: ['patients'], location_ids: null })).body.code,
    'access_request_ended',
  )

  const path = `/organizations/${location.organizationId}`
  assert.deepEqual((await actionsOf(practice, path)).map(([action]) => action).slice(0, 2), [
    'grant.change',
    'access_request.make',
  ])
  const [last] = await actionsOf(company, `/companies/${vendor.companyId}`)
  const said = (name: string) => `Granted ${name} access to Patients at “Location”, as requested`
  assert.deepEqual(last, ['grant.change', said('your company')])
  assert.equal((await actionsOf(practice, path))[0]?.[1], said('“Vendor”'))
  // Asked again for what it may read already: answered all the same.
  read(await ask({ datasets: ['patients'] }))
  read(await answer('grant', { datasets: ['patients'], location_ids: [location.id] }))
  assert.equal((await ofCompany())[0]?.state, 'granted')
  const again = (name: string) => ['grant.change', `Granted the request of ${name}, which had the access already`]
  assert.deepEqual((await actionsOf(practice, path))[0], again('“Vendor”'))
  assert.deepEqual((await actionsOf(company, `/companies/${vendor.companyId}`))[0], again('your company'))
})

test('a declined request is repeated after 30 days, or when the practice lets the vendor; a withdrawn one at once', async (t) => {
  // Each look at the clock is a second later, so that requests have an order.
  let nowMs = Date.now()
  const now = () => {
    nowMs += 1_000
    return new Date(nowMs)
  }
  const { ask, ofCompany, answer, company, path, world } = await someRequest(t, now)
  read(await ask())
  const [open] = await ofCompany()
  read(await company.delete(`${path}/access_requests/${open?.id}`))
  assert.equal((await ofCompany())[0]?.state, 'withdrawn')
  assert.equal((await answer('refusal', {})).body.code, 'access_request_ended')

  read(await ask())
  read(await answer('refusal', { message: 'Not now.' }))
  assert.deepEqual(
    (await ofCompany()).map(({ state, message }) => [state, message]),
    [
      ['declined', 'Not now.'],
      ['withdrawn', null],
    ],
  )
  const refused = await ask()
  assert.equal(refused.body.code, 'access_request_declined')
  assert.match(refused.body.errors, /Ask again after \d{4}-\d\d-\d\d/)
  read(await answer('invitation'))
  read(await ask())
  read(await answer('refusal', {}))
  await world.pool.query(`update access_request set ended_at = ended_at - interval '30 days' where state = 'declined'`)
  read(await ask())
})

test('an id of no practice, and a company that may not be granted anything, get no request through', async (t) => {
  const { world, vendor, ask, path, company, location } = await someRequest(t)
  for (const id of ['1', '100000000000000', "1' or '1'='1", ` `]) {
    const { status, body } = await ask({ organization_id: id })
    assert.deepEqual([status, body.code], [404, 'organization_unknown'], id)
    assert.match(body.errors, /No practice has this id/)
  }
  await world.pool.query('update organization set erased_at = now() where id = $1', [location.organizationId])
  assert.equal((await ask()).body.code, 'organization_unknown', 'an erased practice is not named')
  await world.pool.query('update organization set erased_at = null where id = $1', [location.organizationId])

  for (const wrong of [{ purpose: ' ' }, { datasets: [] }, { datasets: ['teeth'] }, { locations: 'a\u202eb' }]) {
    assert.equal((await ask(wrong)).status, 422, JSON.stringify(wrong))
  }
  // 20 within a day, whatever became of them.
  await world.pool.query(
    `insert into access_request (id, company_id, organization_id, datasets, all_locations, purpose, asked_at, asked_by, state, ended_at)
     select gen_random_uuid(), $1, $2, '{patients}', true, 'p', now(), 'Test', 'withdrawn', now() from generate_series(1, 20)`,
    [vendor.companyId, location.organizationId],
  )
  assert.equal((await ask()).body.code, 'access_requests_exceeded')
  await world.pool.query(`update access_request set asked_at = asked_at - interval '1 day'`)
  await world.ownerPool.query('delete from agreement_acceptance where company_id = $1', [vendor.companyId])
  assert.equal((await ask()).body.code, 'agreement_not_accepted')
  assert.equal(read<{ data: unknown[] }>(await company.get(`${path}/access_requests`)).data.length, 20)
})

async function someRequest(t: TestContext, now: () => Date = () => new Date()) {
  const world = await somePortal(t, { now })
  const location = await world.addLocation()
  const { organizationId } = location
  const vendor = await world.addVendor()
  const company = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const practice = await world.signInAs({ organizationId }, 'owner')
  const path = `/companies/${vendor.companyId}`
  const asked = { organization_id: organizationId, datasets: ['patients'], locations: '', purpose: 'Recall messages' }
  const ask = (changes: object = {}) => company.post(`${path}/access_requests`, { ...asked, ...changes })
  const list = async (answered: ReturnType<typeof company.get>) => read<{ data: AccessRequest[] }>(await answered).data
  const ofCompany = () => list(company.get(`${path}/access_requests`))
  const ofPractice = () => list(practice.get(`/organizations/${organizationId}/access_requests`))
  /** Answers the latest request. */
  const answer = async (act: 'grant' | 'refusal' | 'invitation', body?: object) => {
    const [latest] = await ofPractice()
    return await practice.post(`/organizations/${organizationId}/access_requests/${latest?.id}/${act}`, body)
  }
  return { world, location, vendor, company, practice, path, ask, ofCompany, ofPractice, answer }
}
