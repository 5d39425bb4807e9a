import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { inForce } from '../consent/in-force.ts'
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
 * granted access: active, with the agreement in force, and in production verified by the operator. `search` looks in the name and in the domain that
 * the company proved, and takes an id. `shown` verified: in place of these, all that the operator verified, could be granted access, and have none.
 */
export async function listVendors(
  db: Queryable,
  organizationId: OrganizationId,
  page: { search: string; limit: number; offset: number; onlyVerified: boolean; shown?: 'known' | 'verified' },
): Promise<{ total: number; vendors: Vendor[] }> {
  const found = page.search === '' ? hadGrant : `(${hadGrant} or ${mayBeLetIn(page)})`
  const known = page.shown === 'verified' ? `${mayBeLetIn({ onlyVerified: true })} and not ${hasGrant}` : found
  const { total, rows } = await queryPage<VendorRow>(
    db,
    `select ${columns}
       from company c
      where ${known}
        and (c.name ilike $2 or c.id::text = lower($3)
             or exists (select 1 from company_domain d where d.company_id = c.id and d.verified_at is not null and d.domain ilike $2))`,
    'lower(name), id',
    page,
    [organizationId, containing(page.search), page.search],
  )
  return { total, vendors: rows.map(toVendor) }
}

/** These companies, by name: for a practice that granted them something, or whose data they read. */
export async function vendorsOf(db: Queryable, companyIds: readonly CompanyId[]): Promise<Vendor[]> {
  const { rows } = await db.query<VendorRow>(
    `select ${columns} from company c where c.id = any($1::uuid[]) order by lower(c.name), c.id`,
    [companyIds],
  )
  return rows.map(toVendor)
}

/** A company that the practice may see: it has or had a grant, or could be let in. Null for any other. */
export async function findVendor(
  db: Queryable,
  organizationId: OrganizationId,
  companyId: CompanyId,
  options: { onlyVerified: boolean },
): Promise<Vendor | null> {
  const { rows } = await db.query<VendorRow>(
    `select ${columns} from company c where (${hadGrant} or ${mayBeLetIn(options)}) and c.id = $2`,
    [organizationId, companyId],
  )
  return rows[0] ? toVendor(rows[0]) : null
}

const columns = `c.id, c.name, c.state, c.verified_at, ${agreementAccepted('c.id')} as agreement_in_force,
  (select d.domain from company_domain d where d.company_id = c.id and d.verified_at is not null) as verified_domain`
const hadGrant = 'exists (select 1 from access_grant g where g.organization_id = $1 and g.company_id = c.id)'
const hasGrant = `exists (select 1 from access_grant g where g.organization_id = $1 and g.company_id = c.id and ${inForce('g')})`
const mayBeLetIn = ({ onlyVerified }: { onlyVerified: boolean }) =>
  `(c.state = 'active' and ${agreementAccepted('c.id')} ${onlyVerified ? 'and c.verified_at is not null' : ''})`

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
