import { hash } from 'node:crypto'
import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import type { LocationId } from '../../platform/identity/identity.ts'
import { findIds } from './write-store.ts'

type Db = Pick<PoolClient, 'query'>

/** Lines that follow each other in an upload, in canonical form. `bytes` and `sha256`, in hex: of their text, without the last line feed. */
type LineRun = { firstSourceId: string; records: number; bytes: number; sha256: string; recordsSha256: string }

/** A run as it was sent. */
export type SentRun = LineRun & { lastSourceId: string }

/** Stored records that follow each other by id. `recordsSha256`: of `hashRecords`. */
export type Neighbours = { firstId: string; lastId: string; records: number; recordsSha256: string }

/** A run of earlier lines that says what is stored now. `sourceIds`: its keys, one a line. */
export type StoredRun = LineRun & Neighbours & { sourceIds: string }

/** Their ids as a value of int8multirange. */
export function idsOf(runs: readonly Neighbours[]): string {
  return `{${runs.map(({ firstId, lastId }) => `[${firstId},${lastId}]`).join()}}`
}

/** The SHA-256, in hex, of records by their keys, which have no line feed, and the `hashSource` of each. With their number it tells them apart. */
export function hashRecords(sourceIds: readonly string[], hashes: string): string {
  return hash('sha256', Buffer.concat([Buffer.from(sourceIds.join('\n')), Buffer.from(hashes, 'hex')]))
}

/** What is stored of the records of `run`, in the form of `hashRecords`. Along the primary key. $1 and $2: location and dataset. */
export const storedRecords = `lateral (
  select count(*) as records, string_agg(source_id, E'\\n' order by id) as source_ids,
         sha256(convert_to(string_agg(source_id, E'\\n' order by id), 'UTF8') || string_agg(source_hash, '' order by id)) as sha256
    from (select id, source_id, source_hash
            from record
           where location_id = $1 and dataset = $2 and id >= run.first_id and id <= run.last_id
           order by id
           limit run.records + 1) as neighbours
  ) as stored`
export const isStored = 'stored.records = run.records and stored.sha256 = run.records_sha256'

/** The next runs by id, as many as have so many bytes together; those of them that say what is stored. `lastId`: their highest; null: there is none. */
export async function readLineRuns(
  db: Db,
  locationId: LocationId,
  dataset: DatasetName,
  from: { sourceId: string } | { afterId: string },
  bytes: number,
): Promise<{ runs: StoredRun[]; lastId: string | null }> {
  const start =
    'sourceId' in from
      ? { name: 'key', id: '(select id - 1 from record where location_id = $1 and dataset = $2 and source_id = $3)' }
      : { name: 'id', id: '$3::bigint' }
  type Row = [string, string, number, number, string, string, string, isStored: boolean, lastId: string]
  const { rows } = await db.query<Row>({
    name: `records.line_runs_from_${start.name}`,
    text: `select run.first_id, run.last_id, run.records, run.bytes, encode(run.sha256, 'hex'), encode(run.records_sha256, 'hex'),
                  stored.source_ids, ${isStored}, max(run.last_id) over ()
             from (select *, sum(bytes) over (order by first_id) - bytes as bytes_before
                     from (select * from line_run
                            where location_id = $1 and dataset = $2 and first_id > ${start.id}
                            order by first_id
                            limit 64) as next) as run
            cross join ${storedRecords}
            where run.bytes_before < $4
            order by run.first_id`,
    values: [locationId, dataset, 'sourceId' in from ? from.sourceId : from.afterId, bytes],
    rowMode: 'array',
  })
  const runs: StoredRun[] = []
  for (const [firstId, lastId, records, bytes, sha256, recordsSha256, sourceIds, isStored] of rows) {
    if (!isStored) continue
    const firstSourceId = sourceIds.split('\n', 1)[0] ?? ''
    runs.push({ firstId, lastId, records, bytes, sha256, recordsSha256, sourceIds, firstSourceId })
  }
  return { runs, lastId: rows[0]?.[8] ?? null }
}

/** Whether the records of all these runs are stored as they were when the runs were read. */
export async function areStored(
  db: Db,
  locationId: LocationId,
  dataset: DatasetName,
  runs: readonly Neighbours[],
): Promise<boolean> {
  const { rows } = await db.query<{ all: boolean }>(
    `select coalesce(bool_and(${isStored}), true) as all
       from unnest($3::bigint[], $4::bigint[], $5::integer[], $6::bytea[]) as run (first_id, last_id, records, records_sha256)
      cross join ${storedRecords}`,
    [
      locationId,
      dataset,
      runs.map((run) => run.firstId),
      runs.map((run) => run.lastId),
      runs.map((run) => run.records),
      runs.map((run) => Buffer.from(run.recordsSha256, 'hex')),
    ],
  )
  return rows[0]?.all === true
}

/**
 * Stores the runs of an upload for later ones, in the turn that stores its records, and returns them with their ids. A run whose records are not
 * all neighbours by id is left out. A run that begins within a new one goes: so there are never many more of them than have room. The ids are asked
 * at once for all runs: without statistics, as in a first sync, PostgreSQL may read the dataset through for each look-up by key.
 */
export async function saveLineRuns(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  sent: readonly SentRun[],
): Promise<Map<SentRun, { firstId: string; lastId: string }>> {
  if (sent.length === 0) return new Map()
  const ends = sent.flatMap((run) => [run.firstSourceId, run.lastSourceId])
  const ids = new Map<string, string>()
  for (const { id, source_id: sourceId } of await findIds(client, locationId, dataset, ends)) ids.set(sourceId, id)
  const runs = sent.flatMap((run) => {
    const [firstId, lastId] = [ids.get(run.firstSourceId), ids.get(run.lastSourceId)]
    return firstId === undefined || lastId === undefined ? [] : [{ ...run, firstId, lastId, run }]
  })
  const { rows } = await client.query<{ first_id: string }>(
    `with sent as materialized (
       select first_id, last_id, records, bytes, decode(sha256, 'hex') as sha256, decode(records_sha256, 'hex') as records_sha256
         from unnest($3::bigint[], $4::bigint[], $5::integer[], $6::integer[], $7::text[], $8::text[])
           as sent (first_id, last_id, records, bytes, sha256, records_sha256)
     ), run as materialized (
       select run.* from sent as run cross join ${storedRecords} where ${isStored}
     ), overlapping as (
       delete from line_run using run
        where line_run.location_id = $1 and line_run.dataset = $2
          and line_run.first_id > run.first_id and line_run.first_id <= run.last_id
     )
     insert into line_run (location_id, dataset, first_id, last_id, records, bytes, sha256, records_sha256)
     select $1, $2, first_id, last_id, records, bytes, sha256, records_sha256 from run
         on conflict (location_id, dataset, first_id)
         do update set last_id = excluded.last_id, records = excluded.records, bytes = excluded.bytes,
                       sha256 = excluded.sha256, records_sha256 = excluded.records_sha256
     returning first_id`,
    [
      locationId,
      dataset,
      runs.map((run) => run.firstId),
      runs.map((run) => run.lastId),
      runs.map((run) => run.records),
      runs.map((run) => run.bytes),
      runs.map((run) => run.sha256),
      runs.map((run) => run.recordsSha256),
    ],
  )
  const stored = new Set(rows.map((row) => row.first_id))
  return new Map(
    runs.filter(({ firstId }) => stored.has(firstId)).map(({ run, firstId, lastId }) => [run, { firstId, lastId }]),
  )
}
