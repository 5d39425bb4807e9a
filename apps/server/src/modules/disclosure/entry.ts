import { createHash } from 'node:crypto'
import { instantText } from '../../platform/database/instant-text.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'

/** A disclosure as it is sealed: every value as text. */
export type DisclosureFacts = {
  id: string
  disclosed_at: string
  company_id: string
  key_pair_id: string
  location_id: LocationId
  dataset: string
  /** Whether the answer could contain notes: `true` or `false`. */
  notes: string
  /** Of `filters` as PostgreSQL writes it. */
  filters_sha256: string
  records: string
  counted: string | null
  digested: string | null
  /** `(0,5000]`, or ids with commas between them. No entry has both; if a change made one have both, the text would tell. */
  coverage: string
  request_id: string
  ip: string
}

/** The text whose SHA-256 is sealed: docs/decisions/chain.md. Never changed: seals of years depend on it. */
export function disclosureText(facts: DisclosureFacts): string {
  return JSON.stringify([
    'disclosure',
    facts.id,
    facts.disclosed_at,
    facts.company_id,
    facts.key_pair_id,
    facts.location_id,
    facts.dataset,
    facts.notes,
    facts.filters_sha256,
    facts.records,
    facts.counted,
    facts.digested,
    facts.coverage,
    facts.request_id,
    facts.ip,
  ])
}

/** The highest id that is visible; '0' before the first disclosure. */
export async function lastDisclosureId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ last: string | null }>('select max(id) as last from disclosure')
  return rows[0]?.last ?? '0'
}

/** How many have an id up to this one. */
export async function countDisclosuresUpTo(db: Queryable, lastId: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>('select count(*) from disclosure where id <= $1', [lastId])
  return Number(rows[0]?.count)
}

/** The next disclosures with ids in (afterId, lastId]: see readDisclosureRows. */
export async function readDisclosureFacts(db: Queryable, range: Range): Promise<DisclosureFacts[]> {
  return (await readDisclosureRows(db, range)).map(toDisclosureFacts)
}

/**
 * The next disclosures with ids in (afterId, lastId], in order of id, by the primary key: none only where none is left, but perhaps
 * fewer than `limit`. An entry may list 5,000 ids of records, so the rows end where they list `listedIdsMax`. The stored size comes first, because
 * it is known without reading the ids: else each call would unpack those of `limit` rows.
 */
export async function readDisclosureRows(
  db: Queryable,
  { afterId, lastId, limit }: Range,
): Promise<DisclosureFactsRow[]> {
  const { rows } = await db.query<DisclosureFactsRow>(
    `select ${disclosureFactsColumns}
       from (select *, sum(cardinality(record_ids)) over earlier as listed_before
               from (select *, sum(pg_column_size(record_ids)) over earlier as stored_before
                       from disclosure
                      where id > $1 and id <= $2
                     window earlier as (order by id rows between unbounded preceding and 1 preceding)
                      order by id
                      limit $3) as next
              where coalesce(stored_before, 0) < $4 * 8
             window earlier as (order by id rows between unbounded preceding and 1 preceding)) as disclosure
      where coalesce(listed_before, 0) < $4
      order by id`,
    [afterId, lastId, limit, listedIdsMax],
  )
  return rows
}

/** Some 150 kB of text, with which a run of rows takes a few MB of memory at most. */
const listedIdsMax = 20_000

type Range = { afterId: string; lastId: string; limit: number }

/**
 * Ids of these locations' disclosures between two instants and two ids (the first one not included), in order. By disclosure_of_location: the
 * instants, which the caller knows to hold all of the ids, keep it from reading the others.
 */
export async function listDisclosureIds(
  db: Queryable,
  locationIds: readonly LocationId[],
  { firstAt, lastAt, afterId, lastId }: { firstAt: string; lastAt: string; afterId: string; lastId: string },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id
       from disclosure
      where location_id = any($1::bigint[]) and disclosed_at >= $2 and disclosed_at <= $3 and id > $4 and id <= $5
      order by id`,
    [locationIds, firstAt, lastAt, afterId, lastId],
  )
  return rows.map(({ id }) => id)
}

/** These disclosures in order of id; the instants, which the caller knows to hold all of them, name the months to look in. */
export async function readDisclosureFactsByIds(
  db: Queryable,
  ids: readonly string[],
  { firstAt, lastAt }: { firstAt: string; lastAt: string },
): Promise<DisclosureFactsRow[]> {
  const { rows } = await db.query<DisclosureFactsRow>(
    `select ${disclosureFactsColumns}
       from disclosure
      where id = any($1::bigint[]) and disclosed_at >= $2 and disclosed_at <= $3
      order by id`,
    [ids, firstAt, lastAt],
  )
  return rows
}

/** The filters of an entry are hashed here, so that the database's own code takes no part in what is proved about it. */
export function toDisclosureFacts({ filters_text, ...facts }: DisclosureFactsRow): DisclosureFacts {
  return { ...facts, filters_sha256: createHash('sha256').update(filters_text).digest('hex') }
}

export type DisclosureFactsRow = Omit<DisclosureFacts, 'filters_sha256'> & { filters_text: string }

/** Every column of a sealed disclosure, as text: a Date would lose microseconds, and a list of 5,000 ids need not be parsed. */
const disclosureFactsColumns = `id, ${instantText('disclosed_at')} as disclosed_at,
  company_id, key_pair_id, location_id, dataset, notes::text, filters::text as filters_text, records::text, counted::text, digested::text,
  case when record_ids is null then format('(%s,%s]', after_id, last_id)
       else array_to_string(record_ids, ',', 'null') || coalesce(' after ' || after_id, '') || coalesce(' last ' || last_id, '') end as coverage,
  request_id, abbrev(ip) as ip`
