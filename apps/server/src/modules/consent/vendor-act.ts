import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { recordAudit } from '../audit/store.ts'
import { about } from '../audit/subject.ts'
import { requireOrganization } from '../directory/organization.ts'
import { describeAccess, describeChange } from './access-text.ts'
import type { AccessChange } from './grant.ts'

/**
 * Puts a practice's change of a vendor's access in the vendor's own history: by the practice, without the person, whose name and address are
 * the practice's. A change of the purpose alone is the practice's own. Hand down the transaction of the change.
 */
export async function recordForVendor(
  client: Queryable,
  { companyId, organizationId }: { companyId: CompanyId; organizationId: OrganizationId },
  change: AccessChange,
  locations: readonly { id: LocationId; name: string }[],
): Promise<void> {
  const [before, after] = [describeAccess(change.before, locations), describeAccess(change.after, locations)]
  if (after.stored === before.stored) return
  const { name } = await requireOrganization(client, organizationId)
  const subject = about`your company. ${describeChange(change, locations)}`
  const action = change.after.length === 0 ? 'grant.revoke' : 'grant.change'
  const by = { userId: null, actor: name, ip: null, requestId: null }
  await recordAudit(client, { side: 'company', tenantId: companyId, ...by, action, subject })
}
