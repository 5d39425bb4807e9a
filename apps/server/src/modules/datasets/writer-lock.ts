import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { Stamp } from './stamp.ts'

/**
 * Locks a location's dataset states in the order in which the names are given, and reads them. The clock is the database's, in
 * microseconds, read after the row was locked: from then on PostgreSQL shows the transaction as one that writes, on which /changes rests
 * (docs/decisions/changes.md).
 */
export async function lockDatasetStates(client: PoolClient, locationId: LocationId, names: readonly DatasetName[]) {
  const { rows } = await client.query<{
    dataset: DatasetName
    last_stamp: string
    total: string
    visible: string
    span_from: string
    span_records: string
    clock: string
  }>(
    `with locked as materialized (
       select dataset, last_stamp, total, visible, span_from, span_records
         from dataset_state
        where location_id = $1 and dataset = any($2::text[])
        order by array_position($2::text[], dataset)
          for update)
     select *, (extract(epoch from clock_timestamp()) * 1000000)::bigint as clock from locked`,
    [locationId, names],
  )
  return rows.map((row) => ({
    dataset: row.dataset,
    lastStamp: Number(row.last_stamp),
    total: Number(row.total),
    visible: Number(row.visible),
    spanFrom: Number(row.span_from),
    spanRecords: Number(row.span_records),
    clock: Number(row.clock),
  }))
}

export async function saveDatasetState(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  state: { lastStamp: Stamp; total: number; visible: number; spanFrom: Stamp; spanRecords: number },
): Promise<void> {
  await client.query(
    `update dataset_state
        set last_stamp = $3, total = $4, visible = $5, span_from = $6, span_records = $7
      where location_id = $1 and dataset = $2`,
    [locationId, dataset, state.lastStamp, state.total, state.visible, state.spanFrom, state.spanRecords],
  )
}
