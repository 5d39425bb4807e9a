import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteOldUploads } from '../../modules/records/write/upload-store.ts'
import { aPlan, aSchedule, someWorld, toNdjson } from '../../testing/test-world.ts'

test('G04: an upload with a lower number never overwrites what a higher one brought, also after the answers are forgotten', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const agent = await world.addAgent(location.organizationId)
  const send = async (
    number: number,
    plan_name: string,
    dataset: 'insurance_plans' | 'fee_schedules' = 'insurance_plans',
  ) => {
    const attributes = dataset === 'insurance_plans' ? aPlan({ plan_name }) : aSchedule({ name: plan_name })
    const answer = await world.send(agent, location.id, dataset, number, JSON.stringify({ source_id: 'p', attributes }))
    return answer.status === 200 ? answer.body : [answer.status, answer.body.code]
  }
  const nameNow = async () =>
    (await vendor.get(`/locations/${location.id}/insurance_plans`)).body.data[0]?.attributes.plan_name
  const refused = [422, 'idempotency_key_reused']

  assert.deepEqual(await send(7, 'newest'), { inserted: 1, changed: 0, unchanged: 0, hidden: 0 })
  assert.deepEqual(await send(6, 'late'), refused)
  assert.deepEqual(await send(8, 'newest'), { inserted: 0, changed: 0, unchanged: 1, hidden: 0 })
  await deleteOldUploads(world.pool, [location.id], new Date(Date.now() + 60_000))
  assert.deepEqual(await send(7, 'late'), refused)
  assert.equal(await nameNow(), 'newest')
  assert.deepEqual(await send(8, 'newest'), { inserted: 0, changed: 0, unchanged: 1, hidden: 0 }, 'the last one again')
  assert.deepEqual(await send(5, 'another dataset', 'fee_schedules'), {
    inserted: 1,
    changed: 0,
    unchanged: 0,
    hidden: 0,
  })
  assert.equal((await world.pool.query('select from upload')).rowCount, 2, 'one for each dataset and agent')
})

test('G15: of two uploads of a dataset that arrive at once, each is stored whole or not at all, and the higher number stays', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  const plansBy = (number: number) =>
    toNdjson(
      Object.fromEntries(Array.from({ length: 200 }, (_, key) => [`p${key}`, aPlan({ plan_name: `By ${number}` })])),
    )

  const [first, second] = await Promise.all(
    [1, 2].map((number) => world.send(agent, location.id, 'insurance_plans', number, plansBy(number))),
  )

  assert.equal(second?.status, 200)
  assert.ok(first?.status === 200 || first?.body.code === 'idempotency_key_reused', first?.text ?? '')
  const { rows } = await world.pool.query(
    `select distinct document::json -> 'attributes' ->> 'plan_name' as name, modified_at from record`,
  )
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['By 2'],
  )
})
