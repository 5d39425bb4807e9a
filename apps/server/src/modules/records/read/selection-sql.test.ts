import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { aRecord, someWorld } from '../../../testing/test-world.ts'
import { permitRead } from '../../consent/read-permit.ts'
import { chooseReading } from './reading.ts'
import type { Selection } from './selection.ts'

type Plan = { 'Index Name'?: string; 'Index Cond'?: string; Plans?: Plan[]; [property: string]: unknown }

/** The statements of every selection that a list may have, each with the index that it follows and what that index is asked. */
const expected = {
  'records.count.patient.patient': 'record_patient: patient_id, without the table',
  'records.count.patient.patient_modified': 'record_patient: patient_id',
  'records.count.patient.patient_starts': 'record_patient: patient_id',
  'records.count.patient.patient_starts_modified': 'record_patient: patient_id',
  'records.count.modified.starts_modified': 'record_modified: modified_at',
  'records.count.starts.starts_modified': 'record_starts: starts_at',
  'records.count_up_to.modified.modified': 'record_modified: modified_at, without the table',
  'records.count_up_to.starts.starts': 'record_starts: starts_at, without the table',
  'records.read.patient.patient': 'record_patient: patient_id id',
  'records.read.patient.patient_modified': 'record_patient: patient_id id',
  'records.read.patient.patient_starts': 'record_patient: patient_id id',
  'records.read.patient.patient_starts_modified': 'record_patient: patient_id id',
  'records.read.modified.starts_modified': 'record_modified: modified_at id',
  'records.read.starts.starts': 'record_starts: starts_at id, without the table',
  'records.read.starts.starts_modified': 'record_starts: starts_at id',
  'records.read.id.modified': 'record_pkey: id',
  'records.read.id.starts': 'record_pkey: id',
  'records.read.id.starts_modified': 'record_pkey: id',
}

test('each filter is read along the index that was chosen for it, whatever the values', async (t) => {
  const { world, permit } = await someAppointments(t)
  const statements = new Map<string, string>()
  const watched = {
    query: (query: { name: string; text: string }) => {
      statements.set(query.name, query.text)
      return world.pool.query(query as never)
    },
  } as unknown as Pool
  for (const patientId of [null, '7']) {
    for (const startsFrom of [null, 0n, 900n * hour]) {
      for (const modifiedAfter of [null, 1]) {
        const selection: Selection = { patientId, modifiedAfter, startsFrom, startsTo: null }
        if (patientId === null && startsFrom === null && modifiedAfter === null) continue
        for (const sortedMax of [0, 500, 100_000]) {
          const { read } = await chooseReading(watched, permit, selection, sortedMax)
          await read(watched, permit, '1', 10)
        }
      }
    }
  }

  const found: Record<string, string> = {}
  for (const [name, text] of statements) {
    if (!/^records\.(read|count|count_up_to)\./.test(name)) continue
    const { rows } = await world.pool.query(`explain (generic_plan, format json, costs off) ${text}`)
    found[name] = followed(rows[0]['QUERY PLAN'][0].Plan) ?? 'no index'
  }
  assert.deepEqual(found, expected)
})

const hour = 3_600_000_000n

/** The index that a plan follows to choose records, and the columns that it is asked beside location and dataset. */
function followed(plan: Plan): string | null {
  for (const below of plan.Plans ?? []) {
    const found = followed(below)
    if (found !== null) return found
  }
  const { 'Index Name': index, 'Index Cond': condition = '' } = plan
  if (index === undefined) return null
  const columns = [...new Set(condition.match(/\b(patient_id|starts_at|modified_at|id)\b/g))]
  return `${index}: ${columns.join(' ')}${plan['Node Type'] === 'Index Only Scan' ? ', without the table' : ''}`
}

/** A table of twenty locations with a thousand appointments each, and the permit of one of them. */
async function someAppointments(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('appointments', { a: aRecord('appointments') })
  await world.ownerPool.query(
    `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash,
                         source, document, patient_id, starts_at)
     select location_id + place, dataset, id + n, 'a' || n, modified_at - n, false, agent_id, upload_number, received_at, source_hash,
            source, document, n % 50, n * ${hour}::bigint
       from record
      cross join generate_series(0, 19) as place
      cross join generate_series(1, 1000) as n`,
  )
  await world.ownerPool.query('update record_count set records = 1001')
  await world.ownerPool.query('update dataset_state set total = 1001')
  await world.ownerPool.query('vacuum analyze record')
  const vendor = await world.addVendor([location])
  const token = await world.tokens.verify(await vendor.token())
  const appointments = datasetNames.find((name) => name === 'appointments') ?? assert.fail()
  return { world, permit: await permitRead(world.pool, token, location.id, appointments, { previewOff: false }) }
}
