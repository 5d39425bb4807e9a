import { type DatasetName, getDataset, type SourceRecord } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import { bigintArray, keyArray, textArray } from '../../../platform/database/bulk/binary-array.ts'
import { packRows } from '../../../platform/database/bulk/binary-rows.ts'
import { copyIn } from '../../../platform/database/bulk/copy.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { partsOf } from '../../../platform/memory/parts.ts'
import { mapWithPauses } from '../../../platform/memory/pauses.ts'
import type { Moment } from '../../datasets/instant.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { type SourceColumns, sourceOf } from './stored-source.ts'

export type StoredRecord = { id: string; sourceId: string; isHidden: boolean; sourceHash: string }

/**
 * The records of these source ids. By the unique index, once PostgreSQL has statistics that know the location (`statistics.ts`); until then by
 * reading its dataset through.
 */
export async function findBySourceIds(
  client: PoolClient,
  locationId: LocationId,
  dataset: string,
  sourceIds: readonly string[],
): Promise<StoredRecord[]> {
  if (sourceIds.length === 0) return []
  const { rows } = await client.query<{ id: string; source_id: string; is_hidden: boolean; source_hash: string }>(
    `select id, source_id, is_hidden, encode(source_hash, 'hex') as source_hash
       from record
      where location_id = $1 and dataset = $2 and source_id = any($3::text[])`,
    [locationId, dataset, keyArray(sourceIds)],
  )
  return rows.map((row) => ({
    id: row.id,
    sourceId: row.source_id,
    isHidden: row.is_hidden,
    sourceHash: row.source_hash,
  }))
}

/**
 * The records of these source ids with their sources, some megabytes at a time: a source may have 4 MB, and a small upload may name thousands of
 * them. Sizes are known without reading the sources.
 */
export async function* readSources(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  sourceIds: readonly string[],
): AsyncGenerator<{ id: string; sourceId: string; isHidden: boolean; source: SourceRecord }[]> {
  const definition = getDataset(dataset)
  const { rows } = await client.query<{ id: string; bytes: number }>(
    `select id, greatest(octet_length(source), octet_length(document)) as bytes
       from record
      where location_id = $1 and dataset = $2 and source_id = any($3::text[])`,
    [locationId, dataset, keyArray(sourceIds)],
  )
  for (const part of partsOf(rows, (row) => row.bytes)) {
    const { rows: read } = await client.query<SourceColumns & { id: string; source_id: string; is_hidden: boolean }>(
      `select id, source_id, is_hidden, source, document, document_with_notes
         from record
        where location_id = $1 and dataset = $2 and id = any($3::bigint[])`,
      [locationId, dataset, bigintArray(part.map((row) => row.id))],
    )
    yield await mapWithPauses(read, (row) => ({
      id: row.id,
      sourceId: row.source_id,
      isHidden: row.is_hidden,
      source: sourceOf(definition, row),
    }))
  }
}

/**
 * Some members of the sources of these source ids' records, of a dataset whose sources are stored whole. Postgres takes them out: a fee schedule's
 * fees may have 4 MB.
 */
export async function readMembers(
  client: PoolClient,
  locationId: LocationId,
  dataset: string,
  sourceIds: readonly string[],
  names: readonly string[],
): Promise<{ id: string; sourceId: string; members: SourceRecord }[]> {
  const { rows } = await client.query<{ id: string; source_id: string; members: string }>(
    `select id, source_id,
            (select json_object_agg(key, value)::text from json_each(source::json) where key = any($4::text[])) as members
       from record
      where location_id = $1 and dataset = $2 and source_id = any($3::text[])`,
    [locationId, dataset, keyArray(sourceIds), names],
  )
  // What came later is not in every source.
  const none = Object.fromEntries(names.map((name) => [name, null]))
  return rows.map((row) => ({ id: row.id, sourceId: row.source_id, members: { ...none, ...JSON.parse(row.members) } }))
}

/** The ids of these source ids' records. */
export async function findIds(
  client: PoolClient,
  locationId: LocationId,
  dataset: string,
  sourceIds: readonly string[],
): Promise<{ id: string; source_id: string }[]> {
  const { rows } = await client.query<{ id: string; source_id: string }>(
    `select id, source_id
       from record
      where location_id = $1 and dataset = $2 and source_id = any($3::text[])`,
    [locationId, dataset, keyArray(sourceIds)],
  )
  return rows
}

/** Ids of a dataset's records after this one, rising, by the primary key. */
export async function listIdsAfter(
  db: Pick<PoolClient, 'query'>,
  locationId: LocationId,
  dataset: string,
  afterId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'select id from record where location_id = $1 and dataset = $2 and id > $3 order by id limit $4',
    [locationId, dataset, afterId, limit],
  )
  return rows.map((row) => row.id)
}

/** As many new ids of the type as asked for, rising. The sequences' names come from the contract. */
export async function drawIds(client: PoolClient, dataset: DatasetName, count: number): Promise<string[]> {
  if (count === 0) return []
  // In one row, because thousands of rows take longer to read than to draw.
  const { rows } = await client.query<{ ids: string }>(
    `select string_agg(nextval($1::regclass)::text, ',') as ids from generate_series(1, $2::integer)`,
    [`record_id_${dataset}`, count],
  )
  return rows[0]?.ids.split(',') ?? []
}

/**
 * Goes on with ids above a stamp of now, because the database was restored: vendors know other records by ids that were given since the backup. An id is
 * below the moment in microseconds at which it is given, as long as fewer than a million are given a second, so no id comes again, however often and
 * from whichever backup a database is restored. As numbers they are exact until the year 2255, as stamps are.
 */
export async function raiseRecordIds(client: Pick<PoolClient, 'query'>, above: Stamp): Promise<void> {
  await client.query('select raise_record_ids($1)', [above])
}

/** Rows are written in parts that `partsOf` makes: one statement carries each. */
export type RecordRow = {
  id: string
  source_id: string
  is_hidden: boolean
  source_hash: string
  /** As `storedSource` makes it. */
  source: string
  /** As a company without notes receives it. */
  document: string
  /** As a company with notes does; null where the record has none. */
  document_with_notes: string | null
  patient_id: string | null
  starts_at: Moment | null
}

export type Origin = { agentId: AgentId; uploadNumber: string; receivedAt: Date }

/** New records in the form of `insertRecords`. */
export function packRecords(
  locationId: LocationId,
  dataset: DatasetName,
  stamp: Stamp,
  origin: Origin,
  rows: readonly RecordRow[],
): Buffer {
  const { agentId, uploadNumber, receivedAt } = origin
  const common = [BigInt(locationId), dataset, BigInt(stamp), BigInt(agentId), BigInt(uploadNumber), receivedAt]
  const values = rows.map((row) => [
    BigInt(row.id),
    row.source_id,
    row.is_hidden,
    Buffer.from(row.source_hash, 'hex'),
    row.source,
    row.document,
    row.document_with_notes,
    row.patient_id === null ? null : BigInt(row.patient_id),
    row.starts_at,
  ])
  return packRows(common, values)
}

/** By COPY, which costs the least: that no other writer has stored a record of these source ids is what the turn is for. */
export async function insertRecords(client: PoolClient, packed: Buffer): Promise<void> {
  await copyIn(
    client,
    `copy record (location_id, dataset, modified_at, agent_id, upload_number, received_at, id, source_id, is_hidden,
                  source_hash, source, document, document_with_notes, patient_id, starts_at)
     from stdin (format binary)`,
    packed,
  )
}

export async function updateRecords(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  stamp: Stamp,
  origin: Origin,
  rows: readonly RecordRow[],
): Promise<void> {
  await client.query(
    `update record
        set modified_at = $3, is_hidden = row.is_hidden, agent_id = $4, upload_number = $5, received_at = $6,
            source_hash = decode(row.source_hash, 'hex'), source = row.source, document = row.document,
            document_with_notes = row.document_with_notes, patient_id = row.patient_id, starts_at = row.starts_at
       from unnest($7::bigint[], $8::boolean[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[], $14::bigint[])
         as row (id, is_hidden, source_hash, source, document, document_with_notes, patient_id, starts_at)
      where record.location_id = $1 and record.dataset = $2 and record.id = row.id`,
    [
      locationId,
      dataset,
      stamp,
      origin.agentId,
      origin.uploadNumber,
      origin.receivedAt,
      bigintArray(rows.map((row) => row.id)),
      rows.map((row) => row.is_hidden),
      textArray(rows.map((row) => row.source_hash)),
      textArray(rows.map((row) => row.source)),
      textArray(rows.map((row) => row.document)),
      textArray(rows.map((row) => row.document_with_notes)),
      bigintArray(rows.map((row) => row.patient_id)),
      bigintArray(rows.map((row) => row.starts_at)),
    ],
  )
}

/** Visible records become hidden: neither agent nor upload changes hands, because nothing was received. */
export async function updateHidden(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  stamp: Stamp,
  rows: readonly RecordRow[],
): Promise<void> {
  await client.query(
    `update record
        set modified_at = $3, is_hidden = true, source_hash = decode(row.source_hash, 'hex'), source = row.source,
            document = row.document, document_with_notes = row.document_with_notes
       from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[])
         as row (id, source_hash, source, document, document_with_notes)
      where record.location_id = $1 and record.dataset = $2 and record.id = row.id`,
    [
      locationId,
      dataset,
      stamp,
      bigintArray(rows.map((row) => row.id)),
      textArray(rows.map((row) => row.source_hash)),
      textArray(rows.map((row) => row.source)),
      textArray(rows.map((row) => row.document)),
      textArray(rows.map((row) => row.document_with_notes)),
    ],
  )
}
