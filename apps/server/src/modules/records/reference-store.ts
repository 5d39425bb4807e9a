import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import { bigintArray, textArray } from '../../platform/database/binary-array.ts'
import { copyRows, packRows } from '../../platform/database/binary-rows.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { Stamp } from '../datasets/stamp.ts'
import { findDue } from './background-work.ts'
import type { SourceColumns } from './stored-source.ts'
import type { RecordRow } from './write-store.ts'

export type ReferenceRow = { target_dataset: string; target_source_id: string; record_id: string }

/** References in the form of `replaceReferences`. */
export function packReferences(locationId: LocationId, dataset: DatasetName, rows: readonly ReferenceRow[]): Buffer {
  const location = BigInt(locationId)
  return packRows(
    rows.map((row) => [location, row.target_dataset, row.target_source_id, dataset, BigInt(row.record_id)]),
  )
}

/** Forgets what these records referred to and remembers what they refer to now; null: nothing. */
export async function replaceReferences(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  changedIds: readonly string[],
  packed: Buffer | null,
): Promise<void> {
  if (changedIds.length > 0) {
    await client.query(
      `delete from record_reference where location_id = $1 and dataset = $2 and record_id = any($3::bigint[])`,
      [locationId, dataset, changedIds],
    )
  }
  if (!packed) return
  await copyRows(
    client,
    `copy record_reference (location_id, target_dataset, target_source_id, dataset, record_id) from stdin (format binary)`,
    packed,
  )
}

/**
 * Those of these datasets that refer to anything. In a first sync the others cost a look each, and not one for each of thousands of targets. In
 * order of ids, or PostgreSQL might read all references for a dataset that has none.
 */
export async function findReferring(
  client: PoolClient,
  locationId: LocationId,
  datasets: readonly DatasetName[],
): Promise<ReadonlySet<DatasetName>> {
  const { rows } = await client.query<{ dataset: DatasetName }>(
    `select named.dataset
       from unnest($2::text[]) as named (dataset)
      where (select record_id
               from record_reference as r
              where r.location_id = $1 and r.dataset = named.dataset
              order by record_id
              limit 1) is not null`,
    [locationId, datasets],
  )
  return new Set(rows.map((row) => row.dataset))
}

/** Ids of a dataset's records that refer to one of these targets, rising, after `afterId`: by the primary key of record_reference. */
export async function listReferring(
  client: PoolClient,
  locationId: LocationId,
  target: { dataset: DatasetName; sourceIds: readonly string[] },
  dataset: string,
  afterId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await client.query<{ record_id: string }>(
    `select distinct record_id
       from record_reference
      where location_id = $1 and target_dataset = $2 and target_source_id = any($3::text[]) and dataset = $4 and record_id > $5
      order by record_id
      limit $6`,
    [locationId, target.dataset, textArray(target.sourceIds), dataset, afterId, limit],
  )
  return rows.map((row) => row.record_id)
}

/** References by id alone need no watching any more once their target is there. */
export async function deleteReferences(
  client: PoolClient,
  locationId: LocationId,
  target: { dataset: DatasetName; sourceIds: readonly string[] },
  dataset: string,
): Promise<void> {
  await client.query(
    `delete from record_reference
      where location_id = $1 and target_dataset = $2 and target_source_id = any($3::text[]) and dataset = $4`,
    [locationId, target.dataset, target.sourceIds, dataset],
  )
}

export type RenderedRow = Pick<RecordRow, 'id' | 'source_id'> & SourceColumns

export async function readForRendering(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  ids: readonly string[],
): Promise<RenderedRow[]> {
  const { rows } = await client.query<RenderedRow>(
    `select id, source_id, source, source_kept, document, document_with_notes
       from record
      where location_id = $1 and dataset = $2 and id = any($3::bigint[])`,
    [locationId, dataset, bigintArray(ids)],
  )
  return rows
}

export async function updateDocuments(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  stamp: Stamp,
  rows: readonly Pick<RecordRow, 'id' | 'document' | 'document_with_notes' | 'patient_id'>[],
): Promise<void> {
  await client.query(
    `update record
        set modified_at = $3, document = row.document, document_with_notes = row.document_with_notes, patient_id = row.patient_id
       from unnest($4::bigint[], $5::text[], $6::text[], $7::bigint[]) as row (id, document, document_with_notes, patient_id)
      where record.location_id = $1 and record.dataset = $2 and record.id = row.id`,
    [
      locationId,
      dataset,
      stamp,
      bigintArray(rows.map((row) => row.id)),
      textArray(rows.map((row) => row.document)),
      textArray(rows.map((row) => row.document_with_notes)),
      bigintArray(rows.map((row) => row.patient_id)),
    ],
  )
}

export type RerenderWork = {
  locationId: LocationId
  targetDataset: DatasetName
  targetSourceId: string
  dataset: DatasetName
  afterId: string
}

/** A row for each of these targets that a record refers to. Work asked for again starts again: the target has changed once more. */
export async function addRerenderWork(
  client: PoolClient,
  locationId: LocationId,
  target: { dataset: DatasetName; sourceIds: readonly string[] },
  dataset: string,
): Promise<void> {
  await client.query(
    `insert into rerender_work (location_id, target_dataset, target_source_id, dataset)
     select $1, $2, source_id, $4
       from unnest($3::text[]) as source_id
      where exists (select from record_reference
                     where location_id = $1 and target_dataset = $2 and target_source_id = source_id and dataset = $4)
         on conflict (location_id, target_dataset, target_source_id, dataset) do update set after_id = 0`,
    [locationId, target.dataset, target.sourceIds, dataset],
  )
}

/** The oldest work of the next location after this one. Housekeeping: goes over every location. */
export async function findRerenderWork(db: Queryable, after: LocationId): Promise<RerenderWork | null> {
  const columns = 'location_id, target_dataset, target_source_id, dataset, after_id'
  const row = await findDue<Record<string, string>>(db, 'rerender_work', columns, '', after)
  // The columns are text and bigint, written by addRerenderWork from values of these types.
  return row
    ? ({
        locationId: row.location_id,
        targetDataset: row.target_dataset,
        targetSourceId: row.target_source_id,
        dataset: row.dataset,
        afterId: row.after_id,
      } as RerenderWork)
    : null
}

/** The same work as it stands now that the turn is held; null when another process has finished it. */
export async function lockRerenderWork(client: PoolClient, work: RerenderWork): Promise<{ afterId: string } | null> {
  const { rows } = await client.query<{ after_id: string }>(
    `select after_id from rerender_work
      where location_id = $1 and target_dataset = $2 and target_source_id = $3 and dataset = $4
        for update`,
    [work.locationId, work.targetDataset, work.targetSourceId, work.dataset],
  )
  return rows[0] ? { afterId: rows[0].after_id } : null
}

/** Moves the work on to `afterId`, or ends it when that is null. */
export async function saveRerenderWork(client: PoolClient, work: RerenderWork, afterId: string | null): Promise<void> {
  const key = [work.locationId, work.targetDataset, work.targetSourceId, work.dataset]
  const where = `location_id = $1 and target_dataset = $2 and target_source_id = $3 and dataset = $4`
  if (afterId === null) await client.query(`delete from rerender_work where ${where}`, key)
  else {
    const progress = `after_id = $5, attempts = 0, last_error = null`
    await client.query(`update rerender_work set ${progress} where ${where}`, [...key, afterId])
  }
}
