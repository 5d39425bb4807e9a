import { requireCompany } from '../../modules/directory/company.ts'
import { requireLocation } from '../../modules/directory/location.ts'
import { type Disclosure, listDisclosures } from '../../modules/disclosure/store.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import { table } from './answer.ts'
import type { Noun } from './command-line.ts'

export const disclosure: Noun = {
  help: 'who read what, when',
  verbs: {
    list: {
      help: 'The latest reads, the newest first.',
      options: {
        location: { value: '<id>', help: 'only of this location' },
        company: { value: '<id>', help: 'only by this company' },
        since: { value: '<time>', help: 'a day like 2026-11-20 or an instant like 2026-11-20T08:00:00Z' },
        limit: { value: '<number>', help: 'how many at most; 100 without it' },
      },
      run: async ({ pool }, given) => {
        const locationId = given.findNumericId<LocationId>('location')
        const companyId = given.findUuid<CompanyId>('company')
        if (locationId !== undefined) await requireLocation(pool, locationId)
        if (companyId !== undefined) await requireCompany(pool, companyId)
        const since = given.instant('since')
        const data = await listDisclosures(pool, {
          ...(locationId === undefined ? {} : { locationId }),
          ...(companyId === undefined ? {} : { companyId }),
          ...(since === undefined ? {} : { since }),
          limit: given.wholeNumber('limit', 100, 100_000),
        })
        const rows = data.map((each) => [
          each.disclosedAt,
          each.companyId,
          each.locationId,
          each.dataset,
          recordsOf(each),
          'ids' in each.coverage ? idsOf(each.coverage.ids) : `(${each.coverage.afterId}, ${each.coverage.lastId}]`,
          each.ip,
          each.requestId,
        ])
        return { data, text: table(['at', 'company', 'location', 'dataset', 'records', 'ids', 'ip', 'request'], rows) }
      },
    },
  },
}

/** `2`, `2 (counted 7)`, `0 (digested 900)`. */
function recordsOf({ records, counted, digested }: Disclosure): string {
  if (digested !== null) return `${records} (digested ${digested})`
  return counted === null ? String(records) : `${records} (counted ${counted})`
}

/** A few ids; the whole list is in the JSON. */
function idsOf(ids: readonly string[]): string {
  return ids.length <= 5 ? ids.join(', ') : `${ids.slice(0, 5).join(', ')} and ${ids.length - 5} more`
}
