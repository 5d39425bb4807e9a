import { type AuditEvent, needsReason } from '@bridgework/contract/portal'
import { type AuditAction, actInWords, type FactsOf } from '../../../modules/audit/in-words.ts'
import { type Concerned, recordOperatorAct } from '../../../modules/audit/operator-act.ts'
import type { AuditEntry, StoredAuditEntry } from '../../../modules/audit/store.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type Membership, tenantOf } from './membership.ts'

/** Who does something, and for whom: what a call has after its gates. */
export type Doer = { person: Person; member: Membership; ip: string; requestId: string; body?: unknown }

/** The entry for something that a call does, in the history of the tenant that it is done for. */
export function entryOf<Action extends AuditAction>(
  call: Doer,
  action: Action,
  facts: FactsOf<Action>,
): AuditEntry<Action> {
  const { side, id } = tenantOf(call.member)
  return {
    side,
    tenantId: id,
    userId: call.person.userId,
    actor: actorOf(call),
    action,
    facts,
    reason: reasonOf(call),
    ip: call.ip,
    requestId: call.requestId,
  }
}

/** Puts what an operator does on record, also in the history of each company, organization and account that it concerns. */
export async function recordOperation<Action extends AuditAction>(
  db: Queryable,
  call: Doer,
  action: Action,
  facts: FactsOf<Action>,
  ...concerned: readonly (Concerned | undefined)[]
): Promise<void> {
  await recordOperatorAct(db, entryOf(call, action, facts), ...concerned)
}

/** Throws Problem field_invalid when the person's role gives a reason for every act, and this one has none. */
export function requireReason(call: Doer): void {
  if (needsReason(call.member.role)) requireReasonFor(call, 'Support gives a reason for every act.')
}

/** The same for an act that needs a reason of everyone. `ask`: what to do, as a sentence. */
export function requireReasonFor(call: Pick<Doer, 'body'>, ask: string): void {
  if (reasonOf(call) === null) throw new Problem('field_invalid', { errors: `reason is missing. ${ask}` })
}

function reasonOf({ body }: Pick<Doer, 'body'>): string | null {
  const reason = typeof body === 'object' && body !== null && 'reason' in body ? body.reason : null
  return typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : null
}

/** Name and e-mail address of who does something. */
export function actorOf(call: Pick<Doer, 'person'>): string {
  return `${call.person.name} <${call.person.email}>`
}

/** An entry in words, as pages and files have it. */
export function toAuditEvent(entry: StoredAuditEntry): AuditEvent {
  return {
    id: entry.id,
    occurred_at: entry.occurredAt.toISOString(),
    actor: entry.actor,
    action: entry.action,
    ...actInWords(entry),
    reason: entry.reason ?? null,
    ip: entry.ip,
    request_id: entry.requestId,
  }
}
