import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, someWorld } from '../../testing/test-world.ts'

test('G16: the same plan under a new key is a new record, and the old one is neither merged nor changed', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const first = await vendor.get(path)
  const [old] = first.body.data
  assert.ok(old)

  const answer = await location.upload('insurance_plans', { other: aPlan({ plan_name: 'Plan 1' }) })

  assert.deepEqual(answer.body as unknown, { inserted: 1, changed: 0, unchanged: 0, hidden: 0 })
  const [stayed, added, ...more] = (await vendor.get(path)).body.data
  assert.deepEqual(stayed, old)
  assert.equal(added?.attributes.plan_name, old.attributes.plan_name)
  assert.equal(added?.attributes.source_id, 'other')
  assert.notEqual(added?.id, old.id)
  assert.deepEqual(more, [])
})
