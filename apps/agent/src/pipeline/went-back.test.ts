import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { confirmRestore } from '../confirm-restore.ts'
import { SourceProblem } from '../connector.ts'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

/** An agent whose source says how far it has come: a number. */
async function someAgedSource(t: TestContext) {
  const agent = await someAgent(t, { plans: 6 })
  const { source } = agent
  const age = { reached: 5 }
  const { beginCycle } = source
  source.beginCycle = async () => ({
    ...(await beginCycle()),
    compareAge: async (reached) => ({
      reached: String(age.reached),
      wentBack: age.reached < Number(reached ?? 0) ? 'The source is older than before.' : null,
    }),
  })
  assert.equal((await agent.run()).result, 'complete')
  const confirm = () => confirmRestore({ connector: source, memory: agent.deps().state.source, print: () => {} })
  return { agent, source, age, confirm }
}

test('a source that is older than it was is not sent until a person confirms it; then everything is compared', async (t) => {
  const { agent, source, age, confirm } = await someAgedSource(t)
  age.reached = 4
  source.content.insurance_plans.set('1', testPlan('1', 'Older'))
  source.content.insurance_plans.delete('6')
  const requests = agent.server.requests.length
  for (let cycle = 0; cycle < 2; cycle += 1) {
    assert.deepEqual(await agent.run(), { result: 'failed', retryAfterMs: null })
    agent.restart()
  }
  assert.equal(agent.named('cycle.failed').at(-1)?.what, 'The source is older than before.')
  assert.deepEqual([...new Set(agent.server.requests.slice(requests).map(({ kind }) => kind))], ['heartbeats'])

  assert.equal(await confirm(), 0)
  // A cycle that does not come to its end leaves the comparison to the next one.
  agent.server.world.interference = ({ kind }) => (kind === 'records' ? { status: 500, body: {} } : undefined)
  assert.equal((await agent.run()).result, 'failed')
  agent.server.world.interference = undefined
  assert.equal((await agent.run()).result, 'complete')
  assert.deepEqual([agent.plans().get('1')?.plan_name, agent.plans().has('6')], ['Older', false])
  assert.equal(agent.named('dataset.reading').at(-1)?.fully, 'requested')
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.named('dataset.reading').at(-1)?.fully, null)
})

test('a table that an update has begun to fill is no restored backup: the cycle is put off', async (t) => {
  const { agent, source, age } = await someAgedSource(t)
  age.reached = 1
  source.confirm = () => {
    throw new SourceProblem('update_in_progress', 'An update is in progress.', 'Wait.')
  }
  assert.deepEqual(await agent.run(), { result: 'put_off' })
  source.confirm = () => {}
  age.reached = 6
  assert.equal((await agent.run()).result, 'complete')
})
