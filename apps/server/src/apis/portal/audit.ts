import type { Action, AuditEvent } from '@bridgework/contract/portal'
import type { AuditEntry, StoredAuditEntry } from '../../modules/audit/store.ts'
import type { Person } from '../../modules/sign-in/person.ts'
import { type Membership, tenantOf } from './membership.ts'

/** Who does something, and for whom: what a call has after its gates. */
export type Doer = { person: Person; member: Membership; ip: string; requestId: string }

/** The entry for something that a call does, in the history of the tenant that it is done for. */
export function entryOf(call: Doer, action: Action, subject: string | null): AuditEntry {
  const { side, id } = tenantOf(call.member)
  return {
    side,
    tenantId: id,
    userId: call.person.userId,
    actor: actorOf(call),
    action,
    subject,
    ip: call.ip,
    requestId: call.requestId,
  }
}

/** Name and e-mail address of who does something. */
export function actorOf(call: Pick<Doer, 'person'>): string {
  return `${call.person.name} <${call.person.email}>`
}

export function toAuditEvent(entry: StoredAuditEntry): AuditEvent {
  return {
    id: entry.id,
    occurred_at: entry.occurredAt.toISOString(),
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    ip: entry.ip,
    request_id: entry.requestId,
  }
}
