import { requireCompany } from '../../../modules/directory/company.ts'
import { nameOfTenant, parseTenantId } from '../../../modules/membership/tenant.ts'
import { findByText } from '../../../modules/overview/find.ts'
import { beginSupportView, supportViewMinutes } from '../../../modules/sign-in/support-view.ts'
import { findRequest } from '../../../modules/usage/request-log.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { toLoggedRequests } from '../company/usage.ts'
import { recordOperation, requireReasonFor } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { readSearch } from '../shared/query.ts'

/** How operators find what somebody asks about, and look at it as those see it. */
export const supportHandlers: PortalHandlers<'findAnything' | 'beginSupportView'> = {
  findAnything: async ({ pool }, { query }) => {
    const text = readSearch(query)
    const [data, found] = await Promise.all([findByText(pool, text), findRequest(pool, text.toLowerCase())])
    const [logged] = found ? await toLoggedRequests(pool, [found]) : []
    if (!found || !logged) return { data, request: null }
    const { id, name } = await requireCompany(pool, found.companyId)
    return { data, request: { ...logged, company_id: id, company_name: name } }
  },

  beginSupportView: async ({ pool, now }, call) => {
    requireReasonFor(call, 'Say why you look at these pages. The company or practice sees it.')
    const tenant = parseTenantId(call.body.tenant_id)
    if (tenant === null || tenant.side === 'operator') throw new Problem('not_found')
    const endsAt = new Date(now().getTime() + supportViewMinutes * 60_000)
    await withTransaction(pool, async (client) => {
      const viewed = { id: tenant.id, name: await nameOfTenant(client, tenant) }
      await beginSupportView(client, call.person.sessionId, { tenant, endsAt })
      const facts = { viewed, minutes: supportViewMinutes }
      await recordOperation(client, call, 'operator.support_view', facts, tenant)
    })
    return { ends_at: endsAt.toISOString() }
  },
}
