import type { Queryable } from '../../platform/database/queryable.ts'
import type { AuditAction } from './in-words.ts'
import { type AuditEntry, recordAudit } from './store.ts'

/** Whose history has an act of the operator beside the operator's own. */
export type Concerned = { side: 'company' | 'organization' | 'account'; id: string }

/** Puts an act of the operator on record, and in the history of each company, organization and account that it concerns. Hand down its transaction. */
export async function recordOperatorAct<Action extends AuditAction>(
  db: Queryable,
  act: Omit<AuditEntry<Action>, 'side' | 'tenantId'>,
  ...concerned: readonly (Concerned | undefined)[]
): Promise<void> {
  await recordAudit(db, { ...act, side: 'operator', tenantId: null })
  for (const each of concerned) {
    if (!each) continue
    const { side, id } = each
    // The operator's network address is not the person's to see.
    const ofAccount = { ...act, side: 'account', tenantId: null, userId: id, ip: null } as const
    await recordAudit(db, side === 'account' ? ofAccount : { ...act, side, tenantId: id })
  }
}
