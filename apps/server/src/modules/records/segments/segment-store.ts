import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import { bigintArray, bytesArray } from '../../../platform/database/bulk/binary-array.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { PackedRun } from '../../../platform/gzip/packed-run.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import type { Document } from '../write/document.ts'
import { packedDatasets } from '../write/segment-state.ts'

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

/**
 * A dataset of the next location after this one with work: records for another segment, changes that were not looked at for `checkMs`, or stale
 * segments that are to be packed again. After the last location come the first ones again. What lies ahead was written before the clock went back, and
 * does not wait for it.
 */
export async function findUnpacked(
  db: Queryable,
  after: LocationId,
  { checkMs, staleMs, runRecords }: { checkMs: number; staleMs: number; runRecords: number },
): Promise<DatasetKey | null> {
  const { rows } = await db.query<{ location_id: LocationId; dataset: DatasetName }>(
    `select s.location_id, s.dataset
       from dataset_state s
       left join segment_state g on g.location_id = s.location_id and g.dataset = s.dataset
      where s.dataset = any($2::text[]) and s.total >= $3
        and (s.total >= coalesce(g.records, 0) + $3
             or (s.last_stamp > g.checked_stamp
                 and (g.checked_at < now() - $4 * interval '1 millisecond' or g.checked_at > now()))
             or g.due_at <= now() or g.due_at > now() + $5 * interval '1 millisecond')
      order by s.location_id <= $1, s.location_id, s.dataset
      limit 1`,
    [after, packedDatasets, runRecords, checkMs, staleMs],
  )
  return rows[0] ? { locationId: rows[0].location_id, dataset: rows[0].dataset } : null
}

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
     ), marked as (
       update segment
          set stale_since = now()
        where location_id = $1 and dataset = $2 and stale_since is null and last_id in (select last_id from hit)
     )
     select (select last_stamp from known), (select stamp from bound) as bound`,
    [locationId, dataset, checkedStamp, lastId, checkedMax],
  )
  const { last_stamp: last = null, bound = null } = rows[0] ?? {}
  if (last === null) return null
  return { checkedStamp: Number(bound ?? last), isAll: bound === null }
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

/** Saves how far the segments are kept, and when the longest stale one will have been so for `staleMs`. */
export async function saveSegmentState(
  client: PoolClient,
  { locationId, dataset }: DatasetKey,
  state: SegmentState & { isAll: boolean },
  { staleMs }: { staleMs: number },
): Promise<void> {
  await client.query(
    `update segment_state
        set checked_stamp = $3, checked_at = case when $4 then now() else checked_at end, last_id = $5, records = $6,
            due_at = (select min(stale_since) from segment where location_id = $1 and dataset = $2 and stale_since is not null)
                     + $7 * interval '1 millisecond'
      where location_id = $1 and dataset = $2`,
    [locationId, dataset, state.checkedStamp, state.isAll, state.lastId, state.records, staleMs],
  )
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

/** A page met segments that are not right: the packer looks at them next. False: that is known already. */
export async function noteBroken(db: Queryable, { locationId, dataset }: DatasetKey): Promise<boolean> {
  const { rowCount } = await db.query(
    `update segment_state set due_at = '-infinity'
      where location_id = $1 and dataset = $2 and due_at is distinct from '-infinity'`,
    [locationId, dataset],
  )
  return rowCount === 1
}

/** How many records are in segments, in stale ones of these, and in none. Over all locations: a sum over one row for each dataset. */
export async function countPacked(db: Queryable): Promise<{ packed: number; unpacked: number; stale: number }> {
  const { rows } = await db.query<{ packed: string; unpacked: string; stale: string }>(
    `select coalesce(sum(coalesce(g.records, 0)), 0) as packed, coalesce(sum(s.total - coalesce(g.records, 0)), 0) as unpacked,
            (select coalesce(sum(records), 0) from segment where stale_since is not null) as stale
       from dataset_state s
       left join segment_state g on g.location_id = s.location_id and g.dataset = s.dataset
      where s.dataset = any($1::text[])`,
    [packedDatasets],
  )
  const { packed, unpacked, stale } = rows[0] ?? {}
  return { packed: Number(packed), unpacked: Number(unpacked), stale: Number(stale) }
}
