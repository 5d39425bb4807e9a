import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '../../../platform/database/pool.ts'
import { aPlan, aSchedule, someWorld } from '../../../testing/test-world.ts'
import { noteNumber } from '../../agents/agent-number.ts'
import { storeUpload } from './upload.ts'

test('the statements of small uploads are planned once for a connection, however many uploads come', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('fee_schedules', { a: aSchedule({ name: 'A' }) })
  const { agentId } = await world.addAgent(location.organizationId)
  const pool = createPool(String(world.pool.options.connectionString), {
    max: 1,
    log: () => {},
    applicationName: 'upload.test',
  })
  t.after(() => pool.end())
  let uploads = 0
  const send = (name: string) => {
    uploads += 1
    const source = JSON.stringify(aPlan({ plan_name: name, fee_schedule_source_id: 'a' }))
    const key = { locationId: location.id, dataset: 'insurance_plans', agentId, fence: null } as const
    const upload = { ...key, number: String(uploads), bodyHash: '00'.repeat(32) }
    return storeUpload(pool, { ...upload, lines: [{ sourceId: 'p', source }] }, () => new Date())
  }
  const plans = async () => {
    const { rows } = await pool.query<{ statements: number; runs: number; custom: number }>(
      `select count(*)::integer as statements, sum(generic_plans)::integer as runs, sum(custom_plans)::integer as custom
         from pg_prepared_statements where name like 'statement.%'`,
    )
    return rows[0] ?? assert.fail()
  }

  assert.equal((await send('New')).answer.inserted, 1)
  assert.equal((await send('Changed')).answer.changed, 1)
  const before = await plans()
  for (const name of ['One', 'Two', 'Three']) assert.equal((await send(name)).answer.changed, 1)
  const after = await plans()

  assert.equal(after.custom, 0)
  assert.equal(after.statements, before.statements)
  // Most of them run with each change; those of a new record did not run again.
  assert.ok(after.runs - before.runs > 3 * 10, `${after.runs - before.runs} runs`)
})

test('an upload that waits too long for another one of its agent, of whatever location, is busy and changes nothing', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const { agentId } = location.agent
  await location.upload('insurance_plans', { p: aPlan({ plan_name: 'Before' }) })
  const other = await world.pool.connect()
  try {
    await other.query('begin')
    await noteNumber(other, agentId, '100')
    await assert.rejects(
      storeUpload(
        world.pool,
        {
          locationId: location.id,
          dataset: 'insurance_plans',
          agentId,
          fence: null,
          number: '101',
          bodyHash: '00'.repeat(32),
          lines: [{ sourceId: 'p', source: null }],
        },
        () => new Date(),
      ),
      { code: 'busy', retryAfterSeconds: 5 },
    )
  } finally {
    await other.query('rollback')
    other.release()
  }
  const { rows } = await world.pool.query('select is_hidden from record')
  assert.deepEqual(rows, [{ is_hidden: false }])
})
