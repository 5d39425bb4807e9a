import { type AuditEntry, listAuditHistory } from '../../modules/audit/store.ts'
import { csvLine } from '../../modules/disclosure/csv.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { toAuditEvent } from './audit.ts'

const batch = 2_000
const columns = ['occurred_at', 'actor', 'action', 'subject', 'reason', 'ip', 'request_id', 'id'] as const

/** A history as CSV, newest first, read as fast as the reader takes it and never more than a batch at a time. */
export async function* historyCsv(
  db: Queryable,
  of: Pick<AuditEntry, 'side' | 'tenantId'> & { search: string },
): AsyncGenerator<string> {
  yield csvLine(columns)
  for (let before: string | null = null; ; ) {
    const entries = await listAuditHistory(db, { ...of, before, limit: batch })
    const events = entries.map(toAuditEvent)
    yield events.map((event) => csvLine(columns.map((column) => event[column] ?? ''))).join('')
    if (entries.length < batch) return
    before = entries.at(-1)?.id ?? null
  }
}
