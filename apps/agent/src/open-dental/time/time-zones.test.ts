import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { TestDatabase, TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { clinics, keepFamilies, loadPractice } from '@bridgework/practice-simulator/test-whole-practice'
import { type TestCopy, testCopy } from '../testing/test-copy.ts'

/** Nashville's clock, as the C library knows it: SQL's `unix_timestamp` of a wall time is then the instant that the agent must give. */
const system = 'America/Chicago'

describe('a practice in Nashville, whatever zone its database server names', async () => {
  const { mariaDb, database, day } = await loadPractice({ after }, { timeZone: system })
  const now = () => new Date(`${day}T12:00:00Z`)
  await keepFamilies(database, 4)
  await addTimesAroundClockChanges(database)
  await nameZones(mariaDb, 'America/Chicago', 'America/Los_Angeles')
  const expected = await instantsBySql(database)

  async function read(serverZone: string): Promise<TestCopy> {
    await mariaDb.execute('set global time_zone = ?', [serverZone])
    return await testCopy({ after }, database.settings, { now, timeZone: null })
  }

  for (const serverZone of ['SYSTEM', 'America/Chicago', '+00:00']) {
    test(`${serverZone}: every time is the instant that SQL computes from the clinic’s clock`, async () => {
      const copy = await read(serverZone)
      await copy.run()
      assert.deepEqual(differences(instantsOf(copy), expected), [])
    })
  }

  test('America/Los_Angeles: the agent stops, until a person says where the clinics are', async () => {
    const copy = await read('America/Los_Angeles')
    const [names] = await database.execute(
      `select concat_ws(', ', (select ValueString from preference where PrefName = 'PracticeTitle'),
                        group_concat(Description order by ClinicNum separator ', ')) as of_all from clinic`,
    )
    await assert.rejects(copy.run(), {
      message: new RegExp(`time zone of ${names?.of_all} is not known, so nothing is read`),
    })
    assert.deepEqual(copy.visible('1', 'patients').size, 0)
    await copy.setTimeZone('America/Chicago')
    await copy.run()
    assert.deepEqual(differences(instantsOf(copy), expected), [])
  })
})

/** Appointments and treatments on both sides of both clock changes of 2026. */
async function addTimesAroundClockChanges(database: TestDatabase): Promise<void> {
  const times = [
    '2026-03-08 01:55',
    '2026-03-08 03:00',
    '2026-03-07 08:00',
    '2026-03-09 08:00',
    '2026-11-01 00:55',
    '2026-11-01 02:00',
    '2026-10-31 08:00',
    '2026-11-02 08:00',
  ]
  for (const [index, time] of times.entries()) {
    await database.execute(
      `insert into appointment set AptNum = ${991000 + index}, PatNum = (select min(PatNum) from patient), AptStatus = 1, Pattern = '/X/', ClinicNum = ${(index % 2) + 1}, AptDateTime = '${time}:00', DateTimeArrived = '${time}:00', DateTimeSeated = '${time}:00', DateTimeDismissed = '${time}:00'`,
    )
    await database.execute(
      `insert into procedurelog set ProcNum = ${991000 + index}, PatNum = (select min(PatNum) from patient), ProcStatus = 2, ClinicNum = ${(index % 2) + 1}, ProcDate = '2026-03-08', SecDateEntry = '${time}:00'`,
    )
  }
}

/** The server's tables of zones need not be right for this: the agent only reads which one the server names. */
async function nameZones(mariaDb: TestMariaDb, ...names: string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    const id = index + 1
    await mariaDb.execute(
      `insert into mysql.time_zone values (${id}, 'N'); insert into mysql.time_zone_name values ('${name}', ${id});
       insert into mysql.time_zone_transition_type values (${id}, 0, ${-6 * 3600 - index * 2 * 3600}, 0, 'X')`,
    )
  }
}

/** By record and attribute. */
type Instants = Map<string, string | null>

/** Every instant of the practice as the system's own rules make it of the wall time. */
async function instantsBySql(database: TestDatabase): Promise<Instants> {
  const found: Instants = new Map()
  // The practice's file has set another for its own rows.
  await database.execute("set time_zone = 'SYSTEM'")
  const add = async (
    table: string,
    key: string,
    prefix: string,
    columns: Record<string, string>,
    condition: string,
  ) => {
    for (const [column, attribute] of Object.entries(columns)) {
      const rows = await database.execute(
        `select ${key} as id, case when ${column} >= '1880-01-01' and ${condition} then unix_timestamp(${column}) end as seconds from ${table}`,
      )
      for (const { id, seconds } of rows) {
        found.set(
          `${prefix}${id} ${attribute}`,
          seconds === null ? null : new Date(Number(seconds) * 1000).toISOString(),
        )
      }
    }
  }
  const arrivals = { DateTimeArrived: 'arrived_at', DateTimeSeated: 'seated_at', DateTimeDismissed: 'dismissed_at' }
  await add('appointment', 'AptNum', 'appointment ', { AptDateTime: 'starts_at' }, '1')
  for (const [column, attribute] of Object.entries(arrivals)) {
    await add('appointment', 'AptNum', 'appointment ', { [column]: attribute }, `time(${column}) <> '00:00:00'`)
  }
  await add(
    '(select * from procedurelog where ProcStatus = 2) p',
    'ProcNum',
    'proc:',
    { SecDateEntry: 'entered_at' },
    '1',
  )
  return found
}

function instantsOf(copy: TestCopy): Instants {
  const found: Instants = new Map()
  for (const location of clinics) {
    for (const [id, visit] of copy.visible(location, 'appointments')) {
      assert.equal(visit.time_zone, system)
      for (const name of ['starts_at', 'arrived_at', 'seated_at', 'dismissed_at']) {
        found.set(`appointment ${id} ${name}`, visit[name] as string | null)
      }
    }
    for (const [id, line] of copy.visible(location, 'ledger_transactions')) {
      if (id.startsWith('proc:')) found.set(`${id} entered_at`, line.entered_at as string | null)
    }
  }
  return found
}

/** The first few, so that a failure can be read. */
function differences(actual: Instants, expected: Instants): string[] {
  const names = new Set([...actual.keys(), ...expected.keys()])
  const different = [...names].filter((name) => actual.get(name) !== expected.get(name))
  return different.slice(0, 10).map((name) => `${name}: ${actual.get(name)} in place of ${expected.get(name)}`)
}
