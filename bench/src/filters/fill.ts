import { findDataset } from '@bridgework/contract'
import { weekMicros } from '@bridgework/server/src/modules/records/write/tally.ts'
import { spanRecordsMax } from '@bridgework/server/src/modules/records/write/turn.ts'
import { runSql, type World } from '../world/practice.ts'

/** What the queries need to know of a location that was filled: where its appointments' stamps, starts and ids begin and how many there are. */
export type Filled = { locationId: string; rows: number; firstStamp: number; firstStart: number; firstId: number }

export const stepMicros = 60_000_000
export const recordsOfPatient = 20
/** Primes that divide no number of rows used here: multiplying by one shuffles, so that no filter's matches lie side by side. */
const [shuffle, stampShuffle] = [7919, 104_729]

/**
 * Gives a location so many appointments, by SQL: only reading them is measured. Starts are a minute apart and stamps a microsecond, each once,
 * both shuffled against the ids; a patient has 20.
 */
export async function fillAppointments(world: World, locationId: string, rows: number): Promise<Filled> {
  const [state] = await runSql<{ last_stamp: string; highest: string }>(
    world.ownerUrl,
    `select last_stamp, (select coalesce(max(id), 0) from record where dataset = 'appointments') as highest
       from dataset_state where location_id = $1 and dataset = 'appointments'`,
    [locationId],
  )
  const firstStamp = Number(state?.last_stamp) + 1
  const firstId = Number(state?.highest) + 1
  const firstStart = Date.UTC(2020, 0, 1) * 1000
  const dataset = findDataset('appointments')
  const attributes = dataset?.render(dataset.example, () => ({ id: '2048', source: {} }))
  const rest = JSON.stringify({ ...attributes, source_id: '501', updated_at: '2026-01-31T08:00:00.000Z' })
  await runSql(
    world.ownerUrl,
    `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash,
                         source, document, patient_id, starts_at)
     select $1::bigint, 'appointments', $2::bigint + n, n::text, $3::bigint + (n * ${stampShuffle}) % $4::bigint, false, 1, 1, now(),
            '\\x00'::bytea, $6::text, format('{"id":"%s","type":"appointment","attributes":%s}', $2::bigint + n, $7::text),
            1 + (n * ${shuffle}) % ($4::bigint / ${recordsOfPatient}), $5::bigint + ((n * ${shuffle}) % $4::bigint) * ${stepMicros}
       from generate_series(0, $4::bigint - 1) as n`,
    [locationId, firstId, firstStamp, rows, firstStart, JSON.stringify(dataset?.example), rest],
  )
  await runSql(
    world.ownerUrl,
    `insert into record_count (location_id, dataset, span_from, starts_week, records, lowest_id)
     select $1, dataset, span_from, starts_at / ${weekMicros}, count(*), min(id)
       from record, lateral (select modified_at - (modified_at - $2::bigint) % ${spanRecordsMax} as span_from) span
      where location_id = $1 and dataset = 'appointments'
      group by dataset, 3, 4`,
    [locationId, firstStamp],
  )
  await runSql(
    world.ownerUrl,
    `update dataset_state
        set total = $2, visible = $2, last_stamp = $3, span_from = $4, span_records = ${spanRecordsMax}
      where location_id = $1 and dataset = 'appointments'`,
    [locationId, rows, firstStamp + rows - 1, firstStamp + rows - spanRecordsMax],
  )
  return { locationId, rows, firstStamp, firstStart, firstId }
}
