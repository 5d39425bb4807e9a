import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { runAgentCommand, spawnAgent } from '@bridgework/agent/test-agent'
import {
  createPractice,
  createRandom,
  expectedManyPlans,
  openDentalShape,
  writeManyPlans,
  writePractice,
} from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { someOffice } from './testing/test-office.ts'
import { walk } from './testing/test-vendor-copy.ts'

const plans = 30_000
/** As many uploads, and so as many moments to be killed at, as 100,000 plans have in uploads of the usual size. */
const uploadLines = 1_500
const [killsMin, killsMax] = [3, 8]
const mariaDb = await startTestMariaDb({ after })

test('an agent that is killed again and again while it sends 30,000 plans in 20 uploads delivers each of them once', async (t) => {
  const seed = String(Date.now())
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const database = await mariaDb.createDatabase()
  const connection = await database.connect()
  const nothing = { insurancePlans: 0, feeSchedules: 0 }
  const practice = createPractice(openDentalShape(seed, { shared: nothing, locations: [], oddities: false }))
  await writePractice(connection, practice, { clinics: 'off', headquarters: true })
  await writeManyPlans(connection, plans)
  const office = await someOffice(t, database, { timeZone: 'America/Denver', uploadLines })
  const ingested = () => office.world.events.filter((event) => event.event === 'records.ingested')

  // Spread over the whole ingest: each comes when some more uploads have arrived, at a moment that nobody chose.
  const struckAfter: number[] = []
  while (struckAfter.length < killsMax) {
    const agent = spawnAgent(['run', '--once', '--config', office.config])
    const enough = ingested().length + random.whole(0, 2)
    while (ingested().length < enough && agent.process.exitCode === null) await pause(5)
    await pause(random.next() * 400)
    agent.process.kill('SIGKILL')
    const { signal, code, stdout, stderr } = await agent.ended
    if (signal !== 'SIGKILL') {
      assert.equal(code, 0, stdout + stderr)
      break
    }
    struckAfter.push(ingested().length)
  }
  t.diagnostic(`killed after ${struckAfter.join(', ')} uploads`)
  assert.ok(struckAfter.length >= killsMin && struckAfter.some((uploads) => uploads > 0))
  for (const args of [[], ['--full']]) {
    const { code, stdout, stderr } = await runAgentCommand(['run', '--once', '--config', office.config, ...args])
    assert.equal(code, 0, stdout + stderr)
  }

  const { rows } = await office.world.pool.query(
    `select sum((answer::json ->> 'inserted')::int)::int as inserted, sum((answer::json ->> 'changed')::int)::int as changed,
            sum((answer::json ->> 'unchanged')::int)::int as unchanged
       from upload where dataset = 'insurance_plans'`,
  )
  assert.deepEqual(rows, [{ inserted: plans, changed: 0, unchanged: 0 }])
  const [locationId = ''] = (await office.locationIds()).values()
  const { data, watermark } = await walk(office.vendor, locationId, 'insurance_plans', { items: 5000 })
  const served = new Map(data.map(({ attributes }) => [attributes.source_id, attributes]))
  assert.deepEqual([data.length, served.size], [plans, plans])
  for (const { source_id, attributes } of expectedManyPlans(plans)) {
    const {
      updated_at,
      source_id: _,
      fee_schedule,
      ...own
    } = served.get(source_id) ?? assert.fail(`${source_id} is lost`)
    const { fee_schedule_source_id, ...expected } = attributes
    assert.deepEqual(own, expected)
    assert.equal(fee_schedule.data, null)
  }

  const { code } = await office.runAgent()
  assert.equal(code, 0)
  const delta = await walk(office.vendor, locationId, 'insurance_plans', { since: watermark, items: 5000 })
  assert.deepEqual(delta.data, [])
})

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
