import { type DatasetName, datasets } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'

/** Datasets of page mode are small, and their pages are found by number. */
export const packedDatasets: readonly DatasetName[] = datasets
  .filter(({ pagination }) => pagination === 'cursor')
  .map(({ name }) => name)

/**
 * Makes the state of a dataset's segments where there is none. A packer does so in a statement of its own, before its transaction: erasing a practice
 * then waits for the process that packs its records, and finds what was packed.
 */
export async function addSegmentState(db: Queryable, { locationId, dataset }: DatasetKey): Promise<void> {
  await db.query(
    'insert into segment_state (location_id, dataset) values ($1, $2) on conflict (location_id, dataset) do nothing',
    [locationId, dataset],
  )
}

/** Forgets all segments of a dataset: they are packed anew. */
export async function forgetSegments(client: PoolClient, { locationId, dataset }: DatasetKey): Promise<void> {
  await client.query('delete from segment where location_id = $1 and dataset = $2', [locationId, dataset])
  await client.query(`update segment_state set last_id = 0, records = 0 where location_id = $1 and dataset = $2`, [
    locationId,
    dataset,
  ])
}

/**
 * Forgets all segments of a dataset whose documents changed without a stamp, in the transaction that ends that. It waits for a packer that has read earlier
 * documents, and a packer waits for it.
 */
export async function forgetAllSegments(client: PoolClient, key: DatasetKey): Promise<void> {
  if (!packedDatasets.includes(key.dataset)) return
  await addSegmentState(client, key)
  await client.query('select from segment_state where location_id = $1 and dataset = $2 for update', [
    key.locationId,
    key.dataset,
  ])
  await forgetSegments(client, key)
  // Not "do nothing": a packer that has just packed the earlier documents would delete the row.
  await client.query(
    `insert into segment_due (location_id, dataset, due_at) values ($1, $2, now())
         on conflict (location_id, dataset) do update set due_at = excluded.due_at`,
    [key.locationId, key.dataset],
  )
}
