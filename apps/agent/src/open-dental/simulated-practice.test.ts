import assert from 'node:assert/strict'
import test from 'node:test'
import {
  createPractice,
  expectedLocations,
  expectedRecords,
  livingPractice,
  openDentalShape,
  todayIn,
  writeEvent,
  writePractice,
} from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { served, testAgent } from '../demo/test-agent.ts'
import { runCycle } from '../pipeline/cycle.ts'
import { startTestService } from '../test-service.ts'
import { openDentalConnector } from './connector.ts'

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
        const server = await startTestService(t)
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
          const visible = await served(server)
          for (const [dataset, locations] of expectedRecords(living.practice, variant)) {
            for (const [location, records] of locations) {
              const when = `${dataset} of location ${location} after event ${n}, ${event?.name}`
              assert.deepEqual(visible(dataset, location, records), records, when)
            }
          }
        }
      },
    )
  }
})
