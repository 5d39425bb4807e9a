import assert from 'node:assert/strict'
import test from 'node:test'
import { openDentalConnector, runCycle } from '@bridgework/agent'
import { startTestMariaDb } from '@bridgework/agent/test-mariadb'
import { createPractice, openDentalShape } from '../create-practice.ts'
import { livingPractice } from '../living-practice.ts'
import { todayIn } from '../practice.ts'
import { testAgent } from '../test-agent.ts'
import { startTestIngestServer } from '../test-ingest-server.ts'
import { expectedLocations, expectedRecords } from './expected.ts'
import { writeEvent, writePractice } from './writer.ts'

test('the agent reads from an Open Dental database exactly what the practice holds, event after event', async (t) => {
  const mariadb = await startTestMariaDb(t)
  const cases = [
    { keyStyle: 'sequential', variant: { clinics: 'on', headquarters: true } },
    { keyStyle: 'random', variant: { clinics: 'on', headquarters: false } },
    { keyStyle: 'sequential', variant: { clinics: 'off', headquarters: true } },
  ] as const
  for (const { keyStyle, variant } of cases) {
    await t.test(
      `${keyStyle} keys, clinics ${variant.clinics}, ${variant.headquarters ? 'with' : 'without'} headquarters`,
      async (t) => {
        const database = await mariadb.createDatabase()
        const connection = await database.connect()
        const server = await startTestIngestServer(t)
        const living = livingPractice(createPractice(openDentalShape('read', { keyStyle })))
        await writePractice(connection, living.practice, variant)
        // Open Dental's today is the practice's: instalments fall due by it.
        const connector = openDentalConnector(
          database.settings,
          null,
          () => new Date(`${todayIn(living.practice)}T18:00:00Z`),
        )
        const agent = await testAgent(t, server, connector)

        const cycle = await connector.beginCycle()
        assert.deepEqual(await cycle.readLocations(), expectedLocations(living.practice, variant))
        await cycle.end()
        for (let n = 0; n <= 150; n++) {
          const event = n > 0 ? living.moveOn() : null
          if (event !== null) await writeEvent(connection, living.practice, variant, event)
          assert.equal((await runCycle(agent)).result, 'complete')
          for (const [dataset, locations] of expectedRecords(living.practice, variant)) {
            for (const [location, records] of locations) {
              const when = `${dataset} of location ${location} after event ${n}, ${event?.name}`
              assert.deepEqual(server.visible(location, dataset), records, when)
            }
          }
        }
      },
    )
  }
})
