import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { lastActId, readSealedActs, type SealedAct } from '../audit/entry.ts'
import { type AuditAction, actInWords, factsOf } from '../audit/in-words.ts'
import { quoted } from '../audit/quoted.ts'
import { settledId } from '../chain/settled.ts'
import { nameOfTenant, operator, parseTenantId, type Tenant } from '../membership/tenant.ts'
import { type ActRule, actRules } from './act-rules.ts'
import { notify } from './notice.ts'

/** Acts in one transaction. */
const actsMax = 500

/** What notices need of the installation. `contact`: where people reach the operator, in words. */
export type NoticeContext = { pool: Pool; publicUrl: string; contact: string; now: () => Date }

/**
 * Makes the notices of the acts that were put on record since the last time, in order, and moves the cursor, in one transaction: a process
 * that dies loses nothing and repeats nothing. One process at a time does it; for the others there is nothing to do. How many acts were read.
 */
export async function noticeActs(context: NoticeContext): Promise<number> {
  return await withTransaction(context.pool, async (client) => {
    // Row lock instead of an advisory one: it is the cursor that must not move twice.
    const { rows } = await client.query<{ last_act_id: string }>(
      'select last_act_id from notice_cursor for update skip locked',
    )
    const afterId = rows[0]?.last_act_id
    if (afterId === undefined || BigInt(await lastActId(client)) <= BigInt(afterId)) return 0
    const lastId = await settledId(client, 'audit_event', lastActId)
    if (lastId === null) return 0
    const acts = await readSealedActs(client, { afterId, lastId, limit: actsMax })
    for (const act of acts) await noticeAct(client, context, act)
    await client.query('update notice_cursor set last_act_id = $1', [acts.at(-1)?.id ?? lastId])
    return acts.length
  })
}

async function noticeAct(client: Queryable, { publicUrl, contact, now }: NoticeContext, act: SealedAct): Promise<void> {
  if (act.side === 'account') return
  // An act that an earlier version of the service knew, or a later one, is no news.
  const action = act.action as AuditAction
  const rules: Partial<Record<Tenant['side'], ActRule>> | null = actRules[action] ?? null
  const rule = rules?.[act.side as Tenant['side']]
  const tenant = act.side === 'operator' ? operator : parseTenantId(act.tenant_id ?? '')
  if (!rule || !tenant) return
  const home = tenant.id === null ? '/operator' : `/${tenant.side}/${tenant.id}`
  const tenantName = quoted(await nameOfTenant(client, tenant))
  const [actor, sentence, facts] = [quoted(act.actor), actInWords(act).what, factsOf(action, act.facts)]
  const because = act.reason === null ? '' : ` Reason: ${quoted(act.reason.replace(/[.\s]*$/, ''))}.`
  // Those of another release are told as the history tells them: they must not hold up what is behind them.
  const notice =
    facts === null
      ? { event: rule.events[0], title: sentence, body: `${actor}: ${sentence}.`, path: home }
      : rule.notice({ facts: facts as never, actor, because, sentence }, { tenantName, contact, home })
  if (notice === null) return
  const exceptUserId = rule.isActorNotified ? null : act.user_id
  await notify(client, { publicUrl, now: now() }, { ...notice, kind: rule.kind, to: rule.to, tenant, exceptUserId })
}
