import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeOver } from '../../../server/src/modules/agents/location-writer.ts'
import { check } from '../check.ts'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

async function twoAgents(t: Parameters<typeof someAgent>[0]) {
  const agent = await someAgent(t, { plans: 6 })
  const { service, organizationId, agentId } = agent.server
  await agent.run()
  const { id: locationId } = (await agent.server.locations()).get('1') ?? assert.fail()
  const other = await service.addAgent(organizationId)
  const nameWriter = (id: string) =>
    takeOver(service.pool, { locationId, organizationId, agentId: id as typeof other.agentId })
  return { agent, other, agentId, nameWriter, service, locationId }
}

test('where another agent writes, an agent reads and sends nothing, and says who writes and what to do', async (t) => {
  const { agent, other, nameWriter } = await twoAgents(t)
  await nameWriter(other.agentId)
  const [reads, uploads] = [agent.source.reads.length, (await agent.server.counts()).uploads]
  agent.source.content.insurance_plans.set('1', testPlan('1', 'Old copy'))
  agent.source.changed.insurance_plans = ['1']

  assert.deepEqual(await agent.run(), { result: 'failed', retryAfterMs: null })

  const [refused, ...more] = agent.named('location.written_by_other')
  assert.match(refused?.what ?? '', /^Another agent, "Agent", writes at Location 1; its last contact was never\.$/)
  assert.match(refused?.todo ?? '', /let it take over in the portal.*If not, stop this agent\.$/)
  assert.equal(more.length, 0, 'one line for a location, not one for each dataset')
  assert.equal(agent.source.reads.length, reads)
  assert.equal((await agent.server.counts()).uploads, uploads)
  assert.equal(agent.plans().get('1')?.plan_name, 'Plan 1')

  const deps = agent.deps()
  const { url: serverUrl, agentId, organizationId } = agent.server
  const findings = await check({
    ...deps,
    serverUrl,
    agentId,
    organizationId,
    memory: deps.state.source,
    statePath: import.meta.filename,
    now: () => new Date(),
  })
  const wrong = findings.filter(({ outcome, what }) => outcome === 'wrong' && !what.includes('clock'))
  assert.deepEqual(
    wrong.map(({ what, todo }) => [what, todo]),
    [[refused?.what, refused?.todo]],
  )
})

test('an agent that a person brings back heals all that the other one wrote, in its next cycle', async (t) => {
  const { agent, other, agentId, nameWriter, service, locationId } = await twoAgents(t)
  await nameWriter(other.agentId)
  const old = (id: string) => JSON.stringify(testPlan(id, `Old ${id}`))
  const sent = await service.send(other, locationId, 'insurance_plans', 1, `${old('1')}\n${old('2')}\n${old('9')}\n`)
  assert.equal(sent.status, 200, sent.text)
  await nameWriter(agentId)

  assert.equal((await agent.run()).result, 'complete')

  const names = [...agent.plans().values()].map((plan) => plan.plan_name)
  assert.deepEqual(names.sort(), ['Plan 1', 'Plan 2', 'Plan 3', 'Plan 4', 'Plan 5', 'Plan 6'])
})
