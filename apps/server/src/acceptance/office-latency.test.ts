import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnAgent } from '@bridgework/agent/test-agent'
import { createPractice, openDentalShape, writePractice } from '@bridgework/practice-simulator'
import { startTestMariaDb, type TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { someOffice } from './testing/test-office.ts'
import { type Name, vendorCopy } from './testing/test-vendor-copy.ts'

/** More of them in `npm run bench:office`, which also says how long they took. */
const changes = Number(process.env.BRIDGEWORK_TEST_CHANGES ?? 6)
const mariaDb = await startTestMariaDb({ after })

/** What a workstation writes, and the dataset in which a vendor sees it; `key`: of a row that the change is to, in turn. */
const kinds: readonly [dataset: Name, table: string, key: string, sql: string][] = [
  ['patients', 'patient', 'PatNum', "update patient set FName = concat('V', ?) where PatNum = ?"],
  [
    'appointments',
    'appointment',
    'AptNum',
    'update appointment set AptDateTime = AptDateTime + interval ? minute where AptNum = ?',
  ],
  ['treatments', 'procedurelog', 'ProcNum', 'update procedurelog set ProcFee = ProcFee + ? where ProcNum = ?'],
]

test('what a workstation writes reaches a vendor within seconds, with the settings that an agent has by default', async (t) => {
  const database = await mariaDb.createDatabase()
  const place = { insurancePlans: 0, feeSchedules: 0, patients: 300 }
  const shape = openDentalShape('latency', {
    locations: [place],
    shared: { insurancePlans: 50, feeSchedules: 4, patients: 0 },
    years: 2,
  })
  await writePractice(await database.connect(), createPractice(shape), { clinics: 'off', headquarters: true })
  const office = await someOffice(t, database, { timeZone: 'America/Chicago' })
  const { process: agent, ended } = spawnAgent(['run', '--config', office.config])
  t.after(async () => {
    agent.kill('SIGTERM')
    await ended
  })
  let log = ''
  agent.stdout?.on('data', (text: string) => {
    log += text
  })
  for (const end = Date.now() + 120_000; !log.includes('Cycle finished'); ) {
    assert.ok(Date.now() < end && agent.exitCode === null, log)
    await Promise.race([once(agent.stdout ?? agent, 'data'), sleep(1000)])
  }

  const [locationId = assert.fail()] = (await office.locationIds()).values()
  const took: number[] = []
  for (let n = 0; n < changes; n++) {
    const [dataset, table, key, sql] = kinds[n % kinds.length] ?? assert.fail()
    const id = await keyOf(database, table, key, n)
    const copy = copies.get(dataset) ?? vendorCopy(office.vendor, locationId, { items: 5000, of: [dataset] })
    copies.set(dataset, copy)
    await copy.sync()
    // At any moment of the agent's second.
    await sleep(1000 + ((n * 379) % 1000))
    await database.execute(sql, [7 + n, id])
    const committedAt = performance.now()
    while (!(await copy.sync())[dataset].includes(id)) {
      assert.ok(performance.now() - committedAt < 90_000, `${dataset} ${id}\n${log.slice(-2000)}`)
      await sleep(20)
    }
    took.push(performance.now() - committedAt)
  }
  took.sort((left, right) => left - right)
  const at = (share: number) => ((took[Math.ceil(took.length * share) - 1] ?? 0) / 1000).toFixed(2)
  t.diagnostic(`${changes} changes from commit to API: median ${at(0.5)} s, p95 ${at(0.95)} s, slowest ${at(1)} s`)
  // Far above what it takes where nothing else runs, and far below a cycle each minute.
  assert.ok(Number(at(0.5)) < 15, at(0.5))
})

const copies = new Map<Name, ReturnType<typeof vendorCopy>>()

/** The key of one row, another one for each change. */
async function keyOf(database: TestDatabase, table: string, key: string, n: number): Promise<string> {
  const condition =
    table === 'appointment' ? 'AptStatus = 1' : table === 'procedurelog' ? 'ProcStatus = 2' : 'PatStatus = 0'
  const [row] = await database.execute(
    `select ${key} as id from ${table} where ${condition} order by ${key} limit 1 offset ?`,
    [n],
  )
  return String(row?.id ?? assert.fail())
}
