import type { CompanyProfilePage, VendorProfile } from '@bridgework/contract/portal'
import { recordAudit } from '../../../modules/audit/store.ts'
import { lockCompany } from '../../../modules/directory/company.ts'
import { checkDomain, findDomain } from '../../../modules/directory/domain.ts'
import { dnsNameOf, filePath } from '../../../modules/directory/domain-proof.ts'
import { readLogo } from '../../../modules/directory/logo.ts'
import { saveLogo, saveProfile } from '../../../modules/directory/profile.ts'
import { vendorProfile } from '../../../modules/overview/vendor-profile.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'

/** What a company says of itself, its logo, and the proof of its website. */
export const companyProfileHandlers: PortalHandlers<
  'getCompanyProfile' | 'updateCompanyProfile' | 'setCompanyLogo' | 'deleteCompanyLogo' | 'checkCompanyDomain'
> = {
  getCompanyProfile: ({ pool }, { member }) => profilePage(pool, member.companyId),

  updateCompanyProfile: async ({ pool }, call) => {
    const { companyId } = call.member
    const { legal_name: legalName, postal_address: postalAddress, website, contact, purpose } = call.body
    await withTransaction(pool, async (client) => {
      await lockCompany(client, companyId)
      const saved = await saveProfile(client, companyId, { legalName, postalAddress, website, contact, purpose })
      await recordAudit(client, entryOf(call, 'company.update', saved))
    })
    return await profilePage(pool, companyId)
  },

  setCompanyLogo: async ({ pool }, call) => {
    const logo = readLogo(Buffer.from(call.body.png, 'base64'))
    await withTransaction(pool, async (client) => {
      await lockCompany(client, call.member.companyId)
      await saveLogo(client, call.member.companyId, logo)
      await recordAudit(client, entryOf(call, 'company.update', { hasLogo: true }))
    })
    return { done: true }
  },

  deleteCompanyLogo: async ({ pool }, call) => {
    await withTransaction(pool, async (client) => {
      await lockCompany(client, call.member.companyId)
      await saveLogo(client, call.member.companyId, null)
      await recordAudit(client, entryOf(call, 'company.update', { hasLogo: false }))
    })
    return { done: true }
  },

  checkCompanyDomain: async ({ pool, proofAccess, now }, call) => {
    const { companyId } = call.member
    await checkDomain({ pool, access: proofAccess, now }, companyId, async (client, { domain, method }) => {
      await recordAudit(client, entryOf(call, 'company.domain_check', { domain, method }))
    })
    return await profilePage(pool, companyId)
  },
}

/** A logo inside the answer, so that no address of the service serves bytes that a customer sent. */
export function toLogoUrl(logo: Buffer | null): string | null {
  return logo && `data:image/png;base64,${logo.toString('base64')}`
}

/** The profile of a company as it is answered. */
export async function toVendorProfile(db: Queryable, companyId: CompanyId): Promise<VendorProfile> {
  const profile = await vendorProfile(db, companyId)
  return {
    legal_name: profile.legalName,
    postal_address: profile.postalAddress,
    website: profile.website,
    contact: profile.contact,
    purpose: profile.purpose,
    logo: toLogoUrl(profile.logo),
    verified_domain: profile.verifiedDomain,
    verified_at: profile.verifiedAt?.toISOString() ?? null,
    since: profile.since.toISOString(),
    practices: profile.practices,
  }
}

async function profilePage(db: Queryable, companyId: CompanyId): Promise<CompanyProfilePage> {
  const [profile, domain] = await Promise.all([toVendorProfile(db, companyId), findDomain(db, companyId)])
  return {
    profile,
    domain: domain && {
      domain: domain.domain,
      token: domain.token,
      dns_name: dnsNameOf(domain.domain),
      file_url: `https://${domain.domain}${filePath}`,
      method: domain.method,
      verified_at: domain.verifiedAt?.toISOString() ?? null,
      checked_at: domain.checkedAt?.toISOString() ?? null,
      dns_failure: domain.dnsFailure,
      file_failure: domain.fileFailure,
    },
  }
}
