import type { Pool } from 'pg'
import type { ReadPermit } from '../access/read-permit.ts'
import { type Document, readRows } from './read-store.ts'
import type { Stamp } from './stamp.ts'

/** From the first moment to just before the last. */
export type Range = { from: Stamp; to: Stamp }

/** How many records match, stopped at a limit where the statement says so, and the lowest id among those counted. */
export type Count = { total: number; lowestId: string }

/**
 * A page of one patient's records, in id order: record_patient holds them in that order, so a page costs what it returns. `modifiedAfter` is 0
 * for all: a patient's records are so few that they are looked at one by one.
 */
export function readOfPatient(
  pool: Pool,
  permit: ReadPermit,
  patientId: string,
  modifiedAfter: Stamp,
  after: string,
  limit: number,
): Promise<Document[]> {
  return readRows(
    pool,
    'records.of_patient',
    [permit.locationId, permit.dataset, patientId, modifiedAfter, after, limit],
    `select id, document
       from record
      where location_id = $1 and dataset = $2 and patient_id = $3 and modified_at > $4 and id > $5
      order by id
      limit $6`,
  )
}

/** The same of those that start in a range; `+ 0` keeps the patient's index, of which fewer rows are read than of a wide range's. */
export function readOfPatientStarting(
  pool: Pool,
  permit: ReadPermit,
  patientId: string,
  { from, to }: Range,
  modifiedAfter: Stamp,
  after: string,
  limit: number,
): Promise<Document[]> {
  return readRows(
    pool,
    'records.of_patient_starting',
    [permit.locationId, permit.dataset, patientId, from, to, modifiedAfter, after, limit],
    `select id, document
       from record
      where location_id = $1 and dataset = $2 and patient_id = $3
        and starts_at + 0 >= $4 and starts_at + 0 < $5 and modified_at > $6 and id > $7
      order by id
      limit $8`,
  )
}

export function countOfPatient(
  pool: Pool,
  permit: ReadPermit,
  patientId: string,
  modifiedAfter: Stamp,
): Promise<Count> {
  return count(
    pool,
    'records.count_of_patient',
    [permit.locationId, permit.dataset, patientId, modifiedAfter],
    `select count(*), min(id) as lowest
       from record
      where location_id = $1 and dataset = $2 and patient_id = $3 and modified_at > $4`,
  )
}

export function countOfPatientStarting(
  pool: Pool,
  permit: ReadPermit,
  patientId: string,
  { from, to }: Range,
  modifiedAfter: Stamp,
): Promise<Count> {
  return count(
    pool,
    'records.count_of_patient_starting',
    [permit.locationId, permit.dataset, patientId, from, to, modifiedAfter],
    `select count(*), min(id) as lowest
       from record
      where location_id = $1 and dataset = $2 and patient_id = $3
        and starts_at + 0 >= $4 and starts_at + 0 < $5 and modified_at > $6`,
  )
}

/** A page of a narrow range, in id order: from record_starts, which holds all that it needs to choose, then sorted. */
export function readStarting(
  pool: Pool,
  permit: ReadPermit,
  { from, to }: Range,
  after: string,
  limit: number,
): Promise<Document[]> {
  return readRows(
    pool,
    'records.starting',
    [permit.locationId, permit.dataset, from, to, after, limit],
    `with starting as materialized (
       select id from record where location_id = $1 and dataset = $2 and starts_at >= $3 and starts_at < $4 and id > $5
     ), page as materialized (
       select id from starting order by id limit $6
     )
     select record.id, record.document
       from page join record on record.location_id = $1 and record.dataset = $2 and record.id = page.id
      order by record.id`,
  )
}

/** A page of what starts in a range and was modified after a stamp, where little was modified: from record_modified. */
export function readModifiedStarting(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  { from, to }: Range,
  after: string,
  limit: number,
): Promise<Document[]> {
  return readRows(
    pool,
    'records.modified_starting',
    [permit.locationId, permit.dataset, modifiedAfter, from, to, after, limit],
    `with modified as materialized (
       select id from record
        where location_id = $1 and dataset = $2 and modified_at > $3 and starts_at + 0 >= $4 and starts_at + 0 < $5 and id > $6
     ), page as materialized (
       select id from modified order by id limit $7
     )
     select record.id, record.document
       from page join record on record.location_id = $1 and record.dataset = $2 and record.id = page.id
      order by record.id`,
  )
}

/** The same where the range is the narrower of the two: from record_starts. */
export function readStartingModified(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  { from, to }: Range,
  after: string,
  limit: number,
): Promise<Document[]> {
  return readRows(
    pool,
    'records.starting_modified',
    [permit.locationId, permit.dataset, modifiedAfter, from, to, after, limit],
    `with starting as materialized (
       select id from record
        where location_id = $1 and dataset = $2 and starts_at >= $4 and starts_at < $5 and modified_at + 0 > $3 and id > $6
     ), page as materialized (
       select id from starting order by id limit $7
     )
     select record.id, record.document
       from page join record on record.location_id = $1 and record.dataset = $2 and record.id = page.id
      order by record.id`,
  )
}

/**
 * A page of a wide range, in id order: along the primary key, filtered, because sorting a wide range for every page of it is quadratic.
 * `modifiedAfter` is 0 for all; `+ 0` keeps the two filters from choosing an index that would have to be sorted.
 */
export function readStartingWide(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  { from, to }: Range,
  after: string,
  limit: number,
): Promise<Document[]> {
  return readRows(
    pool,
    'records.starting_wide',
    [permit.locationId, permit.dataset, modifiedAfter, from, to, after, limit],
    `select id, document
       from record
      where location_id = $1 and dataset = $2 and modified_at + 0 > $3 and starts_at + 0 >= $4 and starts_at + 0 < $5 and id > $6
      order by id
      limit $7`,
  )
}

/** How many records start in a range, counted index-only from record_starts. */
export function countStarting(pool: Pool, permit: ReadPermit, { from, to }: Range): Promise<Count> {
  return count(
    pool,
    'records.count_starting',
    [permit.locationId, permit.dataset, from, to],
    `select count(*), min(id) as lowest
       from record
      where location_id = $1 and dataset = $2 and starts_at >= $3 and starts_at < $4`,
  )
}

/** How many of the records modified after a stamp start in a range. Read from record_modified, so it costs what was modified. */
export function countModifiedStarting(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  { from, to }: Range,
): Promise<Count> {
  return count(
    pool,
    'records.count_modified_starting',
    [permit.locationId, permit.dataset, modifiedAfter, from, to],
    `select count(*), min(id) as lowest
       from record
      where location_id = $1 and dataset = $2 and modified_at > $3 and starts_at + 0 >= $4 and starts_at + 0 < $5`,
  )
}

/** The same read from record_starts, so it costs what the range holds. */
export function countStartingModified(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  { from, to }: Range,
): Promise<Count> {
  return count(
    pool,
    'records.count_starting_modified',
    [permit.locationId, permit.dataset, modifiedAfter, from, to],
    `select count(*), min(id) as lowest
       from record
      where location_id = $1 and dataset = $2 and starts_at >= $4 and starts_at < $5 and modified_at + 0 > $3`,
  )
}

/** How many records were modified after a stamp, but no more than `most`: index-only from record_modified. */
export function countModifiedUpTo(pool: Pool, permit: ReadPermit, modifiedAfter: Stamp, most: number): Promise<number> {
  return countUpTo(
    pool,
    'records.count_modified_up_to',
    [permit.locationId, permit.dataset, modifiedAfter, most],
    `select count(*)
       from (select id from record where location_id = $1 and dataset = $2 and modified_at > $3 limit $4) counted`,
  )
}

/** How many records start in a range, but no more than `most`: index-only from record_starts. */
export function countStartingUpTo(pool: Pool, permit: ReadPermit, { from, to }: Range, most: number): Promise<number> {
  return countUpTo(
    pool,
    'records.count_starting_up_to',
    [permit.locationId, permit.dataset, from, to, most],
    `select count(*)
       from (select id from record
              where location_id = $1 and dataset = $2 and starts_at >= $3 and starts_at < $4 limit $5) counted`,
  )
}

async function countUpTo(pool: Pool, name: string, values: unknown[], text: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>({ name, text, values })
  return Number(rows[0]?.count)
}

async function count(pool: Pool, name: string, values: unknown[], text: string): Promise<Count> {
  const { rows } = await pool.query<{ count: string; lowest: string | null }>({ name, text, values })
  return { total: Number(rows[0]?.count), lowestId: rows[0]?.lowest ?? '0' }
}
