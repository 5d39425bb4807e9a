import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { AuditAction } from './action.ts'

/** Something that a person did. `tenantId`: of the company or organization; null on the operator's side and for an account. */
export type AuditEntry = {
  side: 'company' | 'organization' | 'operator' | 'account'
  tenantId: string | null
  userId: string | null
  /** Name and e-mail address as they were then. */
  actor: string
  action: AuditAction
  /** What it was done to, in words for a person. Never a patient, never a secret. */
  subject: string | null
  /** Why, as the person typed it; left out: none. */
  reason?: string | null
  ip: string | null
  requestId: string | null
}

export type StoredAuditEntry = AuditEntry & { id: string; occurredAt: Date }

/** Puts it on record. Hand down the transaction of the act itself, where there is one. */
export async function recordAudit(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.query(
    `insert into audit_event (side, tenant_id, user_id, actor, action, subject, ip, request_id, reason)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      ...[entry.side, entry.tenantId, entry.userId, entry.actor, entry.action, entry.subject, entry.ip],
      ...[entry.requestId, entry.reason ?? null],
    ],
  )
}

/** A page of a tenant's history, the newest first; `search` looks in who, what, to what and why. */
export async function listAudit(
  db: Queryable,
  filter: { side: AuditEntry['side']; tenantId: string | null; search: string; limit: number; offset: number },
): Promise<{ total: number; entries: StoredAuditEntry[] }> {
  const { total, rows } = await queryPage<RowOf<StoredAuditEntry>>(
    db,
    `select ${columns}
       from audit_event
      where side = $1 and ${ofTenant(filter.tenantId)}
        and ${matches('$3')}`,
    'id desc',
    filter,
    [filter.side, filter.tenantId, containing(filter.search)],
  )
  return { total, entries: rows.map(fromRow<StoredAuditEntry>) }
}

/** The same, the next so many before an entry; `before` null: the newest. By audit_event_of_tenant, whatever the length of the history. */
export async function listAuditHistory(
  db: Queryable,
  filter: Pick<AuditEntry, 'side' | 'tenantId'> & { search: string; before: string | null; limit: number },
): Promise<StoredAuditEntry[]> {
  const { rows } = await db.query<RowOf<StoredAuditEntry>>(
    `select ${columns}
       from audit_event
      where side = $1 and ${ofTenant(filter.tenantId)} and id < $3 and ${matches('$4')}
      order by id desc
      limit $5`,
    [filter.side, filter.tenantId, filter.before ?? afterAll, containing(filter.search), filter.limit],
  )
  return rows.map(fromRow<StoredAuditEntry>)
}

/** The latest of what a person did and what was done to their account. */
export async function listAuditOfPerson(db: Queryable, userId: string, limit: number): Promise<StoredAuditEntry[]> {
  const { rows } = await db.query<RowOf<StoredAuditEntry>>(
    `select ${columns} from audit_event where user_id = $1 order by id desc limit $2`,
    [userId, limit],
  )
  return rows.map(fromRow<StoredAuditEntry>)
}

const columns = 'id, occurred_at, side, tenant_id, user_id, actor, action, subject, host(ip) as ip, request_id, reason'

/** Above every id. */
const afterAll = '9223372036854775807'

/** With `is not distinct from` the index would not be used. */
function ofTenant(tenantId: string | null): string {
  return tenantId === null ? 'tenant_id is null and $2::text is null' : 'tenant_id = $2'
}

function matches(pattern: string): string {
  return `(actor || ' ' || action || ' ' || coalesce(subject, '') || ' ' || coalesce(reason, '')) ilike ${pattern}`
}
