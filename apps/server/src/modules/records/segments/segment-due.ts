import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { packedDatasets } from '../write/segment-state.ts'

/**
 * A dataset whose segments are to be looked at, taken by this process. `due`: when another process may take it, as text with its microseconds. Who
 * changes that meanwhile wants it to be looked at again.
 */
export type DueDataset = DatasetKey & { due: string }

/**
 * Takes the dataset that has been due for the longest, for `checkMs`: by segment_due_at, so it costs the same however many datasets there are. What
 * is due farther ahead than as long was written before the clock went back, and does not wait for it. Null: nothing is due.
 */
export async function takeDue(
  db: Queryable,
  { checkMs, staleMs }: { checkMs: number; staleMs: number },
): Promise<DueDataset | null> {
  const { rows } = await db.query<{ location_id: LocationId; dataset: DatasetName; due: string }>({
    name: 'segments.due',
    text: `with moment as (
             select now() + $1 * interval '1 millisecond' as next_at
           ), due as (
             select location_id, dataset from segment_due
              where due_at <= now()
              order by due_at limit 1 for update skip locked
           ), ahead as (
             select location_id, dataset from segment_due
              where due_at > now() + $2 * interval '1 millisecond' and not exists (select 1 from due)
              order by due_at limit 1 for update skip locked
           )
           update segment_due
              set due_at = moment.next_at
             from moment, (select * from due union all select * from ahead) found
            where segment_due.location_id = found.location_id and segment_due.dataset = found.dataset
           returning segment_due.location_id, segment_due.dataset, due_at::text as due`,
    values: [checkMs, Math.max(checkMs, staleMs)],
  })
  const [row] = rows
  return row ? { locationId: row.location_id, dataset: row.dataset, due: row.due } : null
}

/** The dataset is due again: now, or when what is stale since then has been so for `staleMs`. */
export async function putOff(
  db: Queryable,
  { locationId, dataset, due }: DueDataset,
  stale: { since: string; staleMs: number } | null,
): Promise<void> {
  await db.query(
    `with moment as (select coalesce($4::timestamptz + $5 * interval '1 millisecond', now()) as at)
     update segment_due set due_at = moment.at
       from moment
      where location_id = $1 and dataset = $2 and due_at = $3`,
    [locationId, dataset, due, stale?.since ?? null, stale?.staleMs ?? 0],
  )
}

/**
 * Nothing is left of a dataset up to this stamp, or there is no such dataset. The row stays where a writer has its turn, or had one since: such a turn
 * found the row and added none. In the order of locks: the dataset's state, then the row.
 */
export async function endDue(
  db: Queryable,
  { locationId, dataset, due }: DueDataset,
  checkedStamp: Stamp,
): Promise<void> {
  await db.query(
    `with quiet as materialized (
       select from dataset_state
        where location_id = $1 and dataset = $2 and last_stamp = $4
          for update skip locked)
     delete from segment_due
      where location_id = $1 and dataset = $2 and due_at = $3
        and (exists (select 1 from quiet)
             or not exists (select 1 from dataset_state where location_id = $1 and dataset = $2))`,
    [locationId, dataset, due, checkedStamp],
  )
}

/** A page met segments that are not right: the packer looks at them next. False: that is known already. */
export async function noteBroken(db: Queryable, { locationId, dataset }: DatasetKey): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into segment_due (location_id, dataset, due_at) values ($1, $2, '-infinity')
         on conflict (location_id, dataset) do update set due_at = excluded.due_at
      where segment_due.due_at <> excluded.due_at`,
    [locationId, dataset],
  )
  return rowCount === 1
}

/** Locations that are searched at once. */
const searchedAtOnce = 500

/**
 * Where the tables of segments are new, or a crash of the database has emptied them: makes the datasets of the next locations due that have records
 * for a segment. Returns whether it found some, or has to go on; otherwise it costs one row.
 */
export async function searchUnpacked(pool: Pool, runRecords: number): Promise<boolean> {
  const { rows } = await pool.query<{ searched_to: LocationId | null }>('select searched_to from segment_search')
  if (rows[0]?.searched_to === null) return false
  if (!rows[0]) await pool.query('insert into segment_search default values on conflict do nothing')
  return await withTransaction(pool, async (client) => {
    const { rows: held } = await client.query<{ searched_to: LocationId }>(
      'select searched_to from segment_search where searched_to is not null for update skip locked',
    )
    if (!held[0]) return false
    const { rows: locations } = await client.query<{ location_id: LocationId }>(
      'select distinct location_id from dataset_state where location_id > $1 order by location_id limit $2',
      [held[0].searched_to, searchedAtOnce],
    )
    const { rowCount } = await client.query(
      `insert into segment_due (location_id, dataset, due_at)
       select location_id, dataset, now()
         from dataset_state
        where location_id = any($1::bigint[]) and dataset = any($2::text[]) and total >= $3
           on conflict (location_id, dataset) do nothing`,
      [locations.map((row) => row.location_id), packedDatasets, runRecords],
    )
    const last = locations.length < searchedAtOnce ? null : locations.at(-1)?.location_id
    await client.query('update segment_search set searched_to = $1', [last])
    return last !== null || rowCount !== 0
  })
}

/** Of the datasets that wait for a packer, at most this many are counted. */
const waitingMax = 10_000

/** How many datasets are due, and for how many seconds the first of them has been so. By segment_due_at. */
export async function measureDue(db: Queryable): Promise<{ datasets: number; seconds: number }> {
  const { rows } = await db.query<{ datasets: number; seconds: number }>(
    `select count(*)::integer as datasets, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as seconds
       from (select due_at from segment_due where due_at between '2000-01-01' and now() order by due_at limit $1) due`,
    [waitingMax],
  )
  return rows[0] ?? { datasets: 0, seconds: 0 }
}
