import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { requireCompany } from '../directory/company.ts'
import { findDomain } from '../directory/domain.ts'
import { findProfile, type Profile } from '../directory/profile.ts'
import { countOrganizationsOf } from './connection.ts'

/** What a practice sees of a company before it grants it anything. */
export type VendorProfile = Profile & {
  logo: Buffer | null
  /** Proved to be the company's. */
  verifiedDomain: string | null
  verifiedAt: Date | null
  since: Date
  practices: PracticeRange
}

/** Ranges: the exact number is the company's own business. */
const ranges = [
  [500, '500+'],
  [100, '100-499'],
  [20, '20-99'],
  [5, '5-19'],
  [1, '1-4'],
  [0, '0'],
] as const
type PracticeRange = (typeof ranges)[number][1]

/** The profile of a company, for practices and for the company itself. Throws Problem company_unknown. */
export async function vendorProfile(db: Queryable, companyId: CompanyId): Promise<VendorProfile> {
  const [company, profile, domain, practices] = await Promise.all([
    requireCompany(db, companyId),
    findProfile(db, companyId),
    findDomain(db, companyId),
    countOrganizationsOf(db, [companyId]),
  ])
  return {
    ...profile,
    verifiedDomain: domain?.verifiedAt ? domain.domain : null,
    verifiedAt: company.verifiedAt,
    since: company.createdAt,
    practices: rangeOf(practices.get(companyId) ?? 0),
  }
}

/** The range that a number of practices is shown as. */
export function rangeOf(practices: number): PracticeRange {
  return ranges.find(([from]) => practices >= from)?.[1] ?? '0'
}
