import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type PortalAnswers, type PortalRouteName, portalRoutes, type Session } from '@bridgework/contract/portal'
import { actionsOf, read } from '../testing/test-company.ts'
import { type SignedIn, somePortal } from '../testing/test-portal.ts'

type Found = PortalAnswers['findAnything']

test('an operator finds a company, practice, location, agent and person by id and name, and a request by its id', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const { agentId } = await world.addAgent(location.organizationId)
  const support = await world.signInAs('operator', 'support')
  const person = await world.addPerson('Pat_Owner')
  await world.pool.query(`update location set name = 'Elm 100%' where id = $1`, [location.id])
  const refused = await vendor.get(`/locations/${location.id}/patients?items=x`)
  await world.usage.flush()
  const find = async (search: string) =>
    read<Found>(await support.get(`/operator/find?search=${encodeURIComponent(search)}`))

  const byId = { company: vendor.companyId, organization: location.organizationId, location: location.id }
  for (const [kind, id] of Object.entries({ ...byId, agent: agentId, person: person.userId })) {
    assert.deepEqual(
      (await find(` ${id.toUpperCase()} `)).data.map((found) => [found.kind, found.id]),
      [[kind, id]],
    )
  }
  assert.deepEqual(
    (await find('elm 100%')).data.map(({ kind, id }) => [kind, id]),
    [['location', location.id]],
  )
  for (const search of ['pat_', person.email]) {
    assert.deepEqual(
      (await find(search)).data.map(({ kind, name, detail }) => [kind, name, detail]),
      [['person', 'Pat_Owner', person.email]],
    )
  }
  const { request, data } = await find(refused.body.request_id ?? '')
  assert.deepEqual(data, [])
  assert.deepEqual(
    [request?.company_id, request?.company_name, request?.status, request?.parameter, request?.rule],
    [vendor.companyId, 'Vendor', 422, 'items', 'whole_number'],
  )
  assert.deepEqual(await find(''), { data: [], request: null })
})

async function someSupport(t: TestContext) {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const support = await world.signInAs('operator', 'support')
  const company = `/companies/${vendor.companyId}`
  const practice = `/organizations/${location.organizationId}`
  const begin = (tenant_id: string, reason: string | undefined = 'Ticket 12: no data since Monday') =>
    support.post('/operator/support_view', { tenant_id, reason })
  return { world, location, vendor, support, company, practice, begin }
}

const codeOf = async (person: SignedIn, path: string) => (await person.get(path)).body.code

test('support looks at a company or practice read-only with a reason, which its people see in their history', async (t) => {
  const { world, location, vendor, support, company, practice, begin } = await someSupport(t)
  assert.equal(await codeOf(support, company), 'company_unknown')
  assert.equal((await begin(vendor.companyId, '')).body.code, 'field_invalid')
  for (const unknown of ['operator', 'x', '9']) assert.equal((await begin(unknown)).status, 404, unknown)

  const { ends_at } = read<{ ends_at: string }>(await begin(vendor.companyId))
  assert.equal((await support.get(company)).status, 200)
  assert.equal((await support.get(`${company}/usage`)).status, 200)
  const [view] = read<Session>(await support.get('/session')).memberships.filter(({ side }) => side === 'company')
  assert.deepEqual([view?.id, view?.role, view?.support_until], [vendor.companyId, 'support', ends_at])
  // Another session of the same person has no part in it, and another operator has none.
  const again = await world.signIn(support.person)
  for (const other of [again, await world.signInAs('operator', 'admin')]) {
    assert.equal(await codeOf(other, company), 'company_unknown')
  }

  read(await begin(location.organizationId))
  assert.equal(await codeOf(support, company), 'company_unknown', 'one at a time')
  assert.equal((await support.get(`${practice}/locations`)).status, 200)
  const owners = {
    [company]: await world.signInAs({ companyId: vendor.companyId }, 'owner'),
    [practice]: await world.signInAs({ organizationId: location.organizationId }, 'owner'),
  }
  for (const [path, owner] of Object.entries(owners)) {
    const [[action, what] = []] = await actionsOf(owner, path)
    assert.equal(action, 'operator.support_view')
    assert.match(what ?? '', /^Began to look at the pages of “\w+” as support, read-only, for at most 60 minutes$/)
    const { data } = read<{ data: { reason: string }[] }>(await owner.get(`${path}/events`))
    assert.equal(data[0]?.reason, 'Ticket 12: no data since Monday')
  }
  read(await support.delete('/account/support_view'))
  assert.equal(await codeOf(support, practice), 'organization_unknown')
})

test('R11: support at a tenant changes nothing, and no route that it may read has a patient, a secret or somebody’s notices', async (t) => {
  const { world, location, vendor, support, begin } = await someSupport(t)
  const ids: Record<string, Record<string, string>> = {
    company: { company_id: vendor.companyId, tenant_id: vendor.companyId },
    organization: { organization_id: location.organizationId, tenant_id: location.organizationId },
  }
  const { agentId } = await world.addAgent(location.organizationId)
  const others = { location_id: location.id, agent_id: agentId, dataset: 'patients', company_id: vendor.companyId }
  const readable: Record<string, string[]> = {}
  for (const [side, own] of Object.entries(ids)) {
    read(await begin(own.tenant_id ?? ''))
    readable[side] = []
    for (const name of Object.keys(portalRoutes) as PortalRouteName[]) {
      const { method, path } = portalRoutes[name]
      const root = side === 'company' ? '/companies/:company_id' : '/organizations/:organization_id'
      if (!path.startsWith(root) && !path.startsWith('/tenants/')) continue
      const filled = path.replace(/:(\w+)/g, (_, id: string) => ({ ...others, ...own })[id] ?? '1')
      const { status, body } = await support.send(method, `${filled}?no_such_parameter=1`)
      if (status === 422) readable[side].push(name)
      else assert.deepEqual([status, body.code], [403, 'role_denied'], `${method} ${path}`)
      if (method !== 'GET') assert.equal(status, 403, name)
    }
  }
  const ofBoth = ['listMembers', 'getSignInRule']
  assert.deepEqual(readable, {
    company: [
      ...ofBoth,
      ...['getCompany', 'getCompanyProfile', 'getAgreement', 'listConnections', 'getConnectedLocation'],
      ...['listEndedAccess', 'listAccessRequests', 'listPractices', 'getUsage', 'listRequests', 'listRequestErrors'],
    ].sort((a, b) => order(a) - order(b)),
    organization: [
      ...ofBoth,
      ...['getOrganization', 'listLocations', 'getLocation', 'listAgents', 'listVendors', 'getVendor', 'listReaders'],
      ...['listVendorRequests', 'previewDataset', 'listGrants', 'listAttribution'],
    ].sort((a, b) => order(a) - order(b)),
  })
})

/** Where the contract's table has a route. */
function order(name: string): number {
  return Object.keys(portalRoutes).indexOf(name)
}

test('support ends after 60 minutes, with the session, and at once for who is no operator any more', async (t) => {
  const { world, vendor, support, company, begin } = await someSupport(t)
  const before = Date.now()
  const { ends_at } = read<{ ends_at: string }>(await begin(vendor.companyId))
  const minutes = (Date.parse(ends_at) - before) / 60_000
  assert.ok(minutes >= 60 && minutes < 61, ends_at)
  assert.equal((await support.get(company)).status, 200)
  await world.pool.query(`update support_view set ends_at = now()`)
  assert.equal(await codeOf(support, company), 'company_unknown')
  assert.ok(read<Session>(await support.get('/session')).memberships.every(({ side }) => side === 'operator'))

  read(await begin(vendor.companyId))
  assert.equal((await support.get(company)).status, 200)
  await world.pool.query('delete from membership where user_id = $1', [support.person.userId])
  assert.equal(await codeOf(support, company), 'role_denied')
  await support.post('/auth/sign-out')
  const { rows } = await world.pool.query('select from support_view')
  assert.equal(rows.length, 0)
})
