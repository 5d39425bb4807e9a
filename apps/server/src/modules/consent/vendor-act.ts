import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { recordAudit } from '../audit/store.ts'
import { requireOrganization } from '../directory/organization.ts'

/**
 * Puts a practice's change of a vendor's access in the vendor's own history: by the practice, without the person, whose name and address are
 * the practice's. `before` and `after` as `describeAccess` has them. Hand down the transaction of the change.
 */
export async function recordForVendor(
  client: Queryable,
  { companyId, organizationId }: { companyId: CompanyId; organizationId: OrganizationId },
  { before, after }: { before: string; after: string },
): Promise<void> {
  if (after === before) return
  const { name } = await requireOrganization(client, organizationId)
  const subject = `${name}. Before: ${before}. After: ${after}.`
  const action = after === 'nothing' ? 'grant.revoke' : 'grant.change'
  const by = { userId: null, actor: name, ip: null, requestId: null }
  await recordAudit(client, { side: 'company', tenantId: companyId, ...by, action, subject })
}
