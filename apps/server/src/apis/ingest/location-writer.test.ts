import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEnrolmentCode, revokeAgent } from '../../modules/agents/agent-key.ts'
import { takeOver } from '../../modules/agents/location-writer.ts'
import { takeTurn } from '../../modules/records/turn.ts'
import { aPlan, someWorld, toNdjson } from '../../test-world.ts'

const plans = (...names: string[]) =>
  toNdjson(Object.fromEntries(names.map((name) => [name, aPlan({ plan_name: name })])))

async function twoAgents(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const { id: locationId, organizationId } = await world.addLocation()
  const [first, second] = [await world.addAgent(organizationId), await world.addAgent(organizationId)]
  const send = (agent: typeof first, number: number, ...names: string[]) =>
    world.send(agent, locationId, 'insurance_plans', number, plans(...names))
  const path = `/locations/${locationId}/insurance_plans`
  return {
    world,
    locationId,
    organizationId,
    first,
    second,
    send,
    reconcile: (agent: typeof first, began: number, ...names: string[]) =>
      world.post(`${path}/reconcile`, agent, { began_at_upload: began, source_ids: names }),
    finishRead: (agent: typeof first) =>
      world.post(`${path}/cycles`, agent, { read_at: new Date().toISOString(), complete: true }),
    visible: async () => {
      const { rows } = await world.pool.query('select source_id from record where not is_hidden order by source_id')
      return rows.map((row) => row.source_id)
    },
  }
}

test('a location has one writer: another agent is told which, and changes nothing', async (t) => {
  const { send, reconcile, finishRead, first, second, visible, world, organizationId } = await twoAgents(t)
  assert.equal((await send(first, 1, 'a', 'b')).status, 200)

  for (const refused of [await send(second, 1, 'c'), await reconcile(second, 1, 'a'), await finishRead(second)]) {
    assert.deepEqual([refused.status, refused.body.code, refused.body.agent_name], [409, 'location_written', 'Agent'])
    assert.ok(Date.parse(String(refused.body.last_contact_at)) > Date.now() - 60_000)
    assert.match(refused.body.errors, /Another agent, "Agent", writes at this location/)
  }
  assert.deepEqual(await visible(), ['a', 'b'])
  const elsewhere = await world.addLocation({ organizationId })
  assert.equal((await world.send(second, elsewhere.id, 'insurance_plans', 2, plans('c'))).status, 200)
})

test('when a person revokes the writer the next agent takes over, and its complete list decides about all before', async (t) => {
  const { send, reconcile, first, second, visible, world } = await twoAgents(t)
  await send(first, 1, 'a', 'b', 'c', 'd', 'e', 'f')
  await revokeAgent(world.pool, first.agentId)

  assert.equal((await send(second, 1, 'a')).status, 200)
  const answer = await reconcile(second, 1, 'a', 'b', 'c', 'd', 'e')
  assert.deepEqual(answer.body as unknown, { hidden: 1 }, 'though the old agent sent it a moment ago')
  assert.deepEqual(await visible(), ['a', 'b', 'c', 'd', 'e'])
})

test('what the earlier writer began before a person named another comes to nothing', async (t) => {
  const { send, first, second, visible, world, locationId, organizationId } = await twoAgents(t)
  await send(first, 1, 'a')
  // The upload has passed the check at its beginning, and waits for the turn.
  let late: ReturnType<typeof send> | undefined
  await takeTurn(world.pool, locationId, 'insurance_plans', async () => {
    late = send(first, 2, 'late')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await takeOver(world.pool, { locationId, agentId: second.agentId, organizationId })
  })
  const refused = await late
  assert.deepEqual([refused?.status, refused?.body.code], [409, 'location_written'])
  assert.deepEqual(await visible(), ['a'])
  assert.equal((await send(second, 1, 'b')).status, 200)
  assert.equal((await send(first, 3, 'c')).status, 409)
  const stranger = await world.addAgent(await world.addOrganization())
  await assert.rejects(takeOver(world.pool, { locationId, agentId: stranger.agentId, organizationId }), {
    code: 'agent_unknown',
  })
})

test('an agent that is enrolled in place of another takes its locations, and the other one’s key ends', async (t) => {
  const { send, first, world, organizationId, locationId } = await twoAgents(t)
  await send(first, 1, 'a')
  const { code } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId })
  const enrolled = await world.post(
    '/agents',
    { agentKey: '' },
    { enrolment_code: code, replaces_agent_key: first.agentKey },
  )
  assert.equal(enrolled.status, 201, enrolled.text)

  const next = { agentId: enrolled.body.agent_id, agentKey: enrolled.body.agent_key } as typeof first
  assert.equal((await world.send(next, locationId, 'insurance_plans', 1, plans('b'))).status, 200)
  assert.equal((await send(first, 2, 'c')).status, 401)
})
