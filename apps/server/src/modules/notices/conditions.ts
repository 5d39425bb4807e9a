import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import { parseTenantId } from '../membership/tenant.ts'
import { listReadable } from '../overview/readers.ts'
import { type ConditionEvent, type ConditionRule, conditionEvents, conditionRules } from './condition-rules.ts'
import { notify } from './notice.ts'

/** What a check found. `item`: what tells it from others of the same event and tenant; `about`: what it is, in words. */
export type Finding = { event: ConditionEvent; tenantId: string; item: string; about: string }

/** A condition that was not found for this long has ended; one that comes and goes faster has not. */
const quietMs = 30 * 60_000
/** Between two notices of the same event and tenant. What begins or ends meanwhile is in the next one. */
const pauseMs = 60 * 60_000
/** Named in one notice; of more there is the number. */
const namedMax = 10

type Condition = { event: ConditionEvent; tenant_id: string; item: string; about: string; is_ended: boolean }

/** Notes what checks found. Written in the order of their keys, so that two processes at once do not wait for each other. */
export async function noteFindings(db: Queryable, now: Date, findings: readonly Finding[]): Promise<void> {
  if (findings.length === 0) return
  await db.query(
    `insert into notice_condition (event, tenant_id, item, about, seen_at)
     select event, tenant_id, item, about, $2
       from jsonb_to_recordset($1) as found (event text, tenant_id text, item text, about text)
      order by event, tenant_id, item
         on conflict (event, tenant_id, item) do update
        set about = excluded.about, seen_at = excluded.seen_at, ended_at = null`,
    [JSON.stringify(findings.map(({ tenantId, ...finding }) => ({ ...finding, tenant_id: tenantId }))), now],
  )
}

/** Of the conditions of these events, of these tenants, those that have begun and not ended, as their keys. By the primary key. */
export async function listBegun(
  db: Queryable,
  events: readonly ConditionEvent[],
  tenantIds: readonly string[],
  items: readonly string[],
): Promise<Pick<Finding, 'event' | 'tenantId' | 'item'>[]> {
  const { rows } = await db.query(
    `select event, tenant_id as "tenantId", item
       from notice_condition
      where event = any($1::text[]) and tenant_id = any($2::text[]) and item = any($3::text[]) and ended_at is null`,
    [events, tenantIds, items],
  )
  return rows
}

/**
 * Notices each condition once when it has begun and once when it has ended: those of one event and tenant together, and at most once an hour.
 * `checked`: the events whose checks succeeded, and whose findings are noted; what a failed check did not find has not ended. What was seen or
 * noticed further ahead than as long after, was so before the clock went back. Hand down a transaction that holds the notifier's lock.
 */
export async function trackConditions(
  client: Queryable,
  context: { publicUrl: string; now: Date },
  checked: readonly ConditionEvent[],
): Promise<void> {
  const { now } = context
  const before = (ms: number) => new Date(now.getTime() - ms)
  await client.query(
    `update notice_condition set ended_at = $1
      where ended_at is null and seen_at not between $2 and $4 and event = any($3::text[])`,
    [now, before(quietMs), checked, before(-quietMs)],
  )
  // Begun and not noticed, or noticed and ended, where the last notice is long enough ago.
  const { rows } = await client.query<Condition>(
    `select event, tenant_id, item, about, ended_at is not null as is_ended
       from notice_condition c
      where (ended_at is null) = not is_noticed and event = any($2::text[])
        and (event = any($4::text[]) or not exists (select 1 from notice_condition o
                         where o.event = c.event and o.tenant_id = c.tenant_id and o.noticed_at > $1 and o.noticed_at < $3))
      order by event, tenant_id, item`,
    [
      before(pauseMs),
      conditionEvents,
      before(-pauseMs),
      conditionEvents.filter((event) => conditionRules[event].isUrgent),
    ],
  )
  const groups = Map.groupBy(rows, (row) => `${row.event} ${row.tenant_id} ${row.is_ended}`)
  for (const group of groups.values()) await noticeGroup(client, context, group)
  await client.query('delete from notice_condition where ended_at < $1 and not is_noticed', [before(24 * 3_600_000)])
}

async function noticeGroup(
  client: Queryable,
  context: { publicUrl: string; now: Date },
  group: readonly Condition[],
): Promise<void> {
  const [first] = group
  const tenant = first && parseTenantId(first.tenant_id)
  if (!first || !tenant) return
  const { event, tenant_id: tenantId, is_ended: isEnded } = first
  const rule = conditionRules[event]
  const words = isEnded ? rule.ends : rule.begins
  const told = await stillTold(client, rule, group)
  const isTold = words !== null && told.length > 0
  // What began and must not be told waits until it ends, which is not told either.
  const items = (isEnded ? group : told).map(({ item }) => item)
  if (isTold) {
    const home = tenant.id === null ? '/operator' : `/${tenant.side}/${tenant.id}`
    await notify(client, context, {
      ...words(inWords(told), `${context.publicUrl}/guides`),
      event: isEnded ? `${event}_ended` : event,
      kind: rule.kind,
      to: rule.to,
      path: `${home}${rule.path}`,
      tenant,
      ...(rule.isAboutMember && { alsoMembers: items }),
    })
  }
  await client.query(
    `update notice_condition
        set is_noticed = $4, noticed_at = case when $5 then $6 else noticed_at end
      where event = $1 and tenant_id = $2 and item = any($3::text[])`,
    [event, tenantId, items, !isEnded, isTold, context.now],
  )
}

/** Those that may be told at this moment: a grant may have ended since the condition was found. */
async function stillTold(
  client: Queryable,
  { readable }: ConditionRule,
  group: readonly Condition[],
): Promise<readonly Condition[]> {
  if (readable === undefined) return group
  const ids = group.map(({ item }) => item as LocationId)
  const found = await listReadable(client, group[0]?.tenant_id as CompanyId, ids)
  return group.filter(({ item }) => {
    const location = found.get(item as LocationId)
    return location !== undefined && (readable === 'any' || location.isOpen)
  })
}

function inWords(group: readonly Condition[]): string {
  const named = group.slice(0, namedMax).map(({ about }) => about)
  const left = group.length - named.length
  return `${named.join('; ')}${left > 0 ? `; and ${left} more` : ''}`
}
