import type { DatasetName } from '../../dataset-resource.ts'
import type { SyncKey } from '../../sync/store.ts'
import { tableOf } from '../layout.ts'
import { namesOf, selectItems, selectRows, writeItems, writeRows } from './postgres-tables.ts'

type Queryable = { query: (sql: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }> }

/**
 * Compares the rows of one dataset of one location with its records, in one statement for each table, and writes those that differ again.
 * Returns of how many records they differ. In the caller's transaction: nothing else writes these records meanwhile.
 */
export async function checkRows(
  client: Queryable,
  schema: string,
  { dataset, locationId }: SyncKey,
  repair: boolean,
): Promise<number> {
  // One at a time: a row that was moved to another location is wrong in both.
  await client.query(`select pg_advisory_xact_lock(hashtext('bridgework/rows'))`)
  await client.query(`select 1 from ${schema}.sync_position where dataset = $1 and location_id = $2 for update`, [
    dataset,
    locationId,
  ])
  const { rows } = await client.query(differences(schema, dataset), [locationId])
  const ids = rows.map(({ id }) => String(id))
  if (ids.length === 0 || !repair) return ids.length
  // By id alone, which is unique over all locations: a row may have been moved to another one.
  for (const { name, id } of tablesOf(dataset)) {
    await client.query(`delete from ${schema}.${name} where ${id} = any ($1::bigint[])`, [ids])
  }
  const records = `${recordsOf(schema, dataset)} and id = any ($2::bigint[])`
  await client.query(writeRows(schema, dataset, records), [locationId, ids])
  for (const list of tableOf(dataset).lists) await client.query(writeItems(schema, list, records), [locationId, ids])
  return ids.length
}

/** The ids of records whose rows are not those that they give, of rows that no record gives, and of rows at a location that the mirror does not have. */
export function differences(schema: string, dataset: DatasetName): string {
  const records = recordsOf(schema, dataset)
  return tablesOf(dataset)
    .map(
      ({ name, id, keys, table, select }) => `
        select ${id} as id
          from (${select(records)}) as given
          full join (select ${namesOf(['location_id', ...keys], table).join(', ')}
                       from ${schema}.${name}
                      where location_id = $1
                         or location_id not in (select location_id from ${schema}.sync_position where dataset = '${dataset}')) as own
               using (${keys.join(', ')})
         where row (given.*) is distinct from row (own.*)`,
    )
    .join(' union ')
}

/** The tables that have rows of a dataset's records, how a row of each is found, and what selects the rows that records give. */
function tablesOf(dataset: DatasetName) {
  const table = tableOf(dataset)
  return [
    { name: dataset, id: 'id', keys: ['id'], table, select: (records: string) => selectRows(dataset, records) },
    ...table.lists.map((list) => ({
      name: list.name,
      id: list.parent,
      keys: [list.parent, 'position'],
      table: list,
      select: (records: string) => selectItems(list, records),
    })),
  ]
}

function recordsOf(schema: string, dataset: DatasetName): string {
  return `select location_id, id, attributes from ${schema}.raw_record where dataset = '${dataset}' and location_id = $1`
}
