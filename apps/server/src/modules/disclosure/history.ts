import type { DatasetName } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import type { Disclosure, DisclosureRow } from './store.ts'

/** Which disclosures a practice asks for: of its own locations, `from` included and `until` not. */
export type DisclosureFilter = {
  locationIds: readonly LocationId[]
  companyId: CompanyId | null
  dataset: string | null
  from: Date
  until: Date
}

/** What was disclosed to a company on a day, counted from 0 at the first of the days that were asked for. */
export type DisclosedOnDay = { day: number; companyId: CompanyId; reads: number; records: number }

export type DisclosedToCompany = { companyId: CompanyId; reads: number; records: number }

/** `covered`: `(0,5000]`, or ids with spaces between them; '' where it was not asked for. */
export type ListedDisclosure = Omit<Disclosure, 'coverage'> & { covered: string }

/**
 * The latest disclosures, newest first; `before`: the id of the last one that was seen. Each location's are read from their end by
 * disclosure_of_location, or by disclosure_of_location_by_company, so a page costs the same however many there are.
 */
export async function listDisclosureHistory(
  db: Queryable,
  filter: DisclosureFilter,
  { before, limit, withCovered = false }: { before: string | null; limit: number; withCovered?: boolean },
): Promise<ListedDisclosure[]> {
  const { values, conditions } = selection(filter)
  if (before !== null) {
    values.push(before)
    // Of the practice's own alone: the place of another's tells nothing.
    const seen = `(select disclosed_at, id from disclosure where id = $${values.length} and location_id = any($1::bigint[]))`
    conditions.push(`(d.disclosed_at, d.id) < ${seen}`)
  }
  values.push(limit)
  const { rows } = await db.query<RowOf<ListedDisclosure>>(
    `select found.*
       from unnest($1::bigint[]) as own (location_id)
      cross join lateral (
            select ${listedColumns}, ${withCovered ? coveredText : "''"} as covered
              from disclosure d
             where d.location_id = own.location_id and ${conditions.join(' and ')}
             order by d.disclosed_at desc, d.id desc
             limit $${values.length}) found
      order by found.disclosed_at desc, found.id desc
      limit $${values.length}`,
    values,
  )
  return rows.map(fromRow<ListedDisclosure>)
}

const listedColumns = `id, disclosed_at, company_id, key_pair_id, location_id, dataset, notes, filters, records, counted, digested, request_id,
                   host(ip) as ip`
/** As text: an array of 5,000 ids for each of a batch would take much memory. */
const coveredText = `case when record_ids is null then format('(%s,%s]', after_id, last_id) else array_to_string(record_ids, ' ') end`

/** What a disclosure was about. `interval`: all ids in (afterId, lastId]; null: each is listed. `records`: sent, or compared by a digest. */
export type DisclosureCoverage = Pick<Disclosure, 'id' | 'companyId' | 'locationId' | 'dataset' | 'records'> & {
  interval: { afterId: string; lastId: string } | null
}

/** The disclosure of this id, when it is of one of these locations. */
export async function findDisclosureCoverage(
  db: Queryable,
  locationIds: readonly LocationId[],
  id: string,
): Promise<DisclosureCoverage | null> {
  type Row = Pick<DisclosureRow, 'company_id' | 'location_id' | 'dataset' | 'records' | 'after_id' | 'last_id'>
  const { rows } = await db.query<Row>(
    `select company_id, location_id, dataset, coalesce(digested, records) as records, after_id, last_id
       from disclosure
      where id = $1 and location_id = any($2::bigint[])`,
    [id, locationIds],
  )
  return (
    rows.map(({ after_id: afterId, last_id: lastId, ...row }) => ({
      id,
      companyId: row.company_id,
      locationId: row.location_id,
      dataset: row.dataset,
      records: row.records,
      interval: afterId === null || lastId === null ? null : { afterId, lastId },
    }))[0] ?? null
  )
}

/** The next `limit` of the ids that a disclosure lists, in order. */
export async function listDisclosedIds(
  db: Queryable,
  { id, locationId }: DisclosureCoverage,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ each: string }>(
    `select each
       from disclosure d
      cross join unnest(d.record_ids) each
      where d.id = $1 and d.location_id = $2 and each > $3
      order by each
      limit $4`,
    [id, locationId, after, limit],
  )
  return rows.map(({ each }) => each)
}

/** When the oldest disclosure of these locations was, or null. By the index, a look for each. */
export async function firstDisclosedAt(db: Queryable, locationIds: readonly LocationId[]): Promise<Date | null> {
  const { rows } = await db.query<{ first: Date | null }>(
    `select min(found.disclosed_at) as first
       from unnest($1::bigint[]) as own (location_id)
      cross join lateral (
            select disclosed_at from disclosure d where d.location_id = own.location_id order by disclosed_at limit 1) found`,
    [locationIds],
  )
  return rows[0]?.first ?? null
}

/**
 * How often and how much was disclosed, by day and company and by company, in one pass over disclosure_of_location, which holds all that is
 * counted: no row of the table is read and nothing large is sorted. A look into the index for each day and location would be millions of them
 * for a large practice. `days`: the instants at which days begin, rising; what was before the first is not counted.
 */
export async function summarizeDisclosureHistory(
  db: Queryable,
  filter: DisclosureFilter,
  days: readonly Date[],
): Promise<{ days: DisclosedOnDay[]; companies: DisclosedToCompany[] }> {
  const [first] = days
  if (first === undefined) return { days: [], companies: [] }
  const { values, conditions } = selection({ ...filter, from: first })
  values.push(days)
  const { rows } = await db.query<SummaryRow>(
    `with counted as materialized (
       select width_bucket(d.disclosed_at, $${values.length}::timestamptz[]) - 1 as day, d.company_id,
              count(*) as reads, sum(d.records) as records
         from disclosure d
        where d.location_id = any($1::bigint[]) and ${conditions.join(' and ')}
        group by 1, 2)
     select day, company_id, sum(reads) as reads, sum(records) as records
       from counted
      group by grouping sets ((day, company_id), (company_id))
      order by day, reads desc, company_id`,
    values,
  )
  const numbers = (row: SummaryRow) => ({ reads: Number(row.reads), records: Number(row.records) })
  return {
    days: rows.flatMap((row) =>
      row.day === null ? [] : [{ day: Number(row.day), companyId: row.company_id, ...numbers(row) }],
    ),
    companies: rows.flatMap((row) => (row.day === null ? [{ companyId: row.company_id, ...numbers(row) }] : [])),
  }
}

/** What a company read on a day: of a dataset at all locations, or of all datasets at a location. */
export type DisclosedPart = {
  day: number
  companyId: CompanyId
  dataset: DatasetName | null
  locationId: LocationId | null
  reads: number
  records: number
  lastAt: Date
}

/** How often and how much each company read on each of these days, by dataset and by location, from the index alone as the summary. */
export async function groupDisclosureHistory(
  db: Queryable,
  filter: DisclosureFilter,
  days: readonly Date[],
): Promise<DisclosedPart[]> {
  const { values, conditions } = selection(filter)
  values.push(days)
  const { rows } = await db.query<RowOf<DisclosedPart>>(
    `with counted as materialized (
       select width_bucket(d.disclosed_at, $${values.length}::timestamptz[]) - 1 as day, d.company_id, d.dataset, d.location_id,
              count(*) as reads, sum(d.records) as records, max(d.disclosed_at) as last_at
         from disclosure d
        where d.location_id = any($1::bigint[]) and ${conditions.join(' and ')}
        group by 1, 2, 3, 4)
     select day, company_id, dataset, location_id, sum(reads)::float8 as reads, sum(records)::float8 as records, max(last_at) as last_at
       from counted
      group by grouping sets ((day, company_id, dataset), (day, company_id, location_id))
      order by day desc, company_id, reads desc, dataset, location_id`,
    values,
  )
  return rows.map(fromRow<DisclosedPart>)
}

/** When each of these companies last read something of these locations; one that never did is not in it. */
export async function lastReadsOf(
  db: Queryable,
  locationIds: readonly LocationId[],
  companyIds: readonly CompanyId[],
): Promise<Map<CompanyId, Date>> {
  const { rows } = await db.query<{ company_id: CompanyId; last: Date }>(
    `select reader.company_id, max(found.disclosed_at) as last
       from unnest($1::bigint[]) as own (location_id)
      cross join unnest($2::uuid[]) as reader (company_id)
      cross join lateral (
            select disclosed_at
              from disclosure d
             where d.location_id = own.location_id and d.company_id = reader.company_id
             order by disclosed_at desc
             limit 1) found
      group by reader.company_id`,
    [locationIds, companyIds],
  )
  return new Map(rows.map((row) => [row.company_id, row.last]))
}

type SummaryRow = {
  day: string | null
  company_id: CompanyId
  reads: string
  records: string
}

/** What every statement here restricts by; `$1` is the locations. Only what was asked for, so that the plan fits it. */
function selection(filter: DisclosureFilter) {
  const values: unknown[] = [filter.locationIds, filter.from, filter.until]
  const conditions = ['d.disclosed_at >= $2', 'd.disclosed_at < $3']
  if (filter.companyId !== null) conditions.push(`d.company_id = $${values.push(filter.companyId)}`)
  if (filter.dataset !== null) conditions.push(`d.dataset = $${values.push(filter.dataset)}`)
  return { values, conditions }
}
