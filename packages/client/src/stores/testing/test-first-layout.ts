import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { SyncPosition, SyncRecord } from '../../sync/store.ts'

type Kept = {
  positions: readonly SyncPosition[]
  records: readonly (SyncRecord & { dataset: string; locationId: string })[]
}

/** A mirror as the first version of the client left it: one table of records, one of positions, and a view for each dataset. */
export async function writeFirstLayout(kind: 'sqlite' | 'postgres', target: string, kept: Kept): Promise<void> {
  const positions = kept.positions.map((position) => [position.dataset, position.locationId, JSON.stringify(position)])
  const records = kept.records.map(({ dataset, locationId, id, attributes }) => [
    dataset,
    locationId,
    id,
    JSON.stringify(attributes),
  ])
  if (kind === 'sqlite') return writeSqlite(target, positions, records)
  const client = new pg.Client({ connectionString: target })
  await client.connect()
  await client.query(`create schema bridgework;
    create table bridgework.record (
      dataset text not null, location_id bigint not null, id bigint not null, attributes json not null,
      primary key (dataset, location_id, id));
    create table bridgework.position (
      dataset text not null, location_id bigint not null, position jsonb not null,
      primary key (dataset, location_id));
    create view bridgework.patients as
      select location_id, id, last_name, is_hidden
        from bridgework.record, json_to_record(attributes) as attribute (last_name text, is_hidden boolean)
       where dataset = 'patients';
    create view bridgework.ledger_transactions as
      select location_id, id, amount
        from bridgework.record, json_to_record(attributes) as attribute (amount text)
       where dataset = 'ledger_transactions'`)
  const rows = (values: readonly string[][]) => JSON.stringify(values)
  await client.query(
    `insert into bridgework.position select v->>0, (v->>1)::bigint, (v->>2)::jsonb from json_array_elements($1::json) as v`,
    [rows(positions)],
  )
  await client.query(
    `insert into bridgework.record select v->>0, (v->>1)::bigint, (v->>2)::bigint, (v->>3)::json from json_array_elements($1::json) as v`,
    [rows(records)],
  )
  await client.end()
}

function writeSqlite(file: string, positions: readonly string[][], records: readonly string[][]): void {
  const database = new DatabaseSync(file)
  database.exec(`
    pragma journal_mode = wal;
    create table bridgework_record (
      dataset text not null, location_id integer not null, id integer not null, attributes text not null,
      primary key (dataset, location_id, id)
    ) strict;
    create table bridgework_position (
      dataset text not null, location_id integer not null, position text not null,
      primary key (dataset, location_id)
    ) strict;
    create view patients as select location_id, id, json_extract(attributes, '$.last_name') as last_name
      from bridgework_record where dataset = 'patients';
    create view families as select distinct last_name from patients;
    begin`)
  const position = database.prepare('insert into bridgework_position values (?, cast(? as integer), ?)')
  for (const row of positions) position.run(...row)
  const record = database.prepare('insert into bridgework_record values (?, cast(? as integer), cast(? as integer), ?)')
  for (const row of records) record.run(...row)
  database.exec('commit')
  database.close()
}
