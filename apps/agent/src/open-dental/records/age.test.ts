import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { openDentalConnector } from '../connector.ts'
import { connectDatabase } from '../database/connection.ts'
import { backUp, copyDatabase } from '../testing/test-backup.ts'
import { testFamily } from '../testing/test-family.ts'
import { compareAge, isOtherServer } from './age.ts'

const mariaDb = await startTestMariaDb({ after })

/** A practice whose rows are of long ago, with three patients and a procedure of today. */
async function somePractice(engine = 'MyISAM') {
  const practice = await testFamily(mariaDb)
  await practice.ageAll()
  for (const table of ['patient', 'procedurelog', 'histappointment']) {
    await practice.execute(`alter table ${table} engine = ${engine}`)
  }
  const connector = openDentalConnector(practice.settings, 'UTC')
  /** As a cycle asks. */
  const look = async (reached: string | null) => {
    const cycle = await connector.beginCycle()
    try {
      return (await cycle.compareAge?.(reached)) ?? assert.fail()
    } finally {
      await cycle.end()
    }
  }
  const work = async () => {
    await practice.execute(`insert into patient (FName, LName, Guarantor, ClinicNum) values ('New', 'Person', 1, 1)`)
    await practice.execute(`insert into procedurelog (PatNum, ProcDate, ProcStatus) values (1, '2026-11-20', 1)`)
  }
  return { ...practice, look, work }
}

for (const engine of ['MyISAM', 'InnoDB']) {
  test(`a restored backup is noticed where new rows are missing (${engine})`, async () => {
    const practice = await somePractice(engine)
    const restore = await backUp(mariaDb, practice.name)
    const before = await practice.look(null)
    assert.equal(before.wentBack, null)
    await practice.work()
    const { reached, wentBack } = await practice.look(before.reached)
    assert.equal(wentBack, null)
    await restore()
    const restored = await practice.look(reached)
    assert.match(
      restored.wentBack ?? '',
      /is older than what this agent has read before: the newest rows of procedurelog and patient are missing.*Nothing is sent\.$/,
    )
    assert.equal((await practice.look(restored.reached)).wentBack, null, 'once that is what is remembered')
  })

  test(`rows that a person deletes by hand are no restored backup (${engine})`, async () => {
    const practice = await somePractice(engine)
    await practice.work()
    const { reached } = await practice.look(null)
    await practice.execute('delete from patient order by PatNum desc limit 2')
    await practice.execute(`update procedurelog set DateTStamp = DateTStamp, ProcFee = 1 where ProcNum = 1`)
    await practice.execute('delete from histappointment')
    assert.equal((await practice.look(reached)).wentBack, null)
  })
}

test('a backup of yesterday is noticed though it lacks nothing but changes', async () => {
  const practice = await somePractice()
  const restore = await backUp(mariaDb, practice.name)
  await practice.update('procedurelog', 'ProcNum', 2, { ProcFee: 190 })
  const { reached } = await practice.look(null)
  await restore()
  assert.match(
    (await practice.look(reached)).wentBack ?? '',
    /its newest change is of 20\d\d-.* UTC, and was of 20\d\d-/,
  )
})

test('a version that is lower than it was is an old copy; a higher one is an update', async () => {
  const practice = await somePractice()
  await practice.setPreference('DataBaseVersion', '24.10.1.0')
  const { reached } = await practice.look(null)
  await practice.setPreference('DataBaseVersion', '24.9.30.0')
  assert.match((await practice.look(reached)).wentBack ?? '', /its version is 24\.9\.30\.0, and was 24\.10\.1\.0/)
  await practice.setPreference('DataBaseVersion', '25.1.0.0')
  assert.equal((await practice.look(reached)).wentBack, null)
})

test('a clock that is set forward or back, and rows with stamps of either, are no restored backup', async (t) => {
  const practice = await somePractice()
  const database = await connectDatabase(practice.settings)
  t.after(() => database.end())
  const keys = { 'procedurelog.ProcNum': '6', 'patient.PatNum': '6', 'histappointment.HistApptNum': '0' }
  let reached: string | null = null
  const cycle = async (nowUtc: string, stamp: string) => {
    const highest = { ...keys, 'procedurelog.DateTStamp': stamp }
    const age = await compareAge(database, { nowUtc, databaseVersion: '24.3.1.0', highest }, reached)
    reached = age.reached
    return age.wentBack
  }
  const days: [string, string, string][] = [
    ['a usual day', '2026-11-20 12:00:00', '2026-11-20 11:59:00'],
    ['the clock is a day ahead, and a row is changed', '2026-11-21 12:05:00', '2026-11-21 12:04:00'],
    ['it is set back, the row keeps its stamp of tomorrow', '2026-11-20 12:10:00', '2026-11-21 12:04:00'],
    ['the row is changed again', '2026-11-20 12:20:00', '2026-11-20 12:19:00'],
    ['the day that the clock showed too early has come', '2026-11-21 13:00:00', '2026-11-20 17:00:00'],
    ['the clock is three hours behind', '2026-11-21 10:00:00', '2026-11-21 09:59:00'],
    ['it is set right, and nothing has been changed', '2026-11-21 13:05:00', '2026-11-21 09:59:00'],
  ]
  for (const [what, nowUtc, stamp] of days) assert.equal(await cycle(nowUtc, stamp), null, what)
  assert.notEqual(await cycle('2026-11-21 13:10:00', '2026-11-21 08:00:00'), null)
})

test('keys that a restore gives to other rows are noticed, though nothing is lower than it was', async () => {
  const practice = await somePractice()
  const admit = (first: string, born: string) =>
    practice.execute(
      `insert into patient (FName, LName, Birthdate, Guarantor) values ('${first}', 'Elm', '${born}', 1)`,
    )
  const restore = await backUp(mariaDb, practice.name)
  await admit('Anna', '1980-03-04')
  const { reached } = await practice.look(null)
  assert.doesNotMatch(reached, /Anna|1980-03/, 'no value of a patient is kept')
  await restore()
  // The next one gets Anna's key; more of them push it out of the newest rows.
  await admit('Bruno', '2001-05-06')
  for (const more of [0, 25]) {
    for (let other = 0; other < more; other += 1) await admit(`New ${other}`, '1999-01-01')
    const { wentBack } = await practice.look(reached)
    assert.match(
      wentBack ?? '',
      /is not the one that this agent has read before: the newest keys of patient belong to other rows than before\. Nothing is sent\.$/,
    )
  }
})

test('so are rows of treatments and of the appointments’ history, by what is written once', async () => {
  for (const [table, column] of [
    ['procedurelog', 'SecDateEntry'],
    ['procedurelog', 'SecUserNumEntry'],
    ['patient', 'SecDateEntry'],
    ['histappointment', 'AptNum'],
    ['histappointment', 'HistDateTStamp'],
  ] as const) {
    const practice = await somePractice()
    await practice.execute(`insert into histappointment (AptNum, HistDateTStamp) values (1, '2026-11-19 08:00:00')`)
    const { reached } = await practice.look(null)
    const other = column.includes('Date') ? `'2026-11-20 09:10:11'` : '7'
    await practice.execute(`update ${table} set ${column} = ${other}`)
    assert.match(
      (await practice.look(reached)).wentBack ?? '',
      new RegExp(`the newest keys of ${table} belong`),
      column,
    )
  }
})

test('corrections of a person, and a placeholder that becomes one, are no other rows', async () => {
  const practice = await somePractice()
  let reached: string | null = (await practice.look(null)).reached
  for (const change of [
    `FName = 'Anne', LName = 'Married' where PatNum = 1`,
    `Birthdate = '1980-03-01' where PatNum = 1`,
    // Ben had no birthdate.
    `FName = 'Benedict', LName = 'Real', Birthdate = '1999-09-09' where PatNum = 2`,
    `PatStatus = 4, Birthdate = '0001-01-01', FName = '' where PatNum = 3`,
  ]) {
    await practice.execute(`update patient set ${change}`)
    const age = await practice.look(reached)
    assert.equal(age.wentBack, null, change)
    reached = age.reached
  }
})

test('another database is noticed by its name, and another server by both of its names', async () => {
  const practice = await somePractice()
  const { reached } = await practice.look(null)
  const copy = `${practice.name}_training`
  await copyDatabase(mariaDb, practice.name, copy)
  await mariaDb.execute(`grant select on ${copy}.* to ${practice.settings.user}@localhost`)
  const cycle = await openDentalConnector({ ...practice.settings, name: copy }, 'UTC').beginCycle()
  const age = await cycle.compareAge?.(reached)
  await cycle.end()
  assert.match(
    age?.wentBack ?? '',
    new RegExp(`^The database "${copy}" is not the one that .* the one before has the name "${practice.name}"`),
  )

  const [one, two] = [
    { id: 'a', host: 'SERVER' },
    { id: 'b', host: 'NEW' },
  ]
  assert.equal(isOtherServer(two, one), true)
  assert.equal(isOtherServer({ ...two, host: 'SERVER' }, one), false, 'another network card')
  assert.equal(isOtherServer({ ...two, id: 'a' }, one), false, 'another name')
  assert.equal(isOtherServer({ id: '', host: 'NEW' }, { id: '', host: 'SERVER' }), true)
  const known = JSON.parse(reached) as { server: { id: string; host: string } }
  assert.ok(known.server.host !== '' && known.server.id !== '', 'this MariaDB has both')
  const moved = await practice.look(JSON.stringify({ ...known, server: { id: 'a', host: 'OLD-SERVER' } }))
  assert.match(moved.wentBack ?? '', new RegExp(`it is on the server "${known.server.host}", and was on "OLD-SERVER"`))
})

test('what cannot be read of the memory, or is of another connector, compares with nothing', async () => {
  const practice = await somePractice()
  for (const text of ['', '{', '{"format":1}', 'null']) assert.equal((await practice.look(text)).wentBack, null)
})
