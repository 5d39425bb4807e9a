import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import { datasetsTitled } from './facts.ts'
import { type AuditAction, actionsSaying, type FactsOf, toStored } from './in-words.ts'

/** Something that a person did. `tenantId`: of the company or organization; null on the operator's side and for an account. */
export type AuditEntry<Action extends AuditAction = AuditAction> = {
  side: 'company' | 'organization' | 'operator' | 'account'
  tenantId: string | null
  userId: string | null
  /** Name and e-mail address as they were then. */
  actor: string
  action: Action
  /** What it was done to, and how. Never a patient, never a secret. */
  facts: FactsOf<Action>
  /** Why, as the person typed it; left out: none. */
  reason?: string | null
  ip: string | null
  requestId: string | null
}

/** `action` and `facts`: also as another release recorded them. */
export type StoredAuditEntry = Omit<AuditEntry, 'action' | 'facts'> & {
  id: string
  occurredAt: Date
  action: string
  facts: unknown
}

/** Whose history, and which part of it: `until` is not included; `actions` null: every kind. */
export type AuditFilter = Pick<AuditEntry, 'side' | 'tenantId'> & {
  search: string
  person: string
  actions: readonly string[] | null
  from: Date
  until: Date
}

/** Puts it on record. Hand down the transaction of the act itself, where there is one. */
export async function recordAudit<Action extends AuditAction>(db: Queryable, entry: AuditEntry<Action>): Promise<void> {
  const { side, tenantId, userId, actor, action, ip, requestId, reason = null } = entry
  await db.query(
    `insert into audit_event (side, tenant_id, user_id, actor, action, facts, ip, request_id, reason)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [side, tenantId, userId, actor, action, toStored(action, entry.facts), ip, requestId, reason],
  )
}

/** A page of a tenant's history, the newest first; `search` looks in who, what, to what and why, `person` in who. */
export async function listAudit(
  db: Queryable,
  filter: AuditFilter,
  page: { limit: number; offset: number },
): Promise<{ total: number; entries: StoredAuditEntry[] }> {
  const { conditions, values } = selection(filter)
  const { total, rows } = await queryPage<RowOf<StoredAuditEntry>>(
    db,
    `select ${columns}
       from audit_event
      where ${conditions}`,
    'id desc',
    page,
    values,
  )
  return { total, entries: rows.map(fromRow<StoredAuditEntry>) }
}

/** The same, the next so many before an entry; `before` null: the newest. By audit_event_of_tenant, whatever the length of the history. */
export async function listAuditHistory(
  db: Queryable,
  filter: AuditFilter,
  { before, limit }: { before: string | null; limit: number },
): Promise<StoredAuditEntry[]> {
  const { conditions, values } = selection(filter)
  const { rows } = await db.query<RowOf<StoredAuditEntry>>(
    `select ${columns}
       from audit_event
      where ${conditions} and id < $${values.length + 1}
      order by id desc
      limit $${values.length + 2}`,
    [...values, before ?? afterAll, limit],
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

const columns = 'id, occurred_at, side, tenant_id, user_id, actor, action, facts, host(ip) as ip, request_id, reason'

/** Above every id. */
const afterAll = '9223372036854775807'

/** Only what was asked for, so that the plan fits it. With `is not distinct from` a tenant of null would not use the index. */
function selection({ side, tenantId, search, person, actions, from, until }: AuditFilter) {
  const values: unknown[] = [side, from, until]
  const conditions = ['side = $1', 'occurred_at >= $2', 'occurred_at < $3']
  conditions.push(tenantId === null ? 'tenant_id is null' : `tenant_id = $${values.push(tenantId)}`)
  if (actions !== null) conditions.push(`action = any($${values.push(actions)}::text[])`)
  if (person !== '') conditions.push(`actor ilike $${values.push(containing(person))}`)
  if (search !== '') {
    const found = `$${values.push(containing(search))}`
    const saying = `$${values.push(actionsSaying(search))}::text[]`
    const datasets = `$${values.push(datasetsTitled(search))}::text[]`
    const factual = `fact #>> '{}' ilike ${found} or fact #>> '{}' = any(${datasets})`
    conditions.push(
      `((actor || ' ' || coalesce(reason, '')) ilike ${found} or action = any(${saying})
        or exists (select 1 from jsonb_path_query(facts, 'strict $.** ? (@.type() == "string")') fact where ${factual}))`,
    )
  }
  return { conditions: conditions.join(' and '), values }
}
