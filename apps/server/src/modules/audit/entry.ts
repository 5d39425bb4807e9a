import { instantText } from '../../platform/database/instant-text.ts'
import type { Queryable } from '../../platform/database/queryable.ts'

/** An act as it is sealed: every value as text. */
export type ActFacts = {
  id: string
  occurred_at: string
  side: string
  tenant_id: string | null
  user_id: string | null
  actor: string
  action: string
  subject: string | null
  ip: string | null
  request_id: string | null
  reason: string | null
}

/**
 * The text whose SHA-256 is sealed: docs/decisions/chain.md. Never changed: seals of years depend on it. So an act without a reason has the
 * text that it had before there were reasons.
 */
export function actText(facts: ActFacts): string {
  return JSON.stringify([
    'act',
    facts.id,
    facts.occurred_at,
    facts.side,
    facts.tenant_id,
    facts.user_id,
    facts.actor,
    facts.action,
    facts.subject,
    facts.ip,
    facts.request_id,
    ...(facts.reason === null ? [] : [facts.reason]),
  ])
}

/** The highest id that is visible; '0' before the first act. */
export async function lastActId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ last: string | null }>('select max(id) as last from audit_event')
  return rows[0]?.last ?? '0'
}

/** Whether the operator did this. Reads the whole history: for a command, not for a request. */
export async function hasAct(db: Queryable, action: string, subject: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from audit_event where side = 'operator' and action = $1 and subject = $2 limit 1`,
    [action, subject],
  )
  return rowCount === 1
}

/** Acts with ids in (afterId, lastId], in order of id, by the primary key. */
export async function readActFacts(
  db: Queryable,
  { afterId, lastId, limit }: { afterId: string; lastId: string; limit: number },
): Promise<ActFacts[]> {
  const { rows } = await db.query<ActFacts>(
    `select id, ${instantText('occurred_at')} as occurred_at,
            side, tenant_id, user_id, actor, action, subject, abbrev(ip) as ip, request_id, reason
       from audit_event
      where id > $1 and id <= $2
      order by id
      limit $3`,
    [afterId, lastId, limit],
  )
  return rows
}
