import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { agreementAccepted } from '../credentials/agreement.ts'

/** A company as a practice sees it. */
export type Vendor = {
  companyId: CompanyId
  name: string
  state: 'active' | 'suspended' | 'closed'
  isAgreementInForce: boolean
  /** When the operator verified it; null: not yet. */
  verifiedAt: Date | null
  /** The domain of its website, where it proved that. */
  verifiedDomain: string | null
}

/**
 * A page of the companies that have or had a grant of the organization, by name; with a `search`, also of every other one that could be
 * let in: active, and with the agreement in force.
 */
export async function listVendors(
  db: Queryable,
  organizationId: OrganizationId,
  page: { search: string; limit: number; offset: number },
): Promise<{ total: number; vendors: Vendor[] }> {
  const known = page.search === '' ? hadGrant : `(${hadGrant} or ${mayBeLetIn})`
  const { total, rows } = await queryPage<VendorRow>(
    db,
    `select ${columns} from company c where ${known} and c.name ilike $2`,
    'lower(name), id',
    page,
    [organizationId, containing(page.search)],
  )
  return { total, vendors: rows.map(toVendor) }
}

/** A company that the practice may see: it has or had a grant, or could be let in. Null for any other. */
export async function findVendor(
  db: Queryable,
  organizationId: OrganizationId,
  companyId: CompanyId,
): Promise<Vendor | null> {
  const { rows } = await db.query<VendorRow>(
    `select ${columns} from company c where (${hadGrant} or ${mayBeLetIn}) and c.id = $2`,
    [organizationId, companyId],
  )
  return rows[0] ? toVendor(rows[0]) : null
}

const columns = `c.id, c.name, c.state, c.verified_at, ${agreementAccepted('c.id')} as agreement_in_force,
  (select d.domain from company_domain d where d.company_id = c.id and d.verified_at is not null) as verified_domain`
const hadGrant = 'exists (select from access_grant g where g.organization_id = $1 and g.company_id = c.id)'
const mayBeLetIn = `(c.state = 'active' and ${agreementAccepted('c.id')})`

type VendorRow = {
  id: CompanyId
  name: string
  state: Vendor['state']
  agreement_in_force: boolean
  verified_at: Date | null
  verified_domain: string | null
}

function toVendor(row: VendorRow): Vendor {
  return {
    companyId: row.id,
    name: row.name,
    state: row.state,
    isAgreementInForce: row.agreement_in_force,
    verifiedAt: row.verified_at,
    verifiedDomain: row.verified_domain,
  }
}
