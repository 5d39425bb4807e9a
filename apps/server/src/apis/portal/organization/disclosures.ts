import {
  csvLine,
  type DisclosureEntry,
  type DisclosureGroup,
  type DisclosureSummary,
} from '@bridgework/contract/portal'
import type { Pool } from 'pg'
import { clientIdsOf } from '../../../modules/credentials/key-pair.ts'
import { companyNames } from '../../../modules/directory/company.ts'
import { type Location, listLocations } from '../../../modules/directory/location.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import {
  type DisclosedPart,
  type DisclosureFilter,
  firstDisclosedAt,
  groupDisclosureHistory,
  type ListedDisclosure,
  listDisclosureHistory,
  summarizeDisclosureHistory,
} from '../../../modules/disclosure/history.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import type { Call, PortalContext, PortalHandlers } from '../shared/context.ts'
import { sendCsv } from '../shared/csv.ts'
import { beginOf, readBefore, readCompanyId, readDays, readText } from '../shared/query.ts'

const pageSize = 50
/** Each may have 5,000 ids. */
const exportBatch = 500
const exportMax = 1_000_000
/** A summary's days: six years, which is how long an accounting of disclosures must go back. */
const daysMax = 6 * 366
/** Of a page of reads by day. */
const daysShown = 7
const locationsNamed = 3

/** Who read what of a practice, and when. */
export const disclosureHandlers: PortalHandlers<
  'listDisclosures' | 'listDisclosureDays' | 'summarizeDisclosures' | 'exportDisclosures'
> = {
  listDisclosures: async (context, call) => {
    const { pool } = context
    const { filter, locations } = await readFilter(context, call)
    const before = readBefore(call.query)
    const found = await listDisclosureHistory(pool, filter, { before, limit: pageSize + 1 })
    const data = await toEntries(pool, locations, found.slice(0, pageSize))
    return { data, next_before: found.length > pageSize ? (data.at(-1)?.id ?? null) : null }
  },

  listDisclosureDays: async (context, call) => {
    const { pool } = context
    const { filter, locations, zone } = await readFilter(context, call)
    const newestBefore = async (until: Date) => {
      const [newest] = await listDisclosureHistory(pool, { ...filter, until }, { before: null, limit: 1 })
      return newest ? dayOf(newest.disclosedAt, zone) : null
    }
    const today = dayOf(context.now(), zone).toString()
    const last = await newestBefore(filter.until)
    if (last === null) return { data: [], today, next_to: null }
    const days = daysBetween(last.subtract({ days: daysShown - 1 }), last)
    const [begin = filter.from] = days.map((day) => beginOf(day, zone))
    const from = new Date(Math.max(begin.getTime(), filter.from.getTime()))
    const [parts, next] = await Promise.all([
      groupDisclosureHistory(
        pool,
        { ...filter, from },
        days.map((day) => beginOf(day, zone)),
      ),
      newestBefore(from),
    ])
    const names = await companyNames(pool, [...new Set(parts.map(({ companyId }) => companyId))])
    const groups = Map.groupBy(parts, ({ day, companyId }) => `${day} ${companyId}`)
    const data = [...groups.values()].map((own) => toGroup(own, { days, names, locations }))
    return { data, today, next_to: next?.toString() ?? null }
  },

  summarizeDisclosures: async (context, call) => {
    const { pool } = context
    const { filter, zone, lastDay } = await readFilter(context, call)
    const first = await firstDisclosedAt(pool, filter.locationIds)
    const firstAt = new Date(Math.max(filter.from.getTime(), first?.getTime() ?? context.now().getTime()))
    const days = daysBetween(later(dayOf(firstAt, zone), lastDay.subtract({ days: daysMax - 1 })), lastDay)
    const summary = await summarizeDisclosureHistory(
      pool,
      filter,
      days.map((day) => beginOf(day, zone)),
    )
    const names = await companyNames(
      pool,
      summary.companies.map(({ companyId }) => companyId),
    )
    const total = (of: 'reads' | 'records') => summary.companies.reduce((sum, each) => sum + each[of], 0)
    return {
      total_reads: total('reads'),
      total_records: total('records'),
      days: summary.days.map(({ day, companyId, ...rest }) => ({
        day: days[day]?.toString() ?? '',
        company_id: companyId,
        ...rest,
      })),
      vendors: summary.companies.map(({ companyId, reads, records }) => ({
        company_id: companyId,
        name: names.get(companyId) ?? companyId,
        reads,
        records,
      })),
    } satisfies DisclosureSummary
  },

  exportDisclosures: async (context, call) => {
    const { filter, locations } = await readFilter(context, call)
    const parts = disclosureCsv(context.pool, filter, locations, exportMax)
    return sendCsv(call, `disclosures-${call.member.organizationId}`, parts)
  },
}

/**
 * The disclosures as CSV, newest first, read as fast as the reader takes them and never more than a batch at a time. A last line says so when
 * there are more than `rowsMax`.
 */
export async function* disclosureCsv(
  pool: Pool,
  filter: DisclosureFilter,
  locations: readonly Location[],
  rowsMax: number,
): AsyncGenerator<string> {
  yield csvLine([...csvColumns, 'record_ids'])
  let before: string | null = null
  for (let rows = 0; ; ) {
    const found = await listDisclosureHistory(pool, filter, {
      before,
      limit: Math.min(exportBatch, rowsMax + 1 - rows),
      withCovered: true,
    })
    const listed = found.slice(0, rowsMax - rows)
    const entries = await toEntries(pool, locations, listed)
    const lines = entries.map((entry, at) =>
      csvLine([...csvColumns.map((column) => cellOf(entry[column])), listed[at]?.covered ?? '']),
    )
    yield lines.join('')
    rows += found.length
    if (rows > rowsMax) yield csvLine([`The list goes on: this file ends after ${rowsMax} rows. Choose fewer days.`])
    if (rows > rowsMax || found.length < exportBatch) return
    before = found.at(-1)?.id ?? null
  }
}

const csvColumns = [
  'disclosed_at',
  'company_name',
  'company_id',
  'location_name',
  'location_id',
  'dataset',
  'records',
  'counted',
  'digested',
  'filters',
  'client_id',
  'request_id',
  'ip',
  'id',
  'notes',
] as const satisfies (keyof DisclosureEntry)[]

function cellOf(value: string | number | boolean | string[] | null): string | number {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(' ') : (value ?? '')
}

async function toEntries(
  pool: Pool,
  locations: readonly Location[],
  found: readonly ListedDisclosure[],
): Promise<DisclosureEntry[]> {
  const [companies, clients] = await Promise.all([
    companyNames(pool, [...new Set(found.map(({ companyId }) => companyId))]),
    clientIdsOf(pool, [...new Set(found.map(({ keyPairId }) => keyPairId))]),
  ])
  const places = new Map(locations.map(({ id, name }) => [id, name]))
  return found.map((each) => ({
    id: each.id,
    disclosed_at: each.disclosedAt.toISOString(),
    company_id: each.companyId,
    company_name: companies.get(each.companyId) ?? '',
    location_id: each.locationId,
    location_name: places.get(each.locationId) ?? '',
    dataset: each.dataset,
    notes: each.notes,
    records: each.records,
    counted: each.counted,
    digested: each.digested,
    filters: Object.keys(each.filters),
    client_id: clients.get(each.keyPairId) ?? '',
    request_id: each.requestId,
    ip: each.ip,
  }))
}

/** One vendor's day. `parts`: by dataset, and by location. */
function toGroup(
  parts: readonly DisclosedPart[],
  {
    days,
    names,
    locations,
  }: {
    days: readonly Temporal.PlainDate[]
    names: ReadonlyMap<CompanyId, string>
    locations: readonly Location[]
  },
): DisclosureGroup {
  const [first] = parts
  if (!first) throw new Error('a day without a read')
  const byDataset = parts.flatMap(({ dataset, ...part }) => (dataset === null ? [] : [{ dataset, ...part }]))
  const byLocation = parts.filter(({ locationId }) => locationId !== null)
  const sum = (of: 'reads' | 'records') => byDataset.reduce((total, each) => total + each[of], 0)
  return {
    day: days[first.day]?.toString() ?? '',
    company_id: first.companyId,
    company_name: names.get(first.companyId) ?? '',
    reads: sum('reads'),
    records: sum('records'),
    last_at: new Date(Math.max(...byDataset.map(({ lastAt }) => lastAt.getTime()))).toISOString(),
    datasets: byDataset
      .map(({ dataset, reads, records }) => ({ dataset, reads, records }))
      .sort((one, other) => other.records - one.records),
    locations: {
      count: byLocation.length,
      names: byLocation.slice(0, locationsNamed).flatMap((part) => {
        const found = locations.find(({ id }) => id === part.locationId)
        return found ? [found.name] : []
      }),
    },
  }
}

type FilteredCall = Pick<Call<'listDisclosures'>, 'member' | 'query'>

/** What the query asks for, of the organization's own locations; the id of another location finds nothing. Throws Problem parameter_invalid. */
async function readFilter({ pool, now }: PortalContext, { member, query }: FilteredCall) {
  const { organizationId } = member
  const [organization, locations] = await Promise.all([
    requireOrganization(pool, organizationId),
    listLocations(pool, organizationId),
  ])
  const locationId = readText(query, 'location_id')
  const chosen = locationId === null ? locations : locations.filter(({ id }) => id === locationId)
  const zone = organization.timeZone ?? 'UTC'
  const { from, to } = readDays(query)
  // Nothing was disclosed on the days to come.
  const lastDay = earlier(to ?? dayOf(now(), zone), dayOf(now(), zone))
  const filter: DisclosureFilter = {
    locationIds: chosen.map(({ id }) => id),
    companyId: readCompanyId(query),
    dataset: readText(query, 'dataset'),
    from: from ? beginOf(from, zone) : new Date(0),
    until: beginOf(lastDay.add({ days: 1 }), zone),
  }
  return { filter, locations, zone, lastDay }
}

export function dayOf(instant: Date, zone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone).toPlainDate()
}

/** None when the first is later than the last. */
export function daysBetween(first: Temporal.PlainDate, last: Temporal.PlainDate): Temporal.PlainDate[] {
  const { days: count } = first.until(last, { largestUnit: 'days' })
  return Array.from({ length: Math.max(count + 1, 0) }, (_, days) => first.add({ days }))
}

function earlier(left: Temporal.PlainDate, right: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(left, right) <= 0 ? left : right
}

function later(left: Temporal.PlainDate, right: Temporal.PlainDate): Temporal.PlainDate {
  return earlier(left, right) === left ? right : left
}
