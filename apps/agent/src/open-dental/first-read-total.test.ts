import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPractice, openDentalShape, writePractice } from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import type { AgentEvent } from '../agent-event.ts'
import { testAgent } from '../demo/testing/test-agent.ts'
import { runCycle } from '../pipeline/cycle.ts'
import { startTestService } from '../testing/test-service.ts'
import { openDentalConnector } from './connector.ts'

test('a first read never says more than its total, which does not change, and ends at it, in every dataset', async (t) => {
  const mariadb = await startTestMariaDb(t)
  const database = await mariadb.createDatabase()
  await writePractice(await database.connect(), createPractice(openDentalShape('totals')), {
    clinics: 'on',
    headquarters: false,
  })
  const server = await startTestService(t)
  const connector = openDentalConnector(database.settings, 'America/Chicago')
  const agent = await testAgent(t, server, connector)

  assert.equal((await runCycle(agent)).result, 'complete')

  const progress = agent.events.filter(
    (event): event is AgentEvent & { event: 'dataset.progress' } => event.event === 'dataset.progress',
  )
  const announced = agent.events.flatMap((event) => (event.event === 'dataset.reading' ? event : []))
  for (const dataset of connector.datasets) {
    const own = progress.filter((event) => event.dataset === dataset)
    const total = announced.find((event) => event.dataset === dataset && event.fully === 'first_read')?.rows
    assert.ok(total, `${dataset} has no total`)
    const said = own.map(({ rows, rowsTotal }) => [rows, rowsTotal])
    for (const [rows, rowsTotal] of said) assert.ok(Number(rows) <= total && rowsTotal === total, `${dataset}: ${said}`)
    // What was read again of a patient that another dataset let go of comes afterwards, with a total of its own.
    assert.ok(
      said.some(([rows]) => rows === total),
      `${dataset}: ${said}, of ${total}`,
    )
    assert.ok(own.every((event, index) => index === 0 || event.rows > (own[index - 1]?.rows ?? 0)))
  }
})
