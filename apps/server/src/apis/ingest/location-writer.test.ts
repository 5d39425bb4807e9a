import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEnrolmentCode, revokeAgent } from '../../modules/agents/agent-key.ts'
import { listWriters, takeOver } from '../../modules/agents/location-writer.ts'
import { takeTurn } from '../../modules/records/write/turn.ts'
import { aPlan, aRecord, someWorld, toNdjson } from '../../testing/test-world.ts'

const plans = (...names: string[]) =>
  toNdjson(Object.fromEntries(names.map((name) => [name, aPlan({ plan_name: name })])))

async function twoAgents(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const { id: locationId, organizationId } = await world.addLocation()
  const [first, second] = [await world.addAgent(organizationId), await world.addAgent(organizationId)]
  const send = (agent: typeof first, number: number, ...names: string[]) =>
    world.send(agent, locationId, 'insurance_plans', number, plans(...names))
  return {
    world,
    locationId,
    organizationId,
    first,
    second,
    send,
    reconcile: (agent: typeof first, began: number, ...names: string[]) =>
      world.sendList(agent, locationId, 'insurance_plans', began, names),
    finishRead: async (agent: typeof first) =>
      (await world.confirmReads(agent, locationId, ['insurance_plans'])).body.not_confirmed,
    visible: async () => {
      const { rows } = await world.pool.query('select source_id from record where not is_hidden order by source_id')
      return rows.map((row) => row.source_id)
    },
  }
}

test('G15: a location has one writer: another agent gets its name, and changes nothing', async (t) => {
  const { send, reconcile, finishRead, first, second, visible, world, organizationId, locationId } = await twoAgents(t)
  assert.equal((await send(first, 1, 'a', 'b')).status, 200)

  for (const refused of [await send(second, 1, 'c'), await reconcile(second, 1, 'a')]) {
    assert.deepEqual([refused.status, refused.body.code, refused.body.agent_name], [409, 'location_written', 'Agent'])
    assert.ok(Date.parse(String(refused.body.last_contact_at)) > Date.now() - 60_000)
    assert.match(refused.body.errors, /^Another agent, "Agent", writes at this location; its last contact was 20\d\d-/)
  }
  assert.deepEqual([await finishRead(second), await finishRead(first)], [[locationId], []])
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

test('a list that an earlier writer began hides nothing after a person named another', async (t) => {
  const { send, reconcile, first, second, visible, world, locationId, organizationId } = await twoAgents(t)
  await send(first, 1, 'a', 'b', 'c', 'd', 'e', 'f')
  let late: ReturnType<typeof reconcile> | undefined
  await takeTurn(world.pool, locationId, 'insurance_plans', async () => {
    late = reconcile(first, 2, 'a', 'b', 'c', 'd', 'e')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await takeOver(world.pool, { locationId, agentId: second.agentId, organizationId })
    // Brought back, it is the writer again, but what it began before is not.
    await takeOver(world.pool, { locationId, agentId: first.agentId, organizationId })
  })
  assert.equal((await late)?.body.code, 'location_written')
  assert.deepEqual(await visible(), ['a', 'b', 'c', 'd', 'e', 'f'])
})

test('an agent that writes again after another one gets a new epoch', async (t) => {
  const { send, first, second, world, locationId, organizationId } = await twoAgents(t)
  const self = async ({ agentKey }: typeof first) => {
    const headers = { authorization: `Bearer ${agentKey}` }
    const { body } = await world.request('/ingest/v1/agents/self', { headers })
    return body as unknown as { epoch: string; written_by_others: { agent_name: string }[] }
  }
  const before = (await self(first)).epoch
  await send(first, 1, 'a')
  assert.partialDeepStrictEqual(await self(first), { epoch: before, written_by_others: [] })
  assert.equal((await self(second)).written_by_others[0]?.agent_name, 'Agent')

  await takeOver(world.pool, { locationId, agentId: second.agentId, organizationId })
  assert.equal((await self(first)).written_by_others.length, 1)
  await takeOver(world.pool, { locationId, agentId: first.agentId, organizationId })
  const after = await self(first)
  assert.notEqual(after.epoch, before)
  assert.deepEqual(after.written_by_others, [])
})

test('a second agent does not change how a location is described, and people are told of it', async (t) => {
  const { send, first, second, world, locationId, organizationId } = await twoAgents(t)
  await send(first, 1, 'a')
  const described = async () => {
    const { rows } = await world.pool.query('select source_id, name, is_active from location where id = $1', [
      locationId,
    ])
    return rows[0]
  }
  const before = await described()
  const none = { address_line_1: null, address_line_2: null, city: null, state: null, postal_code: null, phone: null }
  const more = { country: null, email: null, website_url: null, time_zone: 'UTC', currency: null, is_active: false }
  const systems = { practice_management_system: { name: null, version: null } }
  const location = { source_id: before.source_id, name: 'Old name', ...none, ...more, ...systems }
  const report = (agent: typeof first) =>
    world.post(`/organizations/${organizationId}/locations`, agent, { locations: [location], complete: true })

  assert.equal((await report(second)).status, 200)
  assert.deepEqual(await described(), before)
  const writer = (await listWriters(world.pool, [locationId])).get(locationId)
  assert.deepEqual([writer?.agentId, writer?.refusedAgentId], [first.agentId, second.agentId])

  await report(first)
  assert.equal((await described()).name, 'Old name')
})

test('an agent that is enrolled in place of another takes its locations, and its list decides about the ledger', async (t) => {
  const { first, world, organizationId, locationId } = await twoAgents(t)
  const charges = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, aRecord('ledger_transactions')]))
  const send = (agent: typeof first, number: number, ...ids: string[]) =>
    world.send(agent, locationId, 'ledger_transactions', number, toNdjson(charges(...ids)))
  assert.equal((await send(first, 1, 'a', 'b', 'c', 'd', 'e', 'only in the old copy')).status, 200)
  const { code } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId })
  const enrolled = await world.post(
    '/agents',
    { agentKey: '' },
    { enrolment_code: code, replaces_agent_key: first.agentKey },
  )
  assert.equal(enrolled.status, 201, enrolled.text)
  assert.equal((await send(first, 2, 'f')).status, 401)

  const next = { agentId: enrolled.body.agent_id, agentKey: enrolled.body.agent_key } as typeof first
  assert.equal((await send(next, 1, 'a', 'b', 'c', 'd', 'e')).status, 200)
  const answer = await world.sendList(next, locationId, 'ledger_transactions', 1, ['a', 'b', 'c', 'd', 'e'])
  assert.deepEqual(answer.body as unknown, { hidden: 1 }, 'though the old key wrote it a moment ago')
  const { rows } = await world.pool.query('select source_id from record where is_hidden')
  assert.deepEqual(rows, [{ source_id: 'only in the old copy' }])
})

test('a key of another organization replaces no agent', async (t) => {
  const { send, first, world } = await twoAgents(t)
  await send(first, 1, 'a')
  const organizationId = await world.addOrganization()
  const { code } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId })
  const body = { enrolment_code: code, replaces_agent_key: first.agentKey }
  assert.equal((await world.post('/agents', { agentKey: '' }, body)).status, 201)
  assert.equal((await send(first, 2, 'b')).status, 200)
})
