import assert from 'node:assert/strict'
import { test } from 'node:test'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

async function namingAgent(t: Parameters<typeof someAgent>[0], plans = 3) {
  const agent = await someAgent(t, { plans })
  agent.source.namesGone = true
  return agent
}

test('everything is read without a list of keys, and what was not met is hidden', async (t) => {
  const agent = await namingAgent(t)
  await agent.run()
  assert.equal(agent.plans().size, 3)
  agent.source.content.insurance_plans.delete('2')
  await agent.run(true)
  assert.deepEqual([...agent.plans().keys()], ['1', '3'])
})

test('what is named and not there any more is hidden, and nothing else', async (t) => {
  const agent = await namingAgent(t)
  await agent.run()
  agent.source.content.insurance_plans.delete('2')
  agent.source.content.insurance_plans.set('3', testPlan('3', 'Other'))
  agent.source.changed.insurance_plans = ['2', '3', '77']
  const lists = agent.server.lists().length
  await agent.run()
  assert.deepEqual([...agent.plans().keys()], ['1', '3'])
  assert.equal(agent.plans().get('3')?.plan_name, 'Other')
  assert.deepEqual(
    agent.server
      .lists()
      .slice(lists)
      .map((list) => list.source_ids),
    [['1', '3']],
  )
  const requests = agent.server.requests.length
  await agent.run()
  assert.ok(agent.server.requests.slice(requests).every(({ path }) => !/records|complete_lists/.test(path)))
})

test('a location that is new is read in full', async (t) => {
  const agent = await namingAgent(t)
  agent.source.locationIds = ['1', '2']
  await agent.run()
  agent.source.locationIds = ['1', '2', '3']
  await agent.run()
  assert.equal(agent.plans('3').size, 3)
})

test('a refused record is not hidden by a read of everything', async (t) => {
  const agent = await namingAgent(t)
  await agent.run()
  const bad = { source_id: '2', attributes: { ...testPlan('2', 'Bad').attributes, renewal_month: 13 } }
  agent.source.content.insurance_plans.set('2', bad)
  await agent.run(true)
  assert.equal(agent.plans().get('2')?.plan_name, 'Plan 2')
  assert.equal(agent.named('record.refused').length, 1)
})

test('what a record bore on is read again in the same cycle when the record lets go of it or is gone', async (t) => {
  const agent = await namingAgent(t)
  const schedule = (id: string, name: string) => ({
    source_id: id,
    attributes: { name, schedule_type: 'standard', is_global: false, is_hidden: false, fees: [] },
  })
  agent.source.content.fee_schedules.set('8', schedule('8', 'Eight'))
  agent.source.content.fee_schedules.set('9', schedule('9', 'Nine'))
  agent.source.content.insurance_plans.set('1', { ...testPlan('1', 'One'), bearsOn: ['fee_schedules/8'] })
  agent.source.content.insurance_plans.set('2', { ...testPlan('2', 'Two'), bearsOn: ['fee_schedules/9'] })
  // The first answer is lost on the way: what the upload's records bear on must not be.
  let cuts = 20
  agent.server.world.interference = ({ kind }) => (kind === 'records' && cuts-- > 0 ? 'cut_after_effect' : undefined)
  assert.equal((await agent.run()).result, 'failed')
  agent.restart()
  cuts = 0
  await agent.run()

  agent.source.content.fee_schedules.set('8', schedule('8', 'Eight without One'))
  agent.source.content.fee_schedules.set('9', schedule('9', 'Nine without Two'))
  agent.source.content.insurance_plans.set('1', testPlan('1', 'One'))
  agent.source.content.insurance_plans.delete('2')
  agent.source.changed.insurance_plans = ['1', '2']
  await agent.run()
  const names = [...agent.visible('1', 'fee_schedules').values()].map((record) => record.name)
  assert.deepEqual(names, ['Eight without One', 'Nine without Two'])
})
