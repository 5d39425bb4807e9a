import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  Listed,
  OperatorAgent,
  OperatorAgentPage,
  OperatorCompanyPage,
  OperatorLocationPage,
  OperatorOrganizationPage,
} from '@bridgework/contract/portal'
import { read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

test('the operator has a page for each company, practice, agent and location, which lead to each other and hold no record', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location])
  const support = await world.signInAs('operator', 'support')
  const page = await vendor.get(`/locations/${location.id}/insurance_plans`)
  await world.usage.flush()
  const texts: string[] = []
  const get = async <T>(path: string) => {
    const answer = await support.get(`/operator/${path}`)
    texts.push(answer.text)
    return read<T>(answer)
  }

  const company = await get<OperatorCompanyPage>(`companies/${vendor.companyId}?range=7d`)
  assert.deepEqual([company.usage.totals.requests, company.granted_by.length], [1, 1])
  const organization = await get<OperatorOrganizationPage>(`organizations/${company.granted_by[0]?.id}`)
  assert.deepEqual([organization.id, organization.locations[0]?.id], [location.organizationId, location.id])
  const place = await get<OperatorLocationPage>(`locations/${location.id}`)
  assert.deepEqual([place.organization_id, place.agent?.id], [location.organizationId, location.agent.agentId])
  assert.equal(place.datasets.find(({ dataset }) => dataset === 'insurance_plans')?.records, 2)
  const agent = await get<OperatorAgentPage>(`agents/${place.agent?.id}`)
  assert.deepEqual(
    agent.locations.map(({ id }) => id),
    [location.id],
  )
  for (const { activity } of [organization, place, agent]) {
    const { reads, records_read, records_changed } = activity.buckets.at(-1) ?? assert.fail('no bucket')
    assert.deepEqual([reads, records_read, records_changed], [1, 2, 2])
  }
  const name = page.body.data[0]?.attributes.plan_name ?? assert.fail('no record')
  for (const text of texts) assert.ok(!text.includes(name) && !text.includes(page.body.meta.request_id))
  for (const path of ['companies/x', 'organizations/1', 'locations/1', 'agents/1'])
    assert.equal((await support.get(`/operator/${path}`)).status, 404, path)
  assert.equal((await support.get(`/operator/locations/${location.id}?range=1y`)).status, 422)
  assert.equal((await support.get('/operator/service?range=24h')).status, 200)
})

test('the operator’s lists are sorted by the server, over all their pages', async (t) => {
  const world = await somePortal(t)
  for (let index = 0; index < 27; index += 1) {
    await world.addAgent(await world.addOrganization(`Practice ${String(index).padStart(2, '0')}`))
  }
  const admin = await world.signInAs('operator', 'admin')
  const agents = async (query: string) => read<Listed<OperatorAgent>>(await admin.get(`/operator/agents?${query}`)).data
  const [first, last] = [await agents('sort=organization'), await agents('sort=-organization&page=2')]
  assert.equal(first[0]?.organization_name, 'Practice 00')
  assert.deepEqual(
    last.map(({ organization_name }) => organization_name),
    ['Practice 01', 'Practice 00'],
  )
  for (const [list, sorts] of Object.entries({
    companies: ['name', '-state', 'verified', 'created'],
    organizations: ['-name', 'id', 'locations', 'second_factor', '-created'],
    agents: ['name', '-last_contact', 'version', 'enrolled'],
  })) {
    for (const sort of sorts) assert.equal((await admin.get(`/operator/${list}?sort=${sort}`)).status, 200, sort)
    assert.equal((await admin.get(`/operator/${list}?sort=secret_hmac`)).status, 422)
  }
})
