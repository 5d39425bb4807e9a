import assert from 'node:assert/strict'
import test from 'node:test'
import {
  createPractice,
  demoShape,
  type LivingPractice,
  livingPractice,
  type Practice,
  simulatedDatasets,
} from '@bridgework/practice-simulator'
import { runCycle } from '../pipeline/cycle.ts'
import { startTestService, type TestService } from '../testing/test-service.ts'
import { simulatedConnector } from './simulated-connector.ts'
import { served, testAgent, withoutNotes } from './testing/test-agent.ts'

test('the agent’s pipeline brings a server exactly what the practice holds, after every event', async (t) => {
  const server = await startTestService(t)
  const living = livingPractice(smallPractice('pipeline'))
  const agent = await testAgent(t, server, simulatedConnector(living))

  assert.equal((await runCycle(agent)).result, 'complete')
  await assertServed(server, living)
  // One at a time, then several between two cycles: they must not hide each other.
  for (const events of [...Array<number>(40).fill(1), ...Array<number>(16).fill(5)]) {
    for (let n = 0; n < events; n++) living.moveOn()
    assert.equal((await runCycle(agent)).result, 'complete')
    await assertServed(server, living)
  }
})

test('after the first cycle only what an event altered is read and sent', async (t) => {
  const server = await startTestService(t)
  const living = livingPractice(smallPractice('little'))
  const agent = await testAgent(t, server, simulatedConnector(living))
  await runCycle(agent)
  const plan = [...living.practice.insurancePlans.values()][5]
  assert.ok(plan)
  const [recordsBefore, eventsBefore] = [server.recordsReceived(), agent.events.length]
  const renamed = { ...plan, groupName: 'A name that was not there' }
  living.apply({ name: 'insurance_plan_renamed', changes: [{ table: 'insurancePlans', before: plan, after: renamed }] })

  await runCycle(agent)
  await runCycle(agent)

  assert.equal(server.recordsReceived(), recordsBefore + 1)
  const readings = agent.events.slice(eventsBefore).filter((event) => event.event === 'dataset.reading')
  assert.deepEqual(
    readings.map(({ dataset, fully, rows }) => [dataset, fully, rows]),
    [1, 0].flatMap((plans) => simulatedDatasets.map((name) => [name, null, name === 'insurance_plans' ? plans : 0])),
  )
})

test('a cursor of an earlier process leads to a comparison of everything, and nothing is sent twice', async (t) => {
  const server = await startTestService(t)
  const living = livingPractice(smallPractice('restart'))
  const agent = await testAgent(t, server, simulatedConnector(living))
  await runCycle(agent)
  for (let n = 0; n < 30; n++) living.moveOn()
  await runCycle(agent)
  const records = server.recordsReceived()
  const restarted = { ...agent, connector: simulatedConnector(livingPractice(living.practice, living.eventsSoFar())) }
  const older = livingPractice(smallPractice('restart'))

  assert.equal((await runCycle(restarted)).result, 'complete')
  assert.equal(server.recordsReceived(), records)
  assert.equal((await runCycle({ ...agent, connector: simulatedConnector(older) })).result, 'complete')
  await assertServed(server, older)
})

test('its check has nothing to complain about', async () => {
  const { findings } = await simulatedConnector(livingPractice(smallPractice('check'))).check()
  assert.ok(findings.every(({ outcome }) => outcome === 'good'))
})

/** As the sandbox's, with something of every kind and no more: all of it is compared again and again. */
function smallPractice(seed: string): Practice {
  const locations = [40, 20, 10].map((n) => ({ insurancePlans: 2 * n, feeSchedules: 4, patients: n }))
  return createPractice({ ...demoShape(seed), locations, years: 1 })
}

async function assertServed(server: TestService, living: LivingPractice): Promise<void> {
  assert.deepEqual([...(await server.locations()).keys()], [...living.practice.locations.keys()].sort())
  const visible = await served(server)
  const truth = living.truth()
  for (const dataset of simulatedDatasets) {
    for (const [location, records] of truth.get(dataset) ?? []) {
      const expected = withoutNotes(dataset, records)
      assert.deepEqual(visible(dataset, location, expected), expected, `${dataset} of location ${location}`)
    }
  }
}
