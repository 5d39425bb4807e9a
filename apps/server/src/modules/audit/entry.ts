import { instantText } from '../../platform/database/instant-text.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { AuditAction, FactsOf } from './in-words.ts'

/** An act as it is sealed: every value as text, but the facts, which are JSON. */
export type SealedAct = {
  id: string
  occurred_at: string
  side: string
  tenant_id: string | null
  user_id: string | null
  actor: string
  action: string
  facts: unknown
  ip: string | null
  request_id: string | null
  reason: string | null
}

/**
 * The text whose SHA-256 is sealed: docs/decisions/chain.md. Never changed: seals of years depend on it. An act without a reason has no
 * member for it. Members of facts are in the order of PostgreSQL's jsonb, which JSON.parse keeps.
 */
export function actText(act: SealedAct): string {
  return JSON.stringify([
    'act',
    act.id,
    act.occurred_at,
    act.side,
    act.tenant_id,
    act.user_id,
    act.actor,
    act.action,
    act.facts,
    act.ip,
    act.request_id,
    ...(act.reason === null ? [] : [act.reason]),
  ])
}

/** The highest id that is visible; '0' before the first act. */
export async function lastActId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ last: string | null }>('select max(id) as last from audit_event')
  return rows[0]?.last ?? '0'
}

/** Whether the operator did this. Reads the whole history: for a command, not for a request. */
export async function hasAct<Action extends AuditAction>(
  db: Queryable,
  action: Action,
  facts: FactsOf<Action>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from audit_event where side = 'operator' and action = $1 and facts = $2 limit 1`,
    [action, facts],
  )
  return rowCount === 1
}

/** Acts with ids in (afterId, lastId], in order of id, by the primary key. */
export async function readSealedActs(
  db: Queryable,
  { afterId, lastId, limit }: { afterId: string; lastId: string; limit: number },
): Promise<SealedAct[]> {
  const { rows } = await db.query<SealedAct>(
    `select id, ${instantText('occurred_at')} as occurred_at,
            side, tenant_id, user_id, actor, action, facts, abbrev(ip) as ip, request_id, reason
       from audit_event
      where id > $1 and id <= $2
      order by id
      limit $3`,
    [afterId, lastId, limit],
  )
  return rows
}
