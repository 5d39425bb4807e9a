import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { test } from 'node:test'
import { markRestored } from '../../../server/src/apis/operator/installation/database-restored.ts'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

const schedule = (name: string) => ({
  source_id: '8',
  attributes: { name, schedule_type: 'standard', is_global: false, is_hidden: false, fees: [] },
})

test('a restored state that a person lets go on compares everything, though its numbers are used for another dataset', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.restart()
  copyFileSync(agent.statePath, `${agent.statePath}-backup`)
  // The number that the backup gives next goes to a fee schedule here, and would go to a plan there.
  agent.source.content.fee_schedules.set('8', schedule('Before'))
  agent.source.changed.fee_schedules = ['8']
  agent.source.content.insurance_plans.set('1', testPlan('1', 'Later'))
  agent.source.changed.insurance_plans = ['1']
  await agent.run()
  agent.source.content.insurance_plans.set('1', testPlan('1', 'Plan 1'))
  agent.restart(() => copyFileSync(`${agent.statePath}-backup`, agent.statePath))
  assert.equal((await agent.run()).result, 'failed')
  await agent.server.takeOverCopy()

  assert.equal((await agent.run()).result, 'complete')

  assert.deepEqual(
    agent.named('state.behind').map(({ because }) => because),
    ['state_restored'],
  )
  assert.equal(agent.plans().get('1')?.plan_name, 'Plan 1')
  assert.equal(agent.visible('1', 'fee_schedules').get('8')?.name, 'Before')
  await agent.run()
  assert.equal(agent.named('state.behind').length, 1)
})

test('a service whose database was restored gets everything again that it lost, at the next contact', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  const { pool } = agent.server.service
  // As a backup that knows two plans, one of them in an older version.
  await pool.query(`delete from record where dataset = 'insurance_plans' and source_id = '2'`)
  await pool.query(`delete from upload; delete from agent_number`)
  await pool.query(
    `update record set document = replace(document, 'Plan 3', 'Old'), source_hash = decode(repeat('00', 16), 'hex')
      where dataset = 'insurance_plans' and source_id = '3'`,
  )
  // Nobody told: the agent says which upload was acknowledged, and sends nothing.
  assert.equal((await agent.run()).result, 'failed')
  const [failed] = agent.named('cycle.failed')
  assert.equal(failed?.because, 'restore_unmarked')
  assert.match(String(failed?.what), /"database restored"/)
  assert.equal(agent.plans().get('3')?.plan_name, 'Old')

  await markRestored(pool)
  assert.equal((await agent.run()).result, 'complete')

  assert.deepEqual(
    agent.named('state.behind').map(({ because }) => because),
    ['service_restored'],
  )
  assert.deepEqual([...agent.plans().values()].map((plan) => plan.plan_name).sort(), ['Plan 1', 'Plan 2', 'Plan 3'])
})
