import type { Queryable } from '../../platform/database/queryable.ts'
import { type AuditEntry, recordAudit } from './store.ts'

/** Whose history has an act of the operator beside the operator's own. */
export type Concerned = { side: 'company' | 'organization'; id: string }

/** Puts an act of the operator on record, and in the history of the company or the organization that it concerns. Hand down its transaction. */
export async function recordOperatorAct(
  db: Queryable,
  act: Omit<AuditEntry, 'side' | 'tenantId'>,
  concerned?: Concerned,
): Promise<void> {
  await recordAudit(db, { ...act, side: 'operator', tenantId: null })
  if (concerned) await recordAudit(db, { ...act, side: concerned.side, tenantId: concerned.id })
}
