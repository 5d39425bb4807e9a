import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import { bigintArray, textArray } from '../../../platform/database/bulk/binary-array.ts'
import { packRows } from '../../../platform/database/bulk/binary-rows.ts'
import { copyIn } from '../../../platform/database/bulk/copy.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import { listEarlierRenderings } from '../../datasets/dataset-state.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { findDue, isWorkDue } from './background-work.ts'
import type { SourceColumns } from './stored-source.ts'
import type { RecordRow } from './write-store.ts'

export type ReferenceRow = { target_dataset: string; target_source_id: string; record_id: string }

/** References in the form of `replaceReferences`. */
export function packReferences(locationId: LocationId, dataset: DatasetName, rows: readonly ReferenceRow[]): Buffer {
  return packRows(
    [BigInt(locationId), dataset],
    rows.map((row) => [row.target_dataset, row.target_source_id, BigInt(row.record_id)]),
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
  await copyIn(
    client,
    `copy record_reference (location_id, dataset, target_dataset, target_source_id, record_id) from stdin (format binary)`,
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
    `select id, source_id, source, document, document_with_notes
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

/** Documents that get members which are null: the records count as unchanged, so their stamps stay. */
export async function completeDocuments(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  rows: readonly Pick<RecordRow, 'id' | 'document' | 'document_with_notes'>[],
): Promise<void> {
  await client.query(
    `update record
        set document = row.document, document_with_notes = row.document_with_notes
       from unnest($3::bigint[], $4::text[], $5::text[]) as row (id, document, document_with_notes)
      where record.location_id = $1 and record.dataset = $2 and record.id = row.id`,
    [
      locationId,
      dataset,
      bigintArray(rows.map((row) => row.id)),
      textArray(rows.map((row) => row.document)),
      textArray(rows.map((row) => row.document_with_notes)),
    ],
  )
}

/**
 * What a change of some targets of one dataset left to be done for the records of another that refer to them; or, where the target is `everyRecord`, what
 * a new rendering left to be done for all records of the dataset.
 */
export type RerenderWork = {
  locationId: LocationId
  targetDataset: DatasetName | typeof everyRecord
  dataset: DatasetName
}

/** In the place of a target's dataset and source id, neither of which is ever empty. */
export const everyRecord = ''

/** A row for every dataset of these locations whose stored documents have an earlier rendering than the contract's. Called at every start. */
export async function addRenderingWork(db: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  const earlier = await listEarlierRenderings(db, locationIds)
  await db.query(
    `insert into rerender_work (location_id, target_dataset, target_source_id, dataset)
     select location_id, $3, $3, dataset
       from unnest($1::bigint[], $2::text[]) as earlier (location_id, dataset)
         on conflict (location_id, target_dataset, target_source_id, dataset) do nothing`,
    [earlier.map(({ locationId }) => locationId), earlier.map(({ dataset }) => dataset), everyRecord],
  )
}

/** A target of it. `afterId`: its records up to there are done. */
export type RerenderTarget = { sourceId: string; afterId: string }

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
      where exists (select 1 from record_reference
                     where location_id = $1 and target_dataset = $2 and target_source_id = source_id and dataset = $4)
         on conflict (location_id, target_dataset, target_source_id, dataset) do update set after_id = 0`,
    [locationId, target.dataset, target.sourceIds, dataset],
  )
}

/**
 * Targets whose work is due, of the next location after this one: the oldest, and others that its turn can do. Rows that failed come together with
 * others that failed as often, each time with fewer, so that one that always fails is alone at last. Housekeeping: goes over every location.
 */
export async function findRerenderWork(
  db: Queryable,
  after: LocationId,
  targetsMax: number,
): Promise<{ work: RerenderWork; sourceIds: string[] } | null> {
  const columns = 'location_id, target_dataset, target_source_id, dataset, attempts'
  const oldest = await findDue<Row>(db, 'rerender_work', columns, '', after)
  if (!oldest) return null
  const {
    location_id: locationId,
    target_dataset: targetDataset,
    target_source_id: sourceId,
    dataset,
    attempts,
  } = oldest
  const { rows } = await db.query<Row>(
    `select target_source_id
       from rerender_work
      where location_id = $1 and target_dataset = $2 and target_source_id <> $3 and dataset = $4
        and attempts = $5 and after_id = 0 and ${isWorkDue}
      order by target_source_id
      limit $6`,
    [locationId, targetDataset, sourceId, dataset, attempts, Math.floor(targetsMax / 8 ** attempts)],
  )
  const sourceIds = [sourceId, ...rows.map((row) => row.target_source_id)]
  return { work: { locationId, targetDataset, dataset }, sourceIds }
}

type Row = {
  location_id: LocationId
  target_dataset: DatasetName | typeof everyRecord
  target_source_id: string
  dataset: DatasetName
  attempts: number
}

/** Those of these targets that are still to be done now that the turn is held: another process may have finished them. */
export async function lockRerenderWork(
  client: PoolClient,
  { locationId, targetDataset, dataset }: RerenderWork,
  sourceIds: readonly string[],
): Promise<RerenderTarget[]> {
  const { rows } = await client.query<{ target_source_id: string; after_id: string }>(
    `select target_source_id, after_id
       from rerender_work
      where location_id = $1 and target_dataset = $2 and target_source_id = any($3::text[]) and dataset = $4
      order by target_source_id
        for update`,
    [locationId, targetDataset, textArray(sourceIds), dataset],
  )
  return rows.map((row) => ({ sourceId: row.target_source_id, afterId: row.after_id }))
}

/**
 * Ids of the records that refer to any of these targets, rising; null: more than `most` do. Reads no more than that, however many there are: each
 * target's by the primary key. `|| ''` keeps the index of a dataset's references out, which would be read whole for each target.
 */
export async function listReferringUpTo(
  client: PoolClient,
  { locationId, targetDataset, dataset }: RerenderWork,
  sourceIds: readonly string[],
  most: number,
): Promise<string[] | null> {
  const { rows } = await client.query<{ record_id: string }>(
    `select referring.record_id
       from unnest($3::text[]) as target (source_id)
      cross join lateral (
            select record_id
              from record_reference
             where location_id = $1 and target_dataset = $2 and target_source_id = target.source_id
               and dataset || '' = $4
             limit $5) referring
      limit $5`,
    [locationId, targetDataset, textArray(sourceIds), dataset, most + 1],
  )
  if (rows.length > most) return null
  const ids = new Set(rows.map((row) => row.record_id))
  return [...ids].sort((one, other) => Number(BigInt(one) - BigInt(other)))
}

/** Moves one target's work on to `afterId`. */
export async function saveRerenderWork(
  client: PoolClient,
  { locationId, targetDataset, dataset }: RerenderWork,
  { sourceId, afterId }: RerenderTarget,
): Promise<void> {
  await client.query(
    `update rerender_work set after_id = $5, attempts = 0, last_error = null
      where location_id = $1 and target_dataset = $2 and target_source_id = $3 and dataset = $4`,
    [locationId, targetDataset, sourceId, dataset, afterId],
  )
}

/** Ends the work of these targets. */
export async function deleteRerenderWork(
  client: PoolClient,
  { locationId, targetDataset, dataset }: RerenderWork,
  sourceIds: readonly string[],
): Promise<void> {
  await client.query(
    `delete from rerender_work
      where location_id = $1 and target_dataset = $2 and target_source_id = any($3::text[]) and dataset = $4`,
    [locationId, targetDataset, textArray(sourceIds), dataset],
  )
}
