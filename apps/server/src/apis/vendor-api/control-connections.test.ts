import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { createPool } from '../../platform/database/pool.ts'
import { someWorld } from '../../testing/test-world.ts'
import { assertProblem, eventually, postToken } from './testing/test-answer.ts'

test('while pages hold every other connection, health, tokens and permits are answered at once, and slots are given back', async (t) => {
  const world = await someWorld(t)
  const [location, foreign] = [await world.addLocation({ insurancePlans: 2 }), await world.addLocation()]
  const vendor = await world.addVendor([location])
  const controlPool = createPool(world.serverUrl, { max: 2, log: world.log, applicationName: 'control' })
  t.after(() => controlPool.end())
  const { url: on } = await world.anotherServer({ controlPool })
  const headers = { authorization: `Bearer ${await vendor.token()}` }
  const pageOf = (id: string) =>
    world.request(`${vendorApiPath}/locations/${id}/insurance_plans`, { on, headers, signal: t.signal })
  assert.equal((await pageOf(location.id)).status, 200)

  const lock = await world.ownerPool.connect()
  await lock.query('begin; lock table record in access exclusive mode')
  // Three times as many as there are connections.
  const pages = Promise.all(Array.from({ length: 30 }, () => pageOf(location.id)))
  try {
    await eventually(async () => world.pool.waitingCount > 10, 10_000, 'pages hold every connection')
    const begun = performance.now()
    assert.equal((await world.request('/readyz', { on })).status, 200)
    const pair = { client_id: vendor.clientId, client_secret: vendor.clientSecret }
    assert.equal((await postToken(world, pair, { on })).status, 200)
    assertProblem(await pageOf(foreign.id), 'location_denied')
    assert.ok(performance.now() - begun < 3_000, `${performance.now() - begun} ms`)
  } finally {
    await lock.query('rollback')
    lock.release()
  }
  for (const { status } of await pages) assert.equal(status, 200)
  assert.equal((await controlPool.query('select from sync_slot')).rowCount, 0)
})
