import type { Queryable } from '../../platform/database/queryable.ts'
import { type Tenant, tenantIdOf } from '../membership/tenant.ts'

/** A session of a member, as it concerns one tenant: `lastUsedAt` is when it was last used for that tenant. */
export type MemberSession = {
  id: string
  signedInAt: Date
  lastUsedAt: Date
  ip: string | null
  userAgent: string | null
  gaveSecondFactor: boolean
}

/** Notes that a session is used for a tenant, to the minute: most requests write nothing. The session's row is held, for it may be ending. */
export async function noteSessionUse(db: Queryable, sessionId: string, tenant: Tenant): Promise<void> {
  await db.query(
    `insert into session_use (session_id, tenant_id, last_used_at)
     select id, $2, clock_timestamp()
       from portal_session
      where id = $1
        and not exists (select 1 from session_use
                         where session_id = $1 and tenant_id = $2
                           and last_used_at > clock_timestamp() - interval '1 minute')
        for key share
     on conflict (session_id, tenant_id) do update set last_used_at = excluded.last_used_at`,
    [sessionId, tenantIdOf(tenant)],
  )
}

/** A person's sessions that have not ended and were used for the tenant, the latest first; at most 200. */
export async function listSessionsFor(db: Queryable, tenant: Tenant, userId: string): Promise<MemberSession[]> {
  const { rows } = await db.query<MemberSession>(
    `select s.id, s.created_at as "signedInAt", u.last_used_at as "lastUsedAt",
            nullif(s.ip_address, '') as ip, nullif(s.user_agent, '') as "userAgent",
            s.second_factor as "gaveSecondFactor"
       from portal_session s
       join session_use u on u.session_id = s.id and u.tenant_id = $1
      where s.user_id = $2 and s.expires_at > now()
      order by u.last_used_at desc, s.id
      limit 200`,
    [tenantIdOf(tenant), userId],
  )
  return rows
}

/** Ends the sessions of a person that were used for the tenant: one of them, or with null all. Answers how many there were. */
export async function endSessionsFor(
  db: Queryable,
  tenant: Tenant,
  userId: string,
  sessionId: string | null,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from portal_session s
      using session_use u
      where u.session_id = s.id and u.tenant_id = $1 and s.user_id = $2 and s.id = coalesce($3, s.id)`,
    [tenantIdOf(tenant), userId, sessionId],
  )
  return rowCount ?? 0
}
