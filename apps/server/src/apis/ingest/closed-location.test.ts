import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import { confirmRemoval, rejectRemoval } from '../../modules/records/removals/removal-decision.ts'
import { findCurrentRemoval, listRemovals } from '../../modules/records/removals/removal-store.ts'
import { removeSlice } from '../../modules/records/removals/remover.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { aPlan, someWorld, toNdjson } from '../../testing/test-world.ts'

const plans = datasetNames[1] as DatasetName

const described = (sourceId: string, isActive = true) => ({
  source_id: sourceId,
  name: `Clinic ${sourceId}`,
  address_line_1: null,
  address_line_2: null,
  city: null,
  state: null,
  postal_code: null,
  country: null,
  phone: null,
  email: null,
  website_url: null,
  time_zone: null,
  currency: null,
  is_active: isActive,
  practice_management_system: { name: null, version: null },
})

/** A practice of two clinics, each with three plans, which one vendor reads. */
async function twoClinics(t: TestContext) {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const agent = await world.addAgent(organizationId)
  const report = async (sourceIds: string[], by = agent, complete = true) => {
    const body = { locations: sourceIds.map((id) => described(id)), complete }
    const answer = await world.post(`/organizations/${organizationId}/locations`, by, body)
    assert.equal(answer.status, 200, answer.text)
    const locations = answer.body.locations as unknown as { source_id: string; location_id: LocationId }[]
    return new Map(locations.map((each) => [each.source_id, each.location_id]))
  }
  const ids = await report(['1', '2'])
  let number = 0
  const upload = (locationId: string) => {
    number += 1
    return world.send(agent, locationId, plans, number, toNdjson({ a: aPlan(), b: aPlan(), c: aPlan() }))
  }
  for (const id of ids.values()) assert.equal((await upload(id)).status, 200)
  const closedId = ids.get('2') ?? assert.fail()
  const location = { id: closedId, organizationId, agent, upload: async () => assert.fail() }
  const vendor = await world.addVendor([location])
  const seen = async () => {
    const { body } = await vendor.get(`/locations/${closedId}`)
    const { data } = (await vendor.get(`/locations/${closedId}/${plans}`)).body
    const attributes = (body.data as unknown as { attributes: { is_active: boolean } }).attributes
    return [attributes.is_active, data.filter((each) => !each.attributes.is_hidden).length]
  }
  const work = async () => {
    while (await removeSlice({ pool: world.pool, log: world.log, now: () => new Date() })) {}
  }
  const held = () => findCurrentRemoval(world.pool, { locationId: closedId, dataset: plans })
  return { world, agent, organizationId, report, upload, closedId, seen, work, held }
}

test('a location that a complete list no longer names is closed, and its records wait for a person', async (t) => {
  const { world, report, closedId, seen, work, held } = await twoClinics(t)
  await report(['1'], undefined, false)
  assert.deepEqual(await seen(), [true, 3], 'a list that does not say that it is complete closes nothing')

  await report(['1'])
  await work()
  assert.deepEqual(await seen(), [false, 3])
  const removal = (await held()) ?? assert.fail('nothing is held')
  assert.partialDeepStrictEqual(removal, { state: 'held', remaining: 3, visible: 3 })
  assert.equal((await listRemovals(world.pool, null)).length, 1, 'nothing of the other clinic')

  await report(['1'])
  await work()
  assert.deepEqual(await held(), removal)
  await confirmRemoval(world.pool, closedId, plans, removal.listHash)
  assert.deepEqual(await seen(), [false, 0])
})

test('a person may keep the records of a closed location, and is not asked again', async (t) => {
  const { world, report, closedId, seen, work, held } = await twoClinics(t)
  await report(['1'])
  await work()
  await rejectRemoval(world.pool, {
    locationId: closedId,
    dataset: plans,
    listHash: (await held())?.listHash ?? '',
    now: new Date(),
  })
  await report(['1'])
  await work()
  assert.deepEqual([await seen(), await held()], [[false, 3], null])
})

test('a location that is back is open again: nothing waits, and what is sent again is shown again', async (t) => {
  const { world, report, upload, closedId, seen, work, held } = await twoClinics(t)
  await report(['1'])
  await work()
  await report(['1', '2'])
  assert.deepEqual([await seen(), await held()], [[true, 3], null])

  await report(['1'])
  await work()
  await confirmRemoval(world.pool, closedId, plans, (await held())?.listHash ?? '')
  assert.deepEqual(await seen(), [false, 0])
  await report(['1', '2'])
  await upload(closedId)
  assert.deepEqual(await seen(), [true, 3])
})

test('an agent closes no location that another living agent reports, but those of agents that are gone', async (t) => {
  const { world, agent, organizationId, report, seen } = await twoClinics(t)
  const other = await world.addAgent(organizationId)
  await report(['3'], other)
  assert.deepEqual(await seen(), [true, 3])
  await world.pool.query(`update agent_contact set last_contact_at = now() - interval '25 hours' where agent_id = $1`, [
    agent.agentId,
  ])
  await report(['3'], other)
  assert.deepEqual(await seen(), [false, 3])
})

test('an empty list of locations is refused as complete', async (t) => {
  const { world, agent, organizationId, seen } = await twoClinics(t)
  const body = { locations: [], complete: true }
  const answer = await world.post(`/organizations/${organizationId}/locations`, agent, body)
  assert.equal(answer.status, 422)
  assert.match(answer.body.errors, /^A complete list names at least one location\./)
  assert.deepEqual(await seen(), [true, 3])
})
