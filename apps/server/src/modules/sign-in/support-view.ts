import type { Queryable } from '../../platform/database/queryable.ts'
import { parseTenantId, type Tenant, tenantIdOf } from '../membership/tenant.ts'

/** How long an operator looks at a tenant before another reason is asked for. */
export const supportViewMinutes = 60

/** The tenant whose pages an operator's session may read, and until when. */
export type SupportView = { tenant: Tenant; endsAt: Date }

/** From now on the session may read this tenant, and no longer the one before. Ends with the session at the latest. Hand down the transaction of its act. */
export async function beginSupportView(
  client: Queryable,
  sessionId: string,
  { tenant, endsAt }: SupportView,
): Promise<void> {
  await client.query(
    `insert into support_view (session_id, tenant_id, ends_at) values ($1, $2, $3)
         on conflict (session_id) do update set tenant_id = excluded.tenant_id, ends_at = excluded.ends_at`,
    [sessionId, tenantIdOf(tenant), endsAt],
  )
}

/** What the session may read as support; null: nothing. Whether its person still is an operator is for the caller to ask. */
export async function findSupportView(db: Queryable, sessionId: string, now: Date): Promise<SupportView | null> {
  const { rows } = await db.query<{ tenant_id: string; ends_at: Date }>(
    'select tenant_id, ends_at from support_view where session_id = $1 and ends_at > $2',
    [sessionId, now],
  )
  const [row] = rows
  const tenant = row ? parseTenantId(row.tenant_id) : null
  return row && tenant ? { tenant, endsAt: row.ends_at } : null
}

export async function endSupportView(db: Queryable, sessionId: string): Promise<void> {
  await db.query('delete from support_view where session_id = $1', [sessionId])
}
