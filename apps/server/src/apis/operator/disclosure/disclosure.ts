import { requireCompany } from '../../../modules/directory/company.ts'
import { requireLocation } from '../../../modules/directory/location.ts'
import { type Disclosure, listDisclosures } from '../../../modules/disclosure/store.ts'
import type { CompanyId, LocationId } from '../../../platform/identity/identity.ts'
import { table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { instant, numericId, optional, uuid, wholeNumber } from '../option.ts'
import { dropMonthCommand } from './disclosure-drop.ts'
import { patient } from './disclosure-patient.ts'
import { key, verify } from './disclosure-verify.ts'

export const disclosure: CommandGroup = {
  help: 'who read what, when',
  commands: {
    list: command({
      help: 'The latest reads, the newest first.',
      act: null,
      options: {
        location: optional('<id>', 'only of this location', numericId<LocationId>),
        company: optional('<id>', 'only by this company', uuid<CompanyId>),
        since: optional('<time>', 'a day like 2026-11-20 or an instant like 2026-11-20T08:00:00Z', instant),
        limit: optional('<number>', 'how many at most (default: 100)', wholeNumber(100_000)),
      },
      run: async ({ pool }, { location: locationId, company: companyId, since, limit = 100 }) => {
        if (locationId !== undefined) await requireLocation(pool, locationId)
        if (companyId !== undefined) await requireCompany(pool, companyId)
        const data = await listDisclosures(pool, {
          ...(locationId === undefined ? {} : { locationId }),
          ...(companyId === undefined ? {} : { companyId }),
          ...(since === undefined ? {} : { since }),
          limit,
        })
        const rows = data.map((each) => [
          each.disclosedAt,
          each.companyId,
          each.locationId,
          each.notes ? `${each.dataset} with notes` : each.dataset,
          recordsOf(each),
          'ids' in each.coverage ? idsOf(each.coverage.ids) : `(${each.coverage.afterId}, ${each.coverage.lastId}]`,
          each.ip,
          each.requestId,
        ])
        return { data, text: table(['at', 'company', 'location', 'dataset', 'records', 'ids', 'ip', 'request'], rows) }
      },
    }),
    patient,
    verify,
    key,
    'drop-month': dropMonthCommand,
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
