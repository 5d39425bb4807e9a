import type { Queryable } from '../../platform/database/queryable.ts'
import { type Tenant, tenantIdOf } from './tenant.ts'

/** What a tenant asks of the sign-ins of its members. `secondFactorSince` null: no second factor. */
export type SignInRule = { secondFactorSince: Date | null }

/** By the primary key: every request for a tenant reads it, so a rule takes effect at once. */
export async function getSignInRule(db: Queryable, tenant: Tenant): Promise<SignInRule> {
  const { rows } = await db.query<{ since: Date }>(
    'select second_factor_since as since from sign_in_rule where tenant_id = $1',
    [tenantIdOf(tenant)],
  )
  return { secondFactorSince: rows[0]?.since ?? null }
}

/** Asks for a second factor from now on. False when the tenant does so already: its moment stays. */
export async function requireSecondFactor(db: Queryable, tenant: Tenant): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into sign_in_rule (tenant_id, second_factor_since) values ($1, clock_timestamp())
     on conflict (tenant_id) do nothing`,
    [tenantIdOf(tenant)],
  )
  return rowCount === 1
}

/** Asks for no second factor any more. False when the tenant did not. */
export async function allowWithoutSecondFactor(db: Queryable, tenant: Tenant): Promise<boolean> {
  const { rowCount } = await db.query('delete from sign_in_rule where tenant_id = $1', [tenantIdOf(tenant)])
  return rowCount === 1
}
