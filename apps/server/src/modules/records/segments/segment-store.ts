import type { PoolClient } from 'pg'
import { bigintArray, bytesArray } from '../../../platform/database/bulk/binary-array.ts'
import type { PackedRun } from '../../../platform/gzip/packed-run.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import type { Document } from '../write/document.ts'

/**
 * The statements that keep segments: docs/decisions/segments.md. They read the stamp of the dataset in the statement that reads its records, so that
 * both are of one moment.
 */

/** A segment has so many records. A page of 5,000 is twenty of them; a change makes one of them stale. */
export const runRecordsUsual = 250

/** The ids that a segment covers: the first one excluded. */
export type Run = { afterId: string; lastId: string }

/** A segment, and the dataset's last stamp when its documents were read. */
export type Segment = Run & PackedRun & { records: number; stamp: Stamp }

/** How far a dataset's segments are kept, while this transaction is the only one that writes them. */
export type SegmentState = { checkedStamp: Stamp; lastId: string; records: number }

/** Locks the state of a dataset's segments; null while another process has the lock. */
export async function lockSegmentState(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
): Promise<SegmentState | null> {
  const { rows } = await client.query<{ checked_stamp: string; last_id: string; records: string }>(
    `select checked_stamp, last_id, records
       from segment_state
      where location_id = $1 and dataset = $2
        for update skip locked`,
    [locationId, dataset],
  )
  const [row] = rows
  return row ? { checkedStamp: Number(row.checked_stamp), lastId: row.last_id, records: Number(row.records) } : null
}

/** Deletes the locked state of a dataset that was erased meanwhile. */
export async function deleteSegmentState(client: PoolClient, { locationId, dataset }: DatasetKey): Promise<void> {
  await client.query('delete from segment_state where location_id = $1 and dataset = $2', [locationId, dataset])
}

/**
 * Marks the segments in which a record changed since the last check: looks at `limit` changes, and all of the last one's stamp. Returns the stamp up to
 * which that is now known, and whether it is the dataset's last one; null when there is no such dataset any more. By record_modified, which has all that
 * it needs; a segment is found by its key.
 */
export async function markStale(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
  { checkedStamp, lastId }: SegmentState,
  { checkedMax }: { checkedMax: number },
): Promise<{ checkedStamp: Stamp; isAll: boolean } | null> {
  const { rows } = await client.query<{ last_stamp: string | null; bound: string | null }>(
    `with known as materialized (
       select last_stamp from dataset_state where location_id = $1 and dataset = $2
     ), bound as materialized (
       select (select modified_at
                 from record
                where location_id = $1 and dataset = $2 and modified_at > $3
                order by modified_at
               offset $5::bigint - 1 limit 1) as stamp
     ), changed as materialized (
       select id, modified_at
         from record
        where location_id = $1 and dataset = $2 and modified_at > $3 and id <= $4
          and modified_at <= coalesce((select stamp from bound), (select last_stamp from known))
     ), hit as materialized (
       select distinct near.last_id
         from changed
        cross join lateral (
              select last_id, stamp
                from segment
               where location_id = $1 and dataset = $2 and last_id >= changed.id
               order by last_id
               limit 1) near
        where changed.modified_at > near.stamp
     ), moment as (
       select now() as at
     ), marked as (
       update segment
          set stale_since = moment.at
         from moment
        where location_id = $1 and dataset = $2 and stale_since is null and last_id in (select last_id from hit)
     )
     select (select last_stamp from known), (select stamp from bound) as bound`,
    [locationId, dataset, checkedStamp, lastId, checkedMax],
  )
  const { last_stamp: last = null, bound = null } = rows[0] ?? {}
  if (last === null) return null
  return { checkedStamp: Number(bound ?? last), isAll: bound === null || bound === last }
}

/** The runs that have been stale for `staleMs`, the longest first, and those that became so before the clock went back. */
export async function listStaleRuns(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
  { staleMs, limit }: { staleMs: number; limit: number },
): Promise<Run[]> {
  const { rows } = await client.query<{ after_id: string; last_id: string }>(
    `select after_id, last_id
       from segment
      where location_id = $1 and dataset = $2
        and (stale_since <= now() - $3 * interval '1 millisecond' or stale_since > now())
      order by stale_since
      limit $4`,
    [locationId, dataset, staleMs, limit],
  )
  return rows.map((row) => ({ afterId: row.after_id, lastId: row.last_id }))
}

/** At most `limit` of a run's documents, in id order, and the dataset's last stamp at that moment. Without `lastId` there is no end. */
export async function readRun(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
  { afterId, lastId = String(2n ** 63n - 1n) }: { afterId: string; lastId?: string },
  limit: number,
): Promise<{ documents: Document[]; stamp: Stamp }> {
  const { rows } = await client.query<[id: string, document: string, stamp: string]>({
    name: 'records.run',
    text: `select id, document, (select last_stamp from dataset_state where location_id = $1 and dataset = $2)
             from record
            where location_id = $1 and dataset = $2 and id > $3 and id <= $4
            order by id
            limit $5`,
    values: [locationId, dataset, afterId, lastId, limit],
    rowMode: 'array',
  })
  return { documents: rows.map(([id, document]) => [id, document]), stamp: Number(rows[0]?.[2] ?? 0) }
}

/** Stores segments; one of the same last id is replaced. */
export async function saveSegments(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
  segments: readonly Segment[],
): Promise<void> {
  await client.query(
    `insert into segment (location_id, dataset, last_id, after_id, records, stamp, bytes, crc32, data, lines_at, lines_crc32)
     select $1, $2, run.last_id, run.after_id, run.records, run.stamp, run.bytes, run.crc32, run.data,
            run.lines_at, run.lines_crc32
       from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[],
                   $10::bigint[], $11::bigint[])
         as run (last_id, after_id, records, stamp, bytes, crc32, data, lines_at, lines_crc32)
         on conflict (location_id, dataset, last_id) do update
        set after_id = excluded.after_id, records = excluded.records, stamp = excluded.stamp, stale_since = null,
            bytes = excluded.bytes, crc32 = excluded.crc32, data = excluded.data,
            lines_at = excluded.lines_at, lines_crc32 = excluded.lines_crc32`,
    [
      locationId,
      dataset,
      bigintArray(segments.map((segment) => segment.lastId)),
      bigintArray(segments.map((segment) => segment.afterId)),
      bigintArray(segments.map((segment) => segment.records)),
      bigintArray(segments.map((segment) => segment.stamp)),
      bigintArray(segments.map((segment) => segment.bytes)),
      bigintArray(segments.map((segment) => segment.crc32)),
      bytesArray(segments.map((segment) => segment.data)),
      bigintArray(segments.map(({ lines }) => lines?.at ?? 0)),
      bigintArray(segments.map(({ lines }) => lines?.crc32 ?? 0)),
    ],
  )
}

/** Saves how far the segments are kept. Returns since when the longest stale one is so, as text with its microseconds; null: none is stale. */
export async function saveSegmentState(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
  state: SegmentState,
): Promise<string | null> {
  const { rows } = await client.query<{ stale_since: string | null }>(
    `update segment_state
        set checked_stamp = $3, last_id = $4, records = $5
      where location_id = $1 and dataset = $2
      returning (select min(stale_since)::text from segment
                  where location_id = $1 and dataset = $2 and stale_since is not null) as stale_since`,
    [locationId, dataset, state.checkedStamp, state.lastId, state.records],
  )
  return rows[0]?.stale_since ?? null
}

/**
 * Whether a dataset's segments are what its state says: from the first record on each begins where the one before it ends, all have as many records
 * as a segment has, and together as many as are packed.
 */
export async function areWhole(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
  state: Pick<SegmentState, 'lastId' | 'records'>,
  runRecords: number,
): Promise<boolean> {
  const { rows } = await client.query<{ is_whole: boolean }>(
    `select coalesce(bool_and(after_id = before_id and records = $5), true)
            and coalesce(max(last_id), 0) = $3 and coalesce(sum(records), 0) = $4 as is_whole
       from (select last_id, after_id, records, lag(last_id, 1, 0::bigint) over (order by last_id) as before_id
               from segment
              where location_id = $1 and dataset = $2) each`,
    [locationId, dataset, state.lastId, state.records, runRecords],
  )
  return rows[0]?.is_whole ?? false
}
