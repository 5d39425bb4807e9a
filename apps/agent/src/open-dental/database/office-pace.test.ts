import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { patients } from '../records/patients.ts'
import { connectDatabase } from './connection.ts'
import { officePace } from './office-pace.ts'

const mariaDb = await startTestMariaDb({ after })
const { settings, connect } = await mariaDb.createDatabase({ schema: null })

test('a read pauses while the server has more to do than before, and not for ever', async (t) => {
  const database = await connectDatabase(settings)
  t.after(() => database.end())
  const office = await connect()
  let work: Promise<unknown> | null = null
  let waits = 0
  const pace = officePace(database, async () => {
    waits += 1
    if (waits === 3) {
      const [row] = await mariaDb.execute(
        "select id from information_schema.processlist where info like 'select sleep%'",
      )
      await mariaDb.execute('kill query ?', [row?.id])
      await work
    }
  })
  const later = async () => {
    // A moment in which nobody asks.
    await database.query('select sleep(0.3)')
    await pace.yieldToOffice()
  }
  await later()
  const before = pace.pausedMs()
  waits = 0

  work = office.query('select sleep(60)').catch(() => {})
  await untilRunning('select sleep(60)')
  await later()
  assert.ok(pace.pausedMs() - before >= 750 && pace.pausedMs() - before < 10_000)
  const pausedMs = pace.pausedMs()

  work = office.query('select sleep(61)').catch(() => {})
  await untilRunning('select sleep(61)')
  await later()
  assert.equal(pace.pausedMs() - pausedMs, 10_000)
})

test('a read pauses while the server takes twice as long to answer', async (t) => {
  const database = await connectDatabase(settings)
  t.after(() => database.end())
  let delayMs = 0
  const slow = {
    ...database,
    query: async (sql: string) => {
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      return await database.query(sql)
    },
  }
  const pace = officePace(slow, async () => {
    delayMs = 0
  })
  await pace.yieldToOffice()
  await new Promise((resolve) => setTimeout(resolve, 260))
  const before = pace.pausedMs()
  delayMs = 500
  await pace.yieldToOffice()
  assert.ok(pace.pausedMs() - before >= 250)
})

test('batches shrink when a statement is slow, and grow while all are quick', async (t) => {
  const database = await connectDatabase(settings)
  t.after(() => database.end())
  const pace = officePace(database)
  const first = pace.keysOf(patients)
  assert.ok(first < patients.keysPerChunk / 4)
  await database.query('select sleep(0.2)')
  pace.adapt(patients)
  assert.ok(pace.keysOf(patients) <= first / 8)
  for (let n = 0; n < 20; n++) pace.adapt(patients)
  assert.equal(pace.keysOf(patients), patients.keysPerChunk)
})

test('batches of a size that was quick do not become many small ones because the server is busy', async (t) => {
  const database = await connectDatabase(settings)
  t.after(() => database.end())
  const pace = officePace(database)
  for (let n = 0; n < 20; n++) pace.adapt(patients)
  for (let n = 0; n < 5; n++) {
    await database.query('select sleep(0.2)')
    pace.adapt(patients)
    assert.ok(pace.keysOf(patients) >= patients.keysPerChunk / 2, `${pace.keysOf(patients)}`)
  }
})

test('a server that stays busy is asked seldom whether it still is', async (t) => {
  const database = await connectDatabase(settings)
  t.after(() => database.end())
  let [others, asked] = [0, 0]
  const busy = {
    ...database,
    query: async () => {
      asked += 1
      return [{ Value: String(1 + others) }]
    },
  }
  const pace = officePace(busy, async () => {})
  await pace.yieldToOffice()
  await new Promise((resolve) => setTimeout(resolve, 260))
  ;[others, asked] = [3, 0]
  await pace.yieldToOffice()
  assert.equal(pace.pausedMs(), 10_000)
  assert.ok(asked <= 7, `${asked}`)
})

async function untilRunning(sql: string): Promise<void> {
  for (;;) {
    const rows = await mariaDb.execute('select id from information_schema.processlist where info = ?', [sql])
    if (rows.length > 0) return
  }
}
