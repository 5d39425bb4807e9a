import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { createHousekeeping } from './housekeeping.ts'
import { createProofAccess } from './modules/directory/domain-proof.ts'
import { createTestDatabase } from './platform/database/testing/test-database.ts'
import type { LogEvent } from './platform/log/log-event.ts'

function someHousekeeping(pool: Pool) {
  const events: LogEvent[] = []
  const housekeeping = createHousekeeping({
    pool,
    log: (event) => events.push(event),
    proofAccess: createProofAccess(),
  })
  return { run: housekeeping.run, events }
}

test('a deletion that fails keeps no other from its work, and is tried again', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  await ownerPool.query(
    `insert into mail (recipient, subject, text_body, created_at) values ('a@example.com', 's', 't', now() - interval '8 days')`,
  )
  await ownerPool.query(
    `insert into service_minute (minute_at, process_id, event_loop_lag_ms, memory_bytes, connections_busy, connections_waited_for, connections_max,
                                 disk_free_bytes, slots_in_use, database_bytes, rerender_waiting, mails_waiting)
     values (now() - interval '1 year', gen_random_uuid(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
  )
  const mails = async () => (await ownerPool.query('select from mail')).rowCount
  const minutes = async () => (await ownerPool.query('select from service_minute')).rowCount
  await ownerPool.query('alter table service_minute rename to away')
  const { run, events } = someHousekeeping(pool)
  await run()
  assert.deepEqual(events, [{ event: 'task.failed', task: 'delete old minutes', error: '42P01' }])
  assert.equal(await mails(), 0)

  await ownerPool.query('alter table away rename to service_minute')
  assert.equal(await minutes(), 1)
  await run()
  assert.equal(await minutes(), 0)
  assert.equal(events.length, 1)
})

test('each piece of housekeeping has an attempt and a name of its own', async () => {
  const query = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  const { run, events } = someHousekeeping({ query, connect: query } as unknown as Pool)
  await run()
  const tasks = events.map((event) => {
    assert.partialDeepStrictEqual(event, { event: 'task.failed', error: 'ECONNREFUSED' })
    return 'task' in event && event.task
  })
  assert.equal(new Set(tasks).size, 18)
  assert.equal(tasks.length, 18)
})
