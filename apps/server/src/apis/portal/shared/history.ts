import { type AuditEvent, type AuditKind, auditKinds, csvLine, type Listed } from '@bridgework/contract/portal'
import { actionsOf } from '../../../modules/audit/in-words.ts'
import { type AuditFilter, listAudit, listAuditHistory } from '../../../modules/audit/store.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { toAuditEvent } from './audit.ts'
import type { Call, PortalContext, PortalHandlers } from './context.ts'
import { sendCsv } from './csv.ts'
import { readListPage, toListed } from './list.ts'
import { tenantOf } from './membership.ts'
import { readChoice, readPeriod, readSearch } from './query.ts'

type ListName = 'listCompanyEvents' | 'listOrganizationEvents' | 'listOperatorEvents'
type ExportName = 'exportCompanyEvents' | 'exportOrganizationEvents' | 'exportOperatorEvents'

/** Who did what for a company, for a practice and for the operator. */
export const historyHandlers: PortalHandlers<ListName | ExportName> = {
  listCompanyEvents: list,
  listOrganizationEvents: list,
  listOperatorEvents: list,
  exportCompanyEvents: exportCsv,
  exportOrganizationEvents: exportCsv,
  exportOperatorEvents: exportCsv,
}

async function list({ pool }: PortalContext, call: Call<ListName>): Promise<Listed<AuditEvent>> {
  const page = readListPage(call.query)
  const { total, entries } = await listAudit(pool, await readFilter(pool, call), page)
  return toListed(page, total, entries.map(toAuditEvent))
}

async function exportCsv({ pool }: PortalContext, call: Call<ExportName>): Promise<string> {
  const filter = await readFilter(pool, call)
  return sendCsv(call, `history-${filter.tenantId ?? filter.side}`, historyCsv(pool, filter))
}

/** What the query asks for, in days of the practice's own zone; those of others are UTC. Throws Problem parameter_invalid. */
async function readFilter(db: Queryable, { member, query }: Call<ListName | ExportName>): Promise<AuditFilter> {
  const { side, id } = tenantOf(member)
  const kind = readChoice(query, 'kind', Object.keys(auditKinds) as AuditKind[])
  const zone = member.side === 'organization' ? (await requireOrganization(db, member.organizationId)).timeZone : null
  return {
    side,
    tenantId: id,
    search: readSearch(query),
    person: readSearch(query, 'person'),
    actions: kind && actionsOf(kind),
    ...readPeriod(query, zone ?? 'UTC'),
  }
}

const batch = 2_000
const columns = ['occurred_at', 'actor', 'what', 'details', 'reason', 'ip', 'request_id', 'id'] as const

/** A history as CSV, newest first, read as fast as the reader takes it and never more than a batch at a time. */
async function* historyCsv(db: Queryable, filter: AuditFilter): AsyncGenerator<string> {
  yield csvLine(columns)
  for (let before: string | null = null; ; ) {
    const entries = await listAuditHistory(db, filter, { before, limit: batch })
    const events = entries.map(toAuditEvent)
    yield events.map((event) => csvLine(columns.map((column) => event[column] ?? ''))).join('')
    if (entries.length < batch) return
    before = entries.at(-1)?.id ?? null
  }
}
