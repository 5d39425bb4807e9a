import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { createPractice, demoShape, livingPractice, simulatedDatasets } from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { createEmptyDatabase, superuserUrl } from '../../../server/src/platform/database/testing/test-database.ts'
import { served, withoutNotes } from '../demo/testing/test-agent.ts'
import { temporaryFolder } from '../testing/test-agent.ts'
import {
  mariaDatabase,
  postgresDatabase,
  practiceIn,
  sqliteDatabase,
  type TestSqlDatabase,
} from './testing/test-database.ts'
import { lacksOdbc, odbcProgram, throughOdbc } from './testing/test-odbc.ts'
import { someSqlAgent } from './testing/test-source.ts'

const mariaDb = await startTestMariaDb({ after })

const program = lacksOdbc === false ? odbcProgram() : ''

const engines: Readonly<Record<string, (t: TestContext) => Promise<TestSqlDatabase>>> = {
  PostgreSQL: async (t) => {
    const { url } = await createEmptyDatabase(t)
    return await postgresDatabase(t, superuserUrl(new URL(url).pathname.slice(1)))
  },
  MariaDB: () => mariaDatabase(mariaDb),
  SQLite: async (t) => sqliteDatabase(t, temporaryFolder(t)),
}
const throughDrivers = Object.entries(engines).map(([name, open]) => {
  const opened = async (t: TestContext) => throughOdbc(await open(t), program)
  return [`${name} through ODBC`, opened, lacksOdbc] as const
})

for (const [name, open, lacks = false] of [...Object.entries(engines), ...throughDrivers]) {
  test(`a practice that lives in ${name}: every record arrives equal, with changes, removals and restarts`, {
    skip: lacks,
  }, async (t) => {
    const database = await open(t)
    const locations = [12, 6].map((n) => ({ insurancePlans: n, feeSchedules: 3, patients: n }))
    const living = livingPractice(createPractice({ ...demoShape(`sql ${name}`), locations, years: 0.4 }))
    const writer = practiceIn(database)
    const agent = await someSqlAgent(t, database.settings, {})
    const gone = new Set<string>()
    const reasons = new Set<string>()
    let before = new Set<string>()
    for (let round = 0; round < 4; round++) {
      agent.setMapping(await writer.write(living.practice, new Date(Date.now() - 60_000)))
      if (round % 2 === 1) agent.restart()
      assert.equal(
        await agent.run(),
        'complete',
        JSON.stringify(agent.events.filter(({ event }) => /failed|advice/.test(event))),
      )
      assert.deepEqual(agent.named('dataset.advice'), [])
      for (const { dataset, fully } of agent.named('dataset.reading')) reasons.add(`${dataset} ${fully}`)
      await agent.server.confirmRemovals()
      const visible = await served(agent.server)
      const truth = living.truth()
      const present = new Set<string>()
      for (const dataset of simulatedDatasets) {
        for (const [location, records] of truth.get(dataset) ?? []) {
          const expected = withoutNotes(dataset, records)
          assert.deepEqual(
            visible(dataset, location, expected),
            expected,
            `${dataset} of location ${location}, round ${round}`,
          )
          for (const { source_id } of records) present.add(`${dataset}/${location}/${source_id}`)
        }
      }
      for (const key of before) if (!present.has(key)) gone.add(key)
      before = present
      for (let event = 0; event < 40; event++) living.moveOn()
    }
    assert.ok(gone.size > 0, 'something was removed')
    assert.ok(reasons.has('appointments null'), 'changes are read by their keys')
    assert.ok(reasons.has('fee_schedules source_changed'), 'what shows no change is read as a whole')
  })
}
