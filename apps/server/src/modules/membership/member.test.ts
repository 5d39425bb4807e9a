import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { MemberRole } from '@bridgework/contract/portal'
import { withTransaction } from '../../platform/database/pool.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { type CompanyId, newNumericId, newUuid, type OrganizationId } from '../../platform/identity/identity.ts'
import { listCompanies } from '../directory/company.ts'
import { listOrganizations } from '../directory/organization.ts'
import { createCompany, createTenant } from './create-tenant.ts'
import { addMember, findMember, getOwner, listMembers } from './member.ts'
import { operator, parseTenantId, type Tenant, tenantIdOf } from './tenant.ts'

const owner = { email: 'o@v.example', name: 'Olga' }

test('a company comes with its owner, or not at all, and so does an organization that is made with one', async (t) => {
  const { pool } = await createTestDatabase(t)
  const made = await withTransaction(pool, (client) => createCompany(client, { name: 'Vendor', owner }))
  assert.deepEqual([made.company.state, made.owner.role], ['active', 'owner'])
  assert.deepEqual(made.owner.tenant, { side: 'company', id: made.company.id })
  assert.deepEqual(await getOwner(pool, made.company.id), made.owner)

  for (const side of ['company', 'organization'] as const) {
    for (const wrong of [
      { name: 'B', owner: { email: 'nobody', name: 'N' } },
      { name: '', owner },
    ]) {
      const refused = withTransaction(pool, (client) => createTenant(client, side, wrong))
      await assert.rejects(refused, { code: 'field_invalid' })
    }
  }
  assert.deepEqual(await listCompanies(pool), [made.company])
  assert.deepEqual(await listOrganizations(pool), [])
})

for (const side of ['company', 'organization'] as const) {
  test(`${side}: there is one owner and each e-mail address once, however it is written`, async (t) => {
    const { pool, tenant, first } = await someTenant(t, side)
    const add = (email: string, role: 'owner' | 'admin' | 'member', to: Tenant = tenant) =>
      addMember(pool, to, { email, name: 'Somebody', role })
    const admin = await add('admin@v.example', 'admin')
    await assert.rejects(add('ADMIN@v.example', 'member'), { code: 'member_exists' })
    await assert.rejects(add('other@v.example', 'owner'), { code: 'owner_exists' })
    const nowhere: Tenant =
      side === 'company' ? { side, id: newUuid<CompanyId>() } : { side, id: newNumericId<OrganizationId>() }
    await assert.rejects(add('a@b.example', 'admin', nowhere), { code: `${side}_unknown` })
    assert.deepEqual(await listMembers(pool, tenant), [first, admin])
    assert.deepEqual(await findMember(pool, admin.id), admin)
    const elsewhere = await createTenant(pool, side, { name: 'Other', owner })
    assert.notEqual(elsewhere.id, first.id)
  })
}

test('there are several operators, each address once, and each is an admin or in support', async (t) => {
  const { pool } = await createTestDatabase(t)
  const add = (email: string, role: MemberRole) => addMember(pool, operator, { email, name: 'O', role })
  const both = [await add('a@b.example', 'admin'), await add('c@b.example', 'support')]
  await assert.rejects(add('A@b.example', 'admin'), { code: 'member_exists' })
  for (const role of ['owner', 'member'] as const)
    await assert.rejects(add('d@b.example', role), { constraint: 'membership_role_check' })
  assert.deepEqual(await listMembers(pool, operator), both)
})

test('a membership is of exactly one tenant, and of the side that it says', async (t) => {
  const { pool, tenant } = await someTenant(t, 'company')
  const organization = (await createTenant(pool, 'organization', { name: 'Practice', owner })).tenant
  for (const [side, companyId, organizationId] of [
    ['company', null, null],
    ['company', null, organization.id],
    ['company', tenant.id, organization.id],
    ['organization', tenant.id, null],
    ['organization', null, null],
    ['operator', tenant.id, null],
    ['operator', null, organization.id],
  ]) {
    const insert = pool.query(
      `insert into membership (id, side, company_id, organization_id, email, name, role)
       values (gen_random_uuid(), $1, $2, $3, 'x@y.example', 'X', 'admin')`,
      [side, companyId, organizationId],
    )
    await assert.rejects(insert, { constraint: 'membership_tenant_check' }, `${side} ${companyId} ${organizationId}`)
  }
})

test('one text names any tenant, and no two have the same', () => {
  const tenants: Tenant[] = [
    operator,
    { side: 'company', id: newUuid<CompanyId>() },
    { side: 'organization', id: newNumericId<OrganizationId>() },
  ]
  for (const tenant of tenants) assert.deepEqual(parseTenantId(tenantIdOf(tenant)), tenant)
  for (const text of ['', '0', 'OPERATOR', 'operator ', newUuid().toUpperCase(), '99999999999999999']) {
    assert.equal(parseTenantId(text), null, text)
  }
})

async function someTenant(t: TestContext, side: 'company' | 'organization') {
  const { pool } = await createTestDatabase(t)
  const first = await createTenant(pool, side, { name: 'Tenant', owner })
  return { pool, tenant: first.tenant, first }
}
