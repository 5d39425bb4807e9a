import type { Pool } from 'pg'
import type { ReadPermit } from '../consent/read-permit.ts'
import type { Stamp } from '../datasets/stamp.ts'
import { type Document, readRows } from './read-store.ts'
import type { Range } from './selection.ts'

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
    permit,
    'records.of_patient',
    [patientId, modifiedAfter, after, limit],
    (document) => `select id, ${document}
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
    permit,
    'records.of_patient_starting',
    [patientId, from, to, modifiedAfter, after, limit],
    (document) => `select id, ${document}
       from record
      where location_id = $1 and dataset = $2 and patient_id = $3
        and starts_at + 0 >= $4 and starts_at + 0 < $5 and modified_at > $6 and id > $7
      order by id
      limit $8`,
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
    permit,
    'records.starting',
    [from, to, after, limit],
    (document) => `with starting as materialized (
       select id from record where location_id = $1 and dataset = $2 and starts_at >= $3 and starts_at < $4 and id > $5
     ), page as materialized (
       select id from starting order by id limit $6
     )
     select record.id, ${document}
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
    permit,
    'records.modified_starting',
    [modifiedAfter, from, to, after, limit],
    (document) => `with modified as materialized (
       select id from record
        where location_id = $1 and dataset = $2 and modified_at > $3 and starts_at + 0 >= $4 and starts_at + 0 < $5 and id > $6
     ), page as materialized (
       select id from modified order by id limit $7
     )
     select record.id, ${document}
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
    permit,
    'records.starting_modified',
    [modifiedAfter, from, to, after, limit],
    (document) => `with starting as materialized (
       select id from record
        where location_id = $1 and dataset = $2 and starts_at >= $4 and starts_at < $5 and modified_at + 0 > $3 and id > $6
     ), page as materialized (
       select id from starting order by id limit $7
     )
     select record.id, ${document}
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
    permit,
    'records.starting_wide',
    [modifiedAfter, from, to, after, limit],
    (document) => `select id, ${document}
       from record
      where location_id = $1 and dataset = $2 and modified_at + 0 > $3 and starts_at + 0 >= $4 and starts_at + 0 < $5 and id > $6
      order by id
      limit $7`,
  )
}
