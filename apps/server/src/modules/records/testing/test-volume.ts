import type { Pool } from 'pg'
import type { DatasetKey } from '../../datasets/dataset-state.ts'

/**
 * Copies of a location's first record of a dataset, until its records are `p0` to `p<count - 1>`: as though one upload had brought
 * them, but in a second and not in a minute.
 */
export async function copyRecords(pool: Pool, { locationId, dataset }: DatasetKey, count: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin; set local statement_timeout = 0')
    await client.query(
      `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash,
                           source, document)
       select location_id, dataset, nextval($4::regclass), 'p' || n, modified_at, false, agent_id, upload_number, received_at, source_hash,
              source, document
         from record
        cross join generate_series(1, $3::integer - 1) as n
        where location_id = $1 and dataset = $2 and source_id = 'p0'`,
      [locationId, dataset, count, `record_id_${dataset}`],
    )
    await client.query(
      `insert into record_reference (location_id, target_dataset, target_source_id, dataset, record_id)
       select r.location_id, e.target_dataset, e.target_source_id, r.dataset, r.id
         from record_reference e
         join record p0 on p0.location_id = $1 and p0.dataset = $2 and p0.id = e.record_id and p0.source_id = 'p0'
         join record r on r.location_id = $1 and r.dataset = $2 and r.id <> p0.id
        where e.location_id = $1 and e.dataset = $2`,
      [locationId, dataset],
    )
    for (const [table, more] of [
      ['dataset_state', 'total = $3, visible = $3, span_records = $3'],
      ['record_count', 'records = $3'],
    ]) {
      await client.query(`update ${table} set ${more} where location_id = $1 and dataset = $2`, [
        locationId,
        dataset,
        count,
      ])
    }
    await client.query('commit')
  } finally {
    client.release()
  }
}
