import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { uploadNumberJumpMax } from '@bridgework/contract/ingest'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

type Agent = Awaited<ReturnType<typeof someAgent>>

/** The next upload gets this number, as after a fault or with a state that something else wrote. */
function setNextNumber(agent: Agent, number: number): void {
  agent.restart(() => {
    const database = new DatabaseSync(agent.statePath)
    database.prepare('update setting set value = ? where name = ?').run(String(number), 'next_upload_number')
    database.close()
  })
}

async function change(agent: Agent, name: string) {
  agent.source.content.insurance_plans.set('1', testPlan('1', name))
  agent.source.changed.insurance_plans = ['1']
  return (await agent.run()).result
}

/** The number of the last upload that the service took. */
async function lastNumber(agent: Agent): Promise<number> {
  const { rows } = await agent.server.service.pool.query('select highest from agent_number')
  return Number(rows[0].highest)
}

test('an agent whose number is higher than the service takes goes on, with all records, and so it does ever after', async (t) => {
  for (const number of [uploadNumberJumpMax + 1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 1e300]) {
    const agent = await someAgent(t)
    await agent.run()
    const highest = await lastNumber(agent)
    setNextNumber(agent, number)

    assert.equal(await change(agent, 'After'), 'complete', String(number))
    assert.equal(agent.plans().get('1')?.plan_name, 'After')
    assert.deepEqual(
      agent.named('state.behind').map(({ because }) => because),
      ['number_too_high'],
    )
    assert.ok((await lastNumber(agent)) > highest && (await lastNumber(agent)) < highest + 100)
    assert.equal(await change(agent, 'Later'), 'complete')
    assert.equal(agent.plans().get('1')?.plan_name, 'Later')
    assert.equal(agent.named('state.behind').length, 1)
  }
})

test('an agent that sent the highest number that it may choose goes on above it', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  setNextNumber(agent, uploadNumberJumpMax)
  for (const name of ['At it', 'Above it', 'Further']) {
    assert.equal(await change(agent, name), 'complete')
    assert.equal(agent.plans().get('1')?.plan_name, name)
  }
  assert.ok((await lastNumber(agent)) > uploadNumberJumpMax)
  assert.equal(agent.named('state.behind').length, 0)

  // Its state is lost, and its clock is right.
  agent.loseState()
  assert.equal(await change(agent, 'Anew'), 'complete')
  assert.equal(agent.plans().get('1')?.plan_name, 'Anew')
})

test('an agent whose clock once stood at the end of all clocks goes on when it is right again', async (t) => {
  const agent = await someAgent(t)
  const { ms } = agent.clock
  agent.clock.ms = uploadNumberJumpMax - 60_000
  agent.loseState()
  await agent.run()
  assert.ok((await lastNumber(agent)) >= uploadNumberJumpMax - 60_000)
  agent.clock.ms = ms

  assert.equal(await change(agent, 'After'), 'complete')
  assert.equal(agent.plans().get('1')?.plan_name, 'After')
})

test('where the service once accepted the highest possible number, the agent says how to go on', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  await agent.server.service.pool.query('update agent_number set highest = 9999999999999999')
  assert.equal((await agent.run()).result, 'failed')
  assert.match(
    JSON.stringify(agent.named('cycle.failed').at(-1)),
    /number 10000000000000000, the highest possible one\. Enroll this agent again/,
  )
})
