import type { Pool } from 'pg'
import type { ReadPermit } from '../../consent/read-permit.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import type { Document } from '../write/document.ts'

/**
 * What holds the JSON that this company receives of a record: a column, or with notes an expression of two. A statement has the name of it in its
 * own, because it is prepared under that name.
 */
export function documentOf(permit: ReadPermit): { named: string; document: string } {
  return permit.notes
    ? { named: '.with_notes', document: 'coalesce(record.document_with_notes, record.document)' }
    : { named: '', document: 'record.document' }
}

/**
 * A page of the whole dataset in id order. Uses the primary key (location_id, dataset, id), so a page costs the same at the start and after a
 * million records. `after` is '0' on the first page: one query, one plan.
 */
export function readWhole(pool: Pool, permit: ReadPermit, after: string, limit: number): Promise<Document[]> {
  return readRows(
    pool,
    permit,
    'records.whole',
    [after, limit],
    (document) => `select id, ${document}
       from record
      where location_id = $1 and dataset = $2 and id > $3
      order by id
      limit $4`,
  )
}

/**
 * A page of what was modified after a stamp, in id order, and how many that are in all: in one round trip from record_modified, which holds
 * all that it needs to choose and to count, then sorted. Where they are more than `countMax`, which the counts of later spans most often tell
 * at once, it stops there, reads none, and gives null.
 */
export async function readSmallDelta(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  after: string,
  limit: number,
  countMax: number,
): Promise<{ documents: Document[]; total: number } | null> {
  const { named, document } = documentOf(permit)
  const { rows } = await pool.query<Document | [id: null, document: null, total: string]>({
    name: `records.small_delta${named}`,
    text: `with later as materialized (
       select coalesce(sum(records), 0) as total from record_count where location_id = $1 and dataset = $2 and span_from > $3
     ), modified as materialized (
       select id
         from record
        where location_id = $1 and dataset = $2 and modified_at > $3 and (select total from later) <= $6
        limit $6::bigint + 1
     ), counted as materialized (
       select greatest((select count(*) from modified), (select total from later)) as total
     ), page as materialized (
       select id from modified where id > $4 and (select total from counted) <= $6 order by id limit $5
     )
     select record.id, ${document}, null as total
       from page join record on record.location_id = $1 and record.dataset = $2 and record.id = page.id
      union all
     select null, null, total from counted
      order by 1`,
    values: [permit.locationId, permit.dataset, modifiedAfter, after, limit, countMax],
    rowMode: 'array',
  })
  // Nulls sort last.
  const total = Number(rows.pop()?.[2])
  return total > countMax ? null : { documents: rows as Document[], total }
}

/** A page by number, for datasets of page mode: small ones, whose offset is cheap. `modifiedAfter` is 0 for all. */
export function readNumbered(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  offset: number,
  limit: number,
): Promise<Document[]> {
  return readRows(
    pool,
    permit,
    'records.numbered',
    [modifiedAfter, offset, limit],
    (document) => `select id, ${document}
       from record
      where location_id = $1 and dataset = $2 and modified_at > $3
      order by id
     offset $4 limit $5`,
  )
}

/** One record, or null when this location has none of that id. */
export async function findRecord(
  pool: Pool,
  permit: ReadPermit,
  id: string,
): Promise<{ source: string; document: string } | null> {
  const { named, document } = documentOf(permit)
  const { rows } = await pool.query<{ source: string; document: string }>({
    name: `records.one${named}`,
    text: `select source, ${document} as document from record where location_id = $1 and dataset = $2 and id = $3`,
    values: [permit.locationId, permit.dataset, id],
  })
  return rows[0] ?? null
}

/** Runs a statement, prepared once per connection, whose rows are documents. `$1` is the permit's location, `$2` its dataset. */
export async function readRows(
  pool: Pool,
  permit: ReadPermit,
  name: string,
  values: readonly unknown[],
  textOf: (document: string) => string,
): Promise<Document[]> {
  const { named, document } = documentOf(permit)
  const { rows } = await pool.query<Document>({
    name: `${name}${named}`,
    text: textOf(document),
    values: [permit.locationId, permit.dataset, ...values],
    rowMode: 'array',
  })
  return rows
}
