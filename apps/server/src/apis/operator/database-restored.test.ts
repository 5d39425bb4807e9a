import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, someWorld } from '../../test-world.ts'
import { markRestored } from './database-restored.ts'

test('after a restore every vendor’s next delta returns everything once, and new records have ids that none had', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const since = async (moment: string) =>
    (await vendor.get(`${path}?q%5Bfetch_modified_since%5D=${encodeURIComponent(moment)}`)).body
  const first = (await vendor.get(path)).body
  const before = await since(first.meta.next_fetch_modified_since)
  assert.deepEqual(before.data, [])

  assert.equal((await markRestored(world.pool)).grants > 0, true)

  const all = await since(before.meta.next_fetch_modified_since)
  assert.deepEqual(
    all.data.map(({ id }) => id),
    first.data.map(({ id }) => id),
  )
  assert.deepEqual((await since(all.meta.next_fetch_modified_since)).data, [])
  await location.upload('insurance_plans', { later: aPlan() })
  const [later] = (await since(all.meta.next_fetch_modified_since)).data
  assert.ok(Number(later?.id) - Number(first.data.at(-1)?.id) > 1_000_000)
})

test('an agent’s numbers are one space over all datasets, and the service answers with the highest', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  const self = async () =>
    (await world.request('/ingest/v1/agents/self', { headers: { authorization: `Bearer ${agent.agentKey}` } })).body
  assert.equal((await self()).highest_number, null)
  const line = JSON.stringify({ source_id: 'p', attributes: aPlan() })
  assert.equal((await world.send(agent, location.id, 'insurance_plans', 5, line)).status, 200)

  const other = await world.send(agent, location.id, 'patients', 5, '{"source_id":"1","removed":true}')
  assert.deepEqual([other.status, other.body.code], [422, 'idempotency_key_reused'])
  assert.equal((await world.send(agent, location.id, 'insurance_plans', 5, line)).status, 200, 'the same upload again')
  assert.equal((await self()).highest_number, 5)
  const { epoch } = await self()
  await markRestored(world.pool)
  assert.notEqual((await self()).epoch, epoch)
})
