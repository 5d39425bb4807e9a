import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { measureLoad } from '@bridgework/practice-simulator/test-load'
import { startTestMariaDb, type TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import type { DatasetName } from '../../connector.ts'
import { digestState } from '../../state/digest-state.ts'
import { openStateFile } from '../../state/state-file.ts'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { openDentalConnector } from '../connector.ts'
import { fillLargePractice } from '../testing/test-large-practice.ts'

const mariaDb = await startTestMariaDb({ after })

/** Cycles a minute apart that name what changed and read nothing of it, with digests that a new process finds again. */
function someCycles({ settings }: TestDatabase) {
  const { database: file } = openStateFile(join(temporaryFolder({ after }), 'state.sqlite'))
  const clock = { ms: Date.parse('2026-11-20T12:00:00Z') }
  const cursors = new Map<DatasetName, string>()
  return {
    digests: () => digestState(file),
    cursors,
    /** What the cycle names, by dataset. Each is a process of its own. */
    run: async (complete = true): Promise<Map<string, readonly string[]>> => {
      clock.ms += 60_000
      const { beginCycle, datasets } = openDentalConnector(settings, 'UTC', () => new Date(clock.ms))
      const cycle = await beginCycle()
      const finish = await cycle.findSilentChanges?.(digestState(file))
      const named = new Map<string, readonly string[]>()
      for (const dataset of datasets) {
        const changes = await cycle.findChanges(dataset, cursors.get(dataset) ?? null, {
          between: () => [],
          each: () => [],
        })
        cursors.set(dataset, changes.cursor)
        if (changes.keys !== 'all' && changes.keys.length > 0) named.set(dataset, changes.keys)
      }
      finish?.(new Set(complete ? [] : datasets))
      await cycle.end()
      return named
    },
  }
}

async function largePractice(procedures: number): Promise<TestDatabase> {
  const database = await mariaDb.createDatabase()
  await fillLargePractice(database, procedures)
  for (const table of ['patient', 'appointment', 'procedurelog'])
    await database.execute(`update ${table} set DateTStamp = '2026-01-02 03:04:05'`)
  for (const table of ['claimproc', 'payment', 'paysplit'])
    await database.execute(`update ${table} set SecDateTEdit = '2026-01-02 03:04:05'`)
  return database
}

test('an idle cycle on a practice of 6,000 patients asks little, and no statement much', async () => {
  const database = await largePractice(90_000)
  const cycles = someCycles(database)
  await cycles.run()
  for (let n = 0; n < 5; n++) {
    const load = await measureLoad(mariaDb, database, async () => {
      assert.deepEqual(await cycles.run(), new Map())
    })
    assert.ok(load.statements <= 60, `${load.statements} statements`)
    assert.ok(load.rowsExamined <= 50_000, `${load.rowsExamined} rows`)
    assert.ok(load.mostRowsExamined <= 10_000, load.longestStatement)
  }
})

test('every part of the tables is compared within an hour, a part in each cycle, also when processes end', async () => {
  const database = await largePractice(60_000)
  const cycles = someCycles(database)
  await cycles.run()
  const keys = [50, 20_001, 59_900]
  const edit = 'update procedurelog set Surf = ?, DateTStamp = DateTStamp where ProcNum in (?)'
  await database.execute(edit, ['MO', keys])
  const foundAfter = new Map<number, number>()
  for (let n = 1; n <= 55; n++) {
    const named = new Set((await cycles.run()).get('treatments'))
    for (const key of keys) if (named.has(String(key)) && !foundAfter.has(key)) foundAfter.set(key, n)
  }
  assert.deepEqual([...foundAfter.keys()].sort(), [...keys].sort())
  assert.ok(new Set(foundAfter.values()).size > 1, JSON.stringify([...foundAfter]))
})

test('what was found and did not arrive is found again', async () => {
  const database = await largePractice(300)
  const cycles = someCycles(database)
  await cycles.run()
  await database.execute("update procedurelog set Surf = 'MO', DateTStamp = DateTStamp where ProcNum = 7")
  assert.ok((await cycles.run(false)).get('treatments')?.includes('7'))
  assert.ok((await cycles.run(true)).get('treatments')?.includes('7'))
  assert.deepEqual(await cycles.run(), new Map())
})

test('keys that were drawn at random, beside ones that were counted up, are compared as well', async () => {
  const database = await largePractice(300)
  const random = ['1000000000', '4503599627370495', '4503599627370496', '9223372036854775807']
  for (const key of random) {
    await database.execute(
      "insert into procedurelog (ProcNum, PatNum, CodeNum, ProcStatus, DateTStamp) values (?, 1, 1, 1, '2026-01-02')",
      [key],
    )
  }
  const cycles = someCycles(database)
  await cycles.run()
  for (const key of ['299', ...random]) {
    await database.execute("update procedurelog set Surf = 'B', DateTStamp = DateTStamp where ProcNum = ?", [key])
    const named = (await cycles.run()).get('treatments') ?? []
    assert.ok(named.includes(key), `${key}: ${named}`)
    assert.ok(random.filter((other) => named.includes(other)).length <= 2, String(named))
  }
  assert.deepEqual(await cycles.run(), new Map())
})

test('a key in the first of the random runs, far above the counted ones, ends a comparison', {
  timeout: 60_000,
}, async () => {
  const database = await largePractice(300)
  const key = '100000000000'
  await database.execute(
    "insert into procedurelog (ProcNum, PatNum, CodeNum, ProcStatus, DateTStamp) values (?, 1, 1, 1, '2026-01-02')",
    [key],
  )
  const cycles = someCycles(database)
  await cycles.run()
  await database.execute("update procedurelog set Surf = 'B', DateTStamp = DateTStamp where ProcNum = ?", [key])
  assert.ok((await cycles.run()).get('treatments')?.includes(key))
  assert.deepEqual(await cycles.run(), new Map())
})

test('runs whose rows are all gone differ, also at the end of a table', async () => {
  const database = await largePractice(3000)
  const cycles = someCycles(database)
  await cycles.run()
  const before = cycles.digests().rows('paysplit')
  await database.execute('delete from paysplit where SplitNum between 400 and 899 or SplitNum > 2500')
  await cycles.run()
  assert.equal(cycles.digests().rows('paysplit'), before - 250 - 250)
})

test('a value that moves to its neighbour’s column differs, though the columns’ values in a row are the same', async () => {
  const database = await largePractice(300)
  const keepsStamp = 'DateTStamp = DateTStamp where PatNum = 3'
  await database.execute(`update patient set HmPhone = '555', WkPhone = null, ${keepsStamp}`)
  const cycles = someCycles(database)
  await cycles.run()
  assert.deepEqual(await cycles.run(), new Map())
  await database.execute(`update patient set HmPhone = null, WkPhone = '555', ${keepsStamp}`)
  assert.ok((await cycles.run()).get('patients')?.includes('3'))
})
