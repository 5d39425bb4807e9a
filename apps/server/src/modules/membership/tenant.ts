import type { Queryable } from '../../platform/database/queryable.ts'
import { type CompanyId, type OrganizationId, parseNumericId, parseUuid } from '../../platform/identity/identity.ts'
import { lockCompany, requireCompany } from '../directory/company.ts'
import { lockOrganization, requireOrganization } from '../directory/organization.ts'

/** Whom people act for. A company has exactly one owner, an organization at most one; operators have none. */
export type Tenant =
  | { side: 'company'; id: CompanyId }
  | { side: 'organization'; id: OrganizationId }
  | { side: 'operator'; id: null }

export const operator: Tenant = { side: 'operator', id: null }

/** How one text names any tenant: a company's id, an organization's, or 'operator'. */
export function tenantIdOf(tenant: Tenant): string {
  return tenant.id ?? tenant.side
}

/** The tenant that a text names; null where it names none. Whether there is such a company or organization is not looked up. */
export function parseTenantId(text: string): Tenant | null {
  if (text === 'operator') return operator
  const companyId = parseUuid<CompanyId>(text)
  if (companyId !== null) return { side: 'company', id: companyId }
  const organizationId = parseNumericId<OrganizationId>(text)
  return organizationId && { side: 'organization', id: organizationId }
}

/** What people call a tenant. Throws a Problem when there is none. */
export async function nameOfTenant(db: Queryable, tenant: Tenant): Promise<string> {
  if (tenant.side === 'operator') return 'Bridgework'
  const found = tenant.side === 'company' ? requireCompany(db, tenant.id) : requireOrganization(db, tenant.id)
  return (await found).name
}

/** Holds a tenant until the transaction ends, so that changes of its members take turns. */
export async function lockTenant(client: Queryable, tenant: Tenant): Promise<void> {
  if (tenant.side === 'company') await lockCompany(client, tenant.id)
  else if (tenant.side === 'organization') await lockOrganization(client, tenant.id)
  else await lockOperators(client)
}

/** The operator has no row of its own, so every operator's row is held, in one order. */
async function lockOperators(client: Queryable): Promise<void> {
  await client.query(
    `select from membership where tenant_id = 'operator' and removed_at is null order by id for no key update`,
  )
}
