import assert from 'node:assert/strict'
import { utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { measureLoad } from '@bridgework/practice-simulator/test-load'
import { startTestMariaDb, type TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import type { DatasetName } from '../../connector.ts'
import { digestState } from '../../state/digest-state.ts'
import { openStateFile } from '../../state/state-file.ts'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { openDentalConnector } from '../connector.ts'
import { openSession } from '../database/session.ts'
import { fillLargePractice } from '../testing/test-large-practice.ts'
import { testPractice } from '../testing/test-practice.ts'
import { type Marks, tableWatch } from './table-watch.ts'

const mariaDb = await startTestMariaDb({ after })

type Cleanup = { after(work: () => Promise<void>): void }

/** A connector that keeps its session, whose cycles name what changed and read nothing of it. */
function watchedCycles(t: Cleanup, { settings }: Pick<TestDatabase, 'settings'>) {
  const { database: file } = openStateFile(join(temporaryFolder({ after }), 'state.sqlite'))
  const clock = { ms: Date.parse('2026-11-20T12:00:00Z') }
  const connector = openDentalConnector(settings, 'UTC', () => new Date(clock.ms), { keepsSession: true })
  t.after(async () => await connector.end?.())
  const cursors = new Map<DatasetName, string>()
  return {
    connector,
    /** What the cycle names, by dataset. `passedMs`: how long after the last one it is. */
    run: async (passedMs = 60_000): Promise<Map<string, readonly string[]>> => {
      clock.ms += passedMs
      const cycle = await connector.beginCycle()
      await cycle.readLocations()
      await cycle.compareAge?.(null)
      const finish = await cycle.findSilentChanges?.(digestState(file))
      const named = new Map<string, readonly string[]>()
      for (const dataset of connector.datasets) {
        assert.equal(await cycle.problemOf?.(dataset, null), null)
        const changes = await cycle.findChanges(dataset, cursors.get(dataset) ?? null, {
          between: keysBetween,
          each: () => [],
        })
        await cycle.confirm()
        cursors.set(dataset, changes.cursor)
        if (changes.keys === 'all' || changes.keys.length > 0)
          named.set(dataset, changes.keys === 'all' ? ['all'] : changes.keys)
      }
      finish?.(new Set())
      await cycle.end()
      return named
    },
  }
}

/** As if every key had been sent. */
function keysBetween(first: string, last: string): string[] {
  const keys: string[] = []
  const isKey = /^\d+$/.test(first)
  for (let key = Number(first); isKey && key <= Number(last.replace('~', '')); key++) keys.push(String(key))
  return keys
}

/** Until the second of each write is over, and one more. */
const settled = () => sleep(3100)

async function largePractice(procedures: number): Promise<TestDatabase> {
  const database = await mariaDb.createDatabase()
  await fillLargePractice(database, procedures)
  for (const table of ['patient', 'appointment', 'procedurelog'])
    await database.execute(`update ${table} set DateTStamp = '2026-01-02 03:04:05'`)
  for (const table of ['claimproc', 'payment', 'paysplit'])
    await database.execute(`update ${table} set SecDateTEdit = '2026-01-02 03:04:05'`)
  return database
}

for (const engine of ['MyISAM', 'InnoDB']) {
  test(`the time of ${engine} moves with an insert, an update and a deletion without a trace`, async (t) => {
    const practice = await testPractice(mariaDb)
    await practice.execute(`alter table adjustment engine = ${engine}`)
    const { database } = await openSession(practice.settings)
    t.after(() => database.end())
    const watch = tableWatch()
    await practice.insert('adjustment', { AdjNum: 1, AdjAmt: 1 })
    for (const sql of [
      'insert into adjustment set AdjNum = 2',
      'update adjustment set AdjAmt = 3, SecDateTEdit = SecDateTEdit where AdjNum = 1',
      'delete from adjustment where AdjNum = 2',
    ]) {
      await sleep(1100)
      const earlier = await watch.read(database)
      await practice.execute(sql)
      const now = await watch.read(database)
      assert.ok(watch.isReadDue(earlier, now), sql)
      assert.ok(watch.isWritten('adjustment', earlier, now), sql)
    }
  })
}

test('a table counts as written to while its time cannot tell', () => {
  const marks = (
    nowUtc: string,
    updatedAt: string | null,
    engine = 'myisam',
    createdAt = '2026-01-01 00:00:00',
  ): Marks => ({
    nowUtc: `2026-03-04 ${nowUtc}`,
    tables: new Map([['fee', { engine, createdAt, updatedAt: updatedAt === null ? null : `2026-03-04 ${updatedAt}` }]]),
  })
  const watch = tableWatch()
  const isWritten = (before: Marks, now: Marks) => watch.isWritten('fee', before, now)
  const old = marks('10:00:30', '10:00:00')
  assert.ok(isWritten(old, marks('10:00:40', '10:00:00')), 'of a server that has shown nothing')
  watch.believe(old)
  assert.ok(!isWritten(old, marks('10:00:40', '10:00:00')))
  assert.ok(isWritten(old, marks('10:00:40', '10:00:35')))
  assert.ok(isWritten(old, marks('10:00:20', '10:00:00')), 'the clock went back')
  assert.ok(isWritten(old, marks('10:00:40', '10:00:00', 'myisam', '2026-02-01 00:00:00')), 'made anew')
  assert.ok(isWritten(old, marks('10:00:40', null)), 'it cannot be opened')
  assert.ok(isWritten(old, { nowUtc: '2026-03-04 10:00:40', tables: new Map() }), 'it is gone')
  // Two writes in one second: the first was read, the second not yet.
  assert.ok(isWritten(marks('10:00:01', '10:00:00'), marks('10:00:40', '10:00:00')))
  assert.ok(watch.isReadDue(marks('10:00:01', '10:00:00'), marks('10:00:02', '10:00:00')))
  assert.ok(!watch.isReadDue(marks('10:00:02', '10:00:00'), marks('10:00:03', '10:00:00')))
  // InnoDB, whose time is that of a transaction's beginning, and null after a start.
  const inno = (nowUtc: string, updatedAt: string | null) => marks(nowUtc, updatedAt, 'innodb')
  assert.ok(isWritten(inno('10:00:30', '10:00:00'), inno('10:02:00', '10:00:00')), 'the engine has shown nothing')
  watch.believe(inno('10:00:30', '10:00:00'))
  assert.ok(isWritten(inno('10:00:30', '10:00:00'), inno('10:02:00', '10:00:00')), 'a transaction may go on')
  assert.ok(!isWritten(inno('10:01:00', '10:00:00'), inno('10:02:00', '10:00:00')))
  assert.ok(!isWritten(inno('10:00:30', null), inno('10:02:00', null)))
  watch.refute('fee', old)
  assert.ok(isWritten(old, marks('10:00:40', '10:00:00')), 'a row differed all the same')
})

test('in a minute without a change a practice of 6,000 patients is asked for little beside the times of its tables', async (t) => {
  const database = await largePractice(90_000)
  const cycles = watchedCycles(t, database)
  await settled()
  // A session counts in the log of the server as that was set when it began.
  await measureLoad(mariaDb, database, async () => void (await cycles.run()))
  await settled()
  await cycles.run()
  for (let n = 0; n < 3; n++) {
    const load = await measureLoad(mariaDb, database, async () => {
      assert.deepEqual(await cycles.run(), new Map())
    })
    assert.ok(load.statements >= 1 && load.statements <= 20, `${load.statements} statements`)
    // With 60 questions for the times.
    assert.ok(load.rowsExamined + 60 * 40 <= 5000, `${load.rowsExamined} rows`)
  }
  const asked = await measureLoad(mariaDb, database, async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 3500)
    await cycles.connector.untilChanged?.(stop.signal)
    assert.ok(stop.signal.aborted, 'nothing changed')
  })
  assert.ok(asked.statements >= 3 && asked.statements <= 5, `${asked.statements} statements`)
  assert.ok(asked.rowsExamined <= 40 * asked.statements, `${asked.rowsExamined} rows`)
})

test('what is deleted without a trace at a large practice is seen by the next cycle, or 20 seconds later', async (t) => {
  const database = await largePractice(60_000)
  const cycles = watchedCycles(t, database)
  await cycles.run()
  await settled()
  await cycles.run()
  const keys = [50, 12_345, 19_900]
  await database.execute('delete from appointment where AptNum in (?)', [keys])
  await database.execute('delete from claimproc where ClaimProcNum = 29999')
  const load = await measureLoad(mariaDb, database, async () => {
    const named = await cycles.run(21_000)
    // An appointment that is gone leaves its treatments; a treatment is named by its estimate.
    const expected = new Map([
      ['appointments', keys.map(String)],
      ['treatments', ['29999']],
    ])
    for (const [dataset, gone] of expected) {
      for (const key of gone) assert.ok(named.get(dataset)?.includes(key), `${dataset} ${key}`)
    }
  })
  assert.ok(load.longestLockMs < 100, load.longestStatement)
  // So soon after that comparison the next one waits, and the agent is woken for it.
  await database.execute('delete from appointment where AptNum = 777')
  await cycles.run(1000)
  const stop = new AbortController()
  t.after(async () => stop.abort())
  await cycles.connector.untilChanged?.(stop.signal)
  assert.ok((await cycles.run(20_000)).get('appointments')?.includes('777'))
})

test('two changes in one second, and one between the probe and the read, are both seen', async (t) => {
  const practice = await testPractice(mariaDb)
  const cycles = watchedCycles(t, practice)
  await cycles.run()
  await settled()
  await cycles.run()
  for (let n = 0; n < 6; n++) {
    await practice.update('insplan', 'PlanNum', 1, { GroupName: `First ${n}` })
    const first = await cycles.run(1000)
    assert.ok(first.get('insurance_plans')?.includes('1'))
    // Keeps the stamp of long ago, so that only the time of the table tells.
    await practice.execute(`update employer set EmpName = 'Name ${n}' where EmployerNum = 1`)
    await practice.execute(`update employer set EmpName = 'Other ${n}' where EmployerNum = 1`)
    const named = await cycles.run(1000)
    assert.ok(named.get('insurance_plans')?.includes('2'), `${n}: ${JSON.stringify([...named])}`)
    await practice.execute(`update employer set EmpName = 'Third ${n}' where EmployerNum = 1`)
    assert.ok((await cycles.run(1000)).get('insurance_plans')?.includes('2'))
  }
})

test('what changed while the server was started anew is seen, though InnoDB has forgotten its times', async (t) => {
  const own = await startTestMariaDb(t)
  const practice = await testPractice(own)
  await practice.execute('alter table employer engine = InnoDB')
  const cycles = watchedCycles(t, practice)
  await cycles.run()
  // A server that is killed leaves open tables of MyISAM damaged.
  await practice.execute('flush tables')
  await own.stop()
  await own.start()
  const office = await practice.connect()
  await office.query("update employer set EmpName = 'New' where EmployerNum = 1; flush tables")
  await own.stop()
  await own.start()
  assert.ok((await cycles.run()).get('insurance_plans')?.includes('1'))
})

for (const engine of ['MyISAM', 'InnoDB']) {
  test(`a wait for changes ends within two seconds of one, in ${engine}`, async (t) => {
    const practice = await testPractice(mariaDb)
    await practice.execute(`alter table employer engine = ${engine}`)
    const cycles = watchedCycles(t, practice)
    await cycles.run()
    await settled()
    await cycles.run()
    const stop = new AbortController()
    t.after(() => stop.abort())
    const waiting = cycles.connector.untilChanged?.(stop.signal)
    await practice.execute(`update employer set EmpName = 'New' where EmployerNum = 1`)
    const changedAtMs = performance.now()
    await waiting
    assert.ok(performance.now() - changedAtMs < 2000)
    assert.ok((await cycles.run()).get('insurance_plans')?.includes('1'))
  })
}

test('a server whose times do not tell is found out by the digests, and read as a whole from then on', async (t) => {
  const practice = await testPractice(mariaDb)
  const cycles = watchedCycles(t, practice)
  const file = join(dirname(practice.settings.socket), 'data', practice.name, 'insplan.MYD')
  const keepTime = async (sql: string) => {
    await practice.execute(sql)
    await practice.execute('flush tables')
    utimesSync(file, at, at)
  }
  // Later than the table was made, as a server shows it whose times move.
  const at = new Date((Math.floor(Date.now() / 1000) + 2) * 1000)
  await sleep(2000)
  await keepTime('update insplan set MonthRenew = 1, SecDateTEdit = SecDateTEdit')
  await settled()
  await measureLoad(mariaDb, practice, async () => void (await cycles.run()))
  await cycles.run()
  await keepTime('update insplan set MonthRenew = 2, SecDateTEdit = SecDateTEdit where PlanNum = 2')
  const named = await cycles.run()
  assert.ok(named.get('insurance_plans')?.includes('2'), JSON.stringify([...named]))
  await keepTime('update insplan set MonthRenew = 3 where PlanNum = 1')
  const load = await measureLoad(mariaDb, practice, async () => {
    assert.ok((await cycles.run()).get('insurance_plans')?.includes('1'))
  })
  assert.ok(load.statements > 20, `${load.statements}: every table is asked`)
})
