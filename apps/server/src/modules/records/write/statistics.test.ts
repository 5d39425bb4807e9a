import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { eventually } from '../../../apis/vendor-api/testing/test-answer.ts'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import type { LogEvent } from '../../../platform/log/log-event.ts'
import { aPlan, someWorld } from '../../../testing/test-world.ts'
import { createRecordStatistics } from './statistics.ts'

test('a location that is new to the statistics is known to them once it has some thousand records', async (t) => {
  const world = await someWorld(t)
  await world.addLocation({ insurancePlans: 300 })
  await world.ownerPool.query('analyze record')
  const location = await world.addLocation()
  const keys = Array.from({ length: 6_000 }, (_, index) => `p${index}`)
  const upload = (from: number, to: number) =>
    location.upload('insurance_plans', Object.fromEntries(keys.slice(from, to).map((key) => [key, aPlan()])))
  const expected = async () => {
    const { rows } = await world.pool.query<{ 'QUERY PLAN': string }>(
      `explain select from record where location_id = ${location.id} and dataset = 'insurance_plans'`,
    )
    return Number(/rows=(\d+)/.exec(rows[0]?.['QUERY PLAN'] ?? '')?.[1])
  }

  await upload(0, 4_000)
  assert.equal(await expected(), 1)
  await upload(4_000, 6_000)
  await eventually(async () => (await expected()) > 5_000, 10_000, 'PostgreSQL expects as many records as there are')
})

test('statistics are renewed when records are four times as many, one renewal at a time and with rests, and after a failure too', async (t) => {
  const { pool } = await createTestDatabase(t)
  const events: LogEvent[] = []
  const begun: number[] = []
  let hold = Promise.withResolvers<void>()
  const held = {
    connect: async () => {
      begun.push(performance.now())
      await hold.promise
      return await pool.connect()
    },
  } as unknown as Pool
  const statistics = createRecordStatistics({ pool: held, log: (event) => void events.push(event) })
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  statistics.noteGrowth(0, 4_999)
  statistics.noteGrowth(5_000, 19_999)
  statistics.noteGrowth(30_000, 30_000)
  await wait(1)
  assert.equal(begun.length, 0)
  statistics.noteGrowth(4_999, 5_000)
  await wait(20)
  // Asked for while one is under way, these are one more.
  statistics.noteGrowth(19_999, 20_000)
  statistics.noteGrowth(0, 80_000)
  await wait(1)
  assert.equal(begun.length, 1)
  const endedAt = performance.now()
  hold.resolve()
  hold = Promise.withResolvers()
  await eventually(async () => begun.length === 2, 20_000, 'the second renewal')
  assert.ok((begun[1] ?? 0) - endedAt > 300, 'it rests for twenty times as long as the first one took')
  hold.reject(new Error('no connection'))
  await eventually(async () => events.length === 1, 1_000, 'the failure is logged')
  assert.partialDeepStrictEqual(events, [{ event: 'task.failed', task: 'statistics of records' }])
  hold = Promise.withResolvers()
  hold.resolve()
  await wait(300)
  assert.equal(begun.length, 2)

  statistics.noteGrowth(0, 5_000)
  await eventually(async () => begun.length === 3, 20_000, 'the third renewal')
  statistics.noteGrowth(0, 5_000)
  await statistics.stop()
  await wait(300)
  assert.equal(begun.length, 3)
})
