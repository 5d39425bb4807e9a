import { datasetNames } from '@bridgework/contract'
import { mayDo, type ReaderEntry } from '@bridgework/contract/portal'
import { summarizeAccess } from '../../../modules/consent/dataset-grant.ts'
import { companiesWithAccess } from '../../../modules/consent/grant.ts'
import { listLocations } from '../../../modules/directory/location.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import { logosOf } from '../../../modules/directory/profile.ts'
import { lastReadsOf, summarizeDisclosureHistory } from '../../../modules/disclosure/history.ts'
import { vendorsOf } from '../../../modules/overview/vendor.ts'
import { toLogoUrl } from '../company/company-profile.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { beginOf } from '../shared/query.ts'
import { dayOf, daysBetween } from './disclosures.ts'

const daysShown = 14

/** Which vendors read a practice's data. */
export const readerHandlers: PortalHandlers<'listReaders'> = {
  listReaders: async ({ pool, now }, { member: { organizationId, role } }) => {
    const [organization, locations, granted] = await Promise.all([
      requireOrganization(pool, organizationId),
      listLocations(pool, organizationId),
      companiesWithAccess(pool, organizationId),
    ])
    const zone = organization.timeZone ?? 'UTC'
    const today = dayOf(now(), zone)
    const days = daysBetween(today.subtract({ days: daysShown - 1 }), today)
    const begins = days.map((day) => beginOf(day, zone))
    const locationIds = locations.map(({ id }) => id)
    const [from = now()] = begins
    const filter = { locationIds, companyId: null, dataset: null, from, until: beginOf(today.add({ days: 1 }), zone) }
    const { days: read, companies } = await summarizeDisclosureHistory(pool, filter, begins)
    const companyIds = [...new Set([...granted, ...companies.map(({ companyId }) => companyId)])]
    const [vendors, access, lastReads, logos] = await Promise.all([
      vendorsOf(pool, companyIds),
      summarizeAccess(pool, locationIds, companyIds),
      lastReadsOf(pool, locationIds, companyIds),
      logosOf(pool, companyIds),
    ])
    const maySeeCounts = mayDo(role, 'disclosure.read', 'organization')
    const data = vendors.map(({ companyId, ...vendor }): ReaderEntry => {
      const own = access.get(companyId)
      const ofDay = new Map(read.filter((each) => each.companyId === companyId).map((each) => [each.day, each.records]))
      return {
        company_id: companyId,
        name: vendor.name,
        logo: toLogoUrl(logos.get(companyId) ?? null),
        is_verified: vendor.verifiedAt !== null,
        has_access: own !== undefined && vendor.state === 'active' && vendor.isAgreementInForce,
        datasets: datasetNames.filter((name) => own?.datasets.includes(name)),
        locations: own?.locations ?? 0,
        granted_at: own?.grantedAt.toISOString() ?? null,
        ends_at: own?.endsAt?.toISOString() ?? null,
        last_read_at: lastReads.get(companyId)?.toISOString() ?? null,
        records: maySeeCounts ? days.map((_, day) => ofDay.get(day) ?? 0) : null,
      }
    })
    const lastReadMs = ({ last_read_at: at }: ReaderEntry) => (at === null ? 0 : Date.parse(at))
    return {
      data: data.sort((one, other) => lastReadMs(other) - lastReadMs(one)),
      days: days.map((day) => day.toString()),
    }
  },
}
