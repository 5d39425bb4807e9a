import type { Pool } from 'pg'
import type { ReadPermit } from '../../consent/read-permit.ts'
import type { Document } from '../write/document.ts'
import { readRows } from './read-store.ts'
import { type Selection, startsRange } from './selection.ts'

/** The index that a statement follows: that of patients, of starts, of stamps, or the primary key. Where a patient is asked for, the patient's. */
export type Along = 'patient' | 'starts' | 'modified' | 'id'

/** How many records match, and an id that none of them lies below: most often their lowest. */
export type Count = { total: number; lowestId: string }

/**
 * A page of what a selection matches, in id order. Along `patient` and `id` a page costs what is read until it is full, because these indexes are in
 * that order. Along `starts` and `modified` all that matches is chosen from the index alone and sorted, and only the page's documents are read.
 */
export function readAlong(
  pool: Pool,
  permit: ReadPermit,
  selection: Selection,
  along: Along,
  after: string,
  limit: number,
): Promise<Document[]> {
  const { name, where, values, next } = filtersOf(selection, along)
  const isInOrder = along === 'patient' || along === 'id'
  return readRows(pool, permit, `records.read.${name}`, [...values, after, limit], (document) =>
    isInOrder
      ? `select id, ${document}
       from record
      where ${where} and id > $${next}
      order by id
      limit $${next + 1}`
      : `with matching as materialized (
       select id from record where ${where} and id > $${next}
     ), page as materialized (
       select id from matching order by id limit $${next + 1}
     )
     select record.id, ${document}
       from page join record on record.location_id = $1 and record.dataset = $2 and record.id = page.id
      order by record.id`,
  )
}

/** How many records a selection matches: costs what is read along the index. */
export function countAlong(pool: Pool, permit: ReadPermit, selection: Selection, along: Along): Promise<Count> {
  const { name, where, values } = filtersOf(selection, along)
  return askCount(
    pool,
    permit,
    `records.count.${name}`,
    values,
    `select count(*), min(id) as lowest from record where ${where}`,
  )
}

/** The same, but no more than `most`. */
export async function countUpTo(
  pool: Pool,
  permit: ReadPermit,
  selection: Selection,
  along: Along,
  most: number,
): Promise<number> {
  const { name, where, values, next } = filtersOf(selection, along)
  const text = `select count(*), min(id) as lowest from (select id from record where ${where} limit $${next}) counted`
  return (await askCount(pool, permit, `records.count_up_to.${name}`, [...values, most], text)).total
}

/** Runs a statement whose row is a count, prepared once per connection. `$1` is the permit's location, `$2` its dataset. */
export async function askCount(
  pool: Pool,
  permit: ReadPermit,
  name: string,
  values: readonly unknown[],
  text: string,
): Promise<Count> {
  const { rows } = await pool.query<{ count: string; lowest: string | null }>({
    name,
    text,
    values: [permit.locationId, permit.dataset, ...values],
  })
  return { total: Number(rows[0]?.count), lowestId: rows[0]?.lowest ?? '0' }
}

/**
 * The conditions of a selection, with the permit's location and dataset. Only the index to follow has its column bare: `+ 0` keeps PostgreSQL, which
 * does not know the values when it plans, from choosing another index. `name`: what tells the statement from others; `values`: from `$3` to before
 * `$next`.
 */
function filtersOf(selection: Selection, along: Along) {
  const { patientId, modifiedAfter } = selection
  const range = startsRange(selection)
  const starts = along === 'starts' ? 'starts_at' : 'starts_at + 0'
  const modified = along === 'modified' ? 'modified_at' : 'modified_at + 0'
  const filters: [filter: string, condition: string, value: unknown][] = []
  if (patientId !== null) filters.push(['patient', 'patient_id =', patientId])
  if (range) filters.push(['starts', `${starts} >=`, range.from], ['starts', `${starts} <`, range.to])
  if (modifiedAfter !== null) filters.push(['modified', `${modified} >`, modifiedAfter])
  return {
    name: `${along}.${[...new Set(filters.map(([filter]) => filter))].join('_')}`,
    where: [
      'location_id = $1 and dataset = $2',
      ...filters.map(([, condition], index) => `${condition} $${index + 3}`),
    ].join(' and '),
    values: filters.map(([, , value]) => value),
    next: filters.length + 3,
  }
}
