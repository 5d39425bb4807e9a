import { isDeepStrictEqual } from 'node:util'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import type { FactsOf } from '../audit/in-words.ts'
import { recordAudit } from '../audit/store.ts'
import { requireCompany } from '../directory/company.ts'
import { listLocations } from '../directory/location.ts'
import { requireOrganization } from '../directory/organization.ts'
import { changeFacts } from './access-facts.ts'
import type { AccessChange } from './grant.ts'

/**
 * Puts a practice's change of a vendor's access on record: `record` puts it in the practice's history, this in the vendor's own, by the practice,
 * without the person, whose name and address are the practice's. A change of the purpose or the end alone is the practice's own. Hand down the
 * transaction of the change. `isRequested`: it answers a request of the vendor.
 */
export async function recordAccessChange(
  client: Queryable,
  { companyId, organizationId }: { companyId: CompanyId; organizationId: OrganizationId },
  change: AccessChange,
  record: (facts: FactsOf<'grant.change'>) => Promise<void>,
  { isRequested = false } = {},
): Promise<void> {
  const facts = { ...changeFacts(change, await listLocations(client, organizationId)), isRequested }
  const { name } = await requireCompany(client, companyId)
  await record({ ...facts, vendor: { id: companyId, name } })
  if (isDeepStrictEqual(facts.before, facts.after) && !isRequested) return
  const practice = await requireOrganization(client, organizationId)
  const by = { userId: null, actor: practice.name, ip: null, requestId: null }
  const action = change.after.length === 0 ? 'grant.revoke' : 'grant.change'
  await recordAudit(client, { side: 'company', tenantId: companyId, ...by, action, facts })
}
