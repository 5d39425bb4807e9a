import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { packedDatasets } from './segment-state.ts'
import { type Bucket, noWeek, weekMicros } from './tally.ts'

/**
 * Adds what a turn changed to the counts. What left is taken from its span, the last one that begins at or before its stamp: a row that counts
 * it is there, and spans do not overlap. The same statement makes the dataset's segments due; most often they are already.
 */
export async function saveCounts(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  spanFrom: Stamp,
  buckets: readonly Bucket[],
): Promise<void> {
  await client.query(
    `with due as (
       insert into segment_due (location_id, dataset, due_at)
       select $1, $2, now() where $5::boolean
           on conflict (location_id, dataset) do nothing)
     insert into record_count as counted (location_id, dataset, span_from, starts_week, records, lowest_id)
     select $1, $2,
            case when row.stamp >= $3 then $3
                 else (select max(span_from) from record_count
                        where location_id = $1 and dataset = $2 and span_from <= row.stamp)
            end as span,
            row."startsWeek", sum(row.records), min(row."lowestId")
       from json_to_recordset($4::json) as row (stamp bigint, "startsWeek" integer, records bigint, "lowestId" bigint)
      group by span, row."startsWeek"
         on conflict (location_id, dataset, span_from, starts_week) do update
        set records = counted.records + excluded.records, lowest_id = least(counted.lowest_id, excluded.lowest_id)`,
    [locationId, dataset, spanFrom, JSON.stringify(buckets), packedDatasets.includes(dataset)],
  )
}

/** As `weekOf`: a division of whole numbers is rounded up before 1970 here too. */
const weekOfStart = `(starts_at - (starts_at < 0)::integer * ${weekMicros - 1n}) / ${weekMicros}`

/** How many of these records each bucket counts now, by the primary key. */
export async function findBuckets(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  ids: readonly string[],
): Promise<Bucket[]> {
  if (ids.length === 0) return []
  const { rows } = await client.query<Record<'stamp' | 'starts_week' | 'records' | 'lowest_id', string>>(
    `select modified_at as stamp, coalesce(${weekOfStart}, ${noWeek}) as starts_week, count(*) as records, min(id) as lowest_id
       from record
      where location_id = $1 and dataset = $2 and id = any($3::bigint[])
      group by 1, 2`,
    [locationId, dataset, ids],
  )
  return rows.map((row) => ({
    stamp: Number(row.stamp),
    startsWeek: Number(row.starts_week),
    records: Number(row.records),
    lowestId: Number(row.lowest_id),
  }))
}

/** Forgets the rows that count nothing any more. */
export async function deleteEmptyCounts(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
): Promise<void> {
  await client.query(`delete from record_count where location_id = $1 and dataset = $2 and records = 0`, [
    locationId,
    dataset,
  ])
}
