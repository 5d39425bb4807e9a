import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, aSchedule, someWorld } from '../../../testing/test-world.ts'
import { findReferring } from './reference-store.ts'

test('which datasets refer to anything is known by a look for each, with and without statistics', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('fee_schedules', { a: aSchedule({ name: 'A' }) })
  const plans = Array.from({ length: 4_000 }, (_, index) => [`p${index}`, aPlan({ fee_schedule_source_id: 'a' })])
  await location.upload('insurance_plans', Object.fromEntries(plans))
  const client = await world.ownerPool.connect()
  t.after(() => client.release())

  for (const statistics of [false, true]) {
    if (statistics) await client.query('analyze record_reference')
    await client.query('begin')
    const read = async () => {
      const { rows } = await client.query<{ rows: string }>(
        `select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'record_reference'`,
      )
      return Number(rows[0]?.rows)
    }
    const before = await read()
    const referring = await findReferring(client, location.id, ['patients', 'insurance_plans'])
    const rowsRead = (await read()) - before
    await client.query('rollback')
    assert.deepEqual([...referring], ['insurance_plans'])
    assert.ok(rowsRead < 10, `${rowsRead} rows, statistics: ${statistics}`)
  }
})
