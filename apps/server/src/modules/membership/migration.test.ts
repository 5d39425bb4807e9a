import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Pool } from 'pg'
import { serverRole } from '../../platform/database/embedded/cluster.ts'
import { migrate } from '../../platform/database/migrate.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { migrationsBefore, migrationsThrough } from '../../platform/database/testing/test-migrations.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { createSecretKey } from '../credentials/secret.ts'
import { findInvitation } from '../sign-in/invitation.ts'
import { addMember, listMembers } from './member.ts'
import { operator, type Tenant } from './tenant.ts'

const secretKey = createSecretKey(Buffer.alloc(32, 5))
const organizationId = '123456789012345' as OrganizationId

test('memberships of before keep every id, and all that names them, and what was unique still is', async (t) => {
  const { url, pool, ownerPool } = await oldDatabase(t)
  const old = await fill(ownerPool)
  const before = await everythingThatNames(ownerPool)

  await migrate(url, { serverRole, log: () => {} })

  assert.deepEqual(await everythingThatNames(ownerPool), before)
  const { rows } = await pool.query(
    `select id, tenant_id, user_id, email, name, role, created_at, removed_at from membership order by id`,
  )
  assert.deepEqual(rows, old.members)
  const tenants: Tenant[] = [
    { side: 'company', id: old.companyId },
    { side: 'organization', id: organizationId },
    operator,
  ]
  for (const tenant of tenants) {
    const names = (await listMembers(pool, tenant)).map(({ name }) => name).toSorted()
    assert.deepEqual(names, tenant.side === 'operator' ? ['Invited', 'Owner'] : ['Admin', 'Invited', 'Owner'])
    const role = tenant.side === 'operator' ? 'admin' : 'owner'
    const again = { email: 'OWNER@x.example', name: 'Again', role } as const
    await assert.rejects(addMember(pool, tenant, again), { code: 'member_exists' })
    const added = await addMember(pool, tenant, { ...again, email: 'removed@x.example', role: 'admin' })
    assert.ok(!old.members.some(({ id }) => id === added.id))
    if (tenant.id) {
      const second = { ...again, email: 'second@x.example' }
      await assert.rejects(addMember(pool, tenant, second), { code: 'owner_exists' })
    }
    const { member } = await findInvitation(pool, secretKey, old.tokens[tenant.side])
    assert.deepEqual([member.tenant, member.name], [tenant, 'Invited'])
  }
  for (const id of old.named) {
    await assert.rejects(ownerPool.query('delete from membership where id = $1', [id]), { code: '23503' })
  }
})

test('the migration waits for nothing that vendors or agents do', async (t) => {
  const { url, ownerPool } = await oldDatabase(t)
  await fill(ownerPool)
  const busy = await ownerPool.connect()
  try {
    await busy.query(`begin; lock table company, key_pair, agreement_acceptance, access_grant, dataset_grant, location,
                      dataset_state, record, disclosure, agent in row exclusive mode`)
    await busy.query('select from company, key_pair, agreement_acceptance')

    await migrate(url, { directory: migrationsThrough(t, 'membership'), serverRole, log: () => {} })

    await busy.query('rollback')
  } finally {
    busy.release()
  }
})

/** A database as the release before had it. */
async function oldDatabase(t: TestContext) {
  const database = await createTestDatabase(t)
  await database.ownerPool.query('drop schema public, monthly cascade; create schema public')
  await migrate(database.url, { directory: migrationsBefore(t, 'membership'), serverRole, log: () => {} })
  return database
}

/** On each side an owner, an admin, one who was removed and one who was invited, and key pairs and an acceptance that name three of them. */
async function fill(pool: Pool) {
  const companyId = randomUUID() as CompanyId
  await pool.query(`insert into company (id, name) values ($1, 'Vendor')`, [companyId])
  await pool.query(`insert into organization (id, name) values ($1, 'Practice')`, [organizationId])
  const users = [randomUUID(), randomUUID()]
  for (const id of users) {
    await pool.query(`insert into portal_user (id, name, email) values ($1, 'Person', $2)`, [id, `${id}@x.example`])
  }
  const members: Record<string, unknown>[] = []
  const idOf = new Map<string, string>()
  const tokens = { company: '', organization: '', operator: '' }
  for (const side of ['company', 'organization', 'operator'] as const) {
    const table = { company: 'member', organization: 'organization_member', operator: 'operator_member' }[side]
    const tenantId = { company: companyId, organization: organizationId, operator: 'operator' }[side]
    for (const [name, role, userId, removedAt] of [
      ['Owner', 'owner', users[0], null],
      ['Admin', 'admin', users[1], null],
      ['Removed', 'admin', null, new Date(2_000_000)],
      ['Invited', 'member', null, null],
    ] as const) {
      if (side === 'operator' && name === 'Admin') continue
      const id = randomUUID()
      idOf.set(`${side} ${name}`, id)
      const email = `${name}@x.example`
      const createdAt = new Date(1_000_000)
      await pool.query(
        `insert into ${table} (id, user_id, email, name, created_at, removed_at${side === 'operator' ? '' : `, ${side}_id, role`})
         values ($1, $2, $3, $4, $5, $6${side === 'operator' ? '' : ', $7, $8'})`,
        [id, userId, email, name, createdAt, removedAt, ...(side === 'operator' ? [] : [tenantId, role])],
      )
      members.push({
        id,
        tenant_id: tenantId,
        user_id: userId,
        email,
        name,
        // Who was an operator before operators had roles may do everything.
        role: side === 'operator' ? 'admin' : role,
        created_at: createdAt,
        removed_at: removedAt,
      })
    }
    tokens[side] = `bwi_${side.padEnd(43, 'x')}`
    await pool.query(
      `insert into invitation (side, member_id, token_hmac, expires_at) values ($1, $2, $3, now() + interval '1 day')`,
      [side, idOf.get(`${side} Invited`), secretKey.hmac(tokens[side])],
    )
  }
  const named = ['Owner', 'Removed'].map((name) => idOf.get(`company ${name}`))
  await pool.query(`insert into agreement (version, body, enforced_at) values (1, 'Be kind.', now())`)
  await pool.query('insert into agreement_acceptance (company_id, version, member_id) values ($1, 1, $2)', [
    companyId,
    named[0],
  ])
  await pool.query(
    `insert into key_pair (id, company_id, client_id, secret_hmac, created_by, revoked_at, revoked_by)
     values (gen_random_uuid(), $1, 'bwc_x', 'x', $2, now(), $3)`,
    [companyId, named[1], named[0]],
  )
  await pool.query(
    `insert into audit_event (side, tenant_id, user_id, actor, action)
     values ('company', $1, $2, 'Owner <owner@x.example>', 'company_member.manage')`,
    [companyId, users[0]],
  )
  return {
    companyId,
    tokens,
    named,
    members: members.toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1)),
  }
}

async function everythingThatNames(pool: Pool): Promise<unknown[]> {
  return await Promise.all(
    [
      "select to_jsonb(p) - 'secret_key_id' as pair from key_pair p order by id",
      'select * from agreement_acceptance',
      'select id, occurred_at, side, tenant_id, user_id, actor, action from audit_event order by id',
      'select member_id, token_hmac, created_at, expires_at from invitation order by member_id',
      'select id, name, state, created_at from company',
      'select id, name, external_reference, time_zone, country, created_at, updated_at from organization',
      'select id, name, email, email_verified, image, two_factor_enabled, created_at, updated_at from portal_user order by id',
    ].map(async (statement) => (await pool.query(statement)).rows),
  )
}
