import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { plainValues } from '../../platform/database/prepared.ts'
import { aPlan, someWorld } from '../../test-world.ts'
import { permitRead } from '../consent/read-permit.ts'
import { fewMaxUsual, readFewModified } from './few-modified.ts'

test('deltas that are asked for in one turn are read together, and each gets its own, in id order; one of more records gets none', async (t) => {
  const world = await someWorld(t)
  const locations = [await world.addLocation(), await world.addLocation()]
  const vendor = await world.addVendor(locations)
  const token = await world.tokens.verify(await vendor.token())
  const plans = datasetNames.find((name) => name === 'insurance_plans') ?? assert.fail()
  const permitOf = (id: string) => permitRead(world.pool, token, id, plans, { previewOff: false })
  const put = (at: number, from: number, to: number, plan_name: string) => {
    const numbers = Array.from({ length: to - from }, (_, index) => from + index)
    return locations[at]?.upload(
      'insurance_plans',
      Object.fromEntries(numbers.map((number) => [`p${number}`, aPlan({ plan_name })])),
    )
  }
  const [one, other] = locations.map(({ id }) => id)
  assert.ok(one !== undefined && other !== undefined)

  await put(0, 0, 12, 'first')
  const afterFirst = (await permitOf(one)).state.lastStamp
  // Changed in an order that is not that of their ids.
  await put(0, 8, 10, 'second')
  await put(0, 2, 4, 'third')
  await put(1, 0, fewMaxUsual, 'other')
  const [permit, otherPermit] = [await permitOf(one), await permitOf(other)]

  const statements: number[] = []
  const pool = {
    query(query: { values: string[] }) {
      statements.push(plainValues(query.values[0] ?? '').length)
      return world.pool.query(query as never)
    },
  } as unknown as Pool
  const read = (from: number) => [
    readFewModified(pool, permit, from),
    readFewModified(pool, permit, permit.state.lastStamp),
    readFewModified(pool, otherPermit, 0),
    readFewModified(pool, permit, 0),
    readFewModified(pool, { ...permit, notes: true }, from),
  ]
  const [changed, none, all, whole, withNotes] = await Promise.all(read(afterFirst))
  assert.deepEqual(
    changed?.map(([, document]) => JSON.parse(document).attributes.plan_name),
    ['third', 'third', 'second', 'second'],
  )
  assert.deepEqual(withNotes, changed)
  assert.deepEqual(none, [])
  assert.equal(all?.length, fewMaxUsual)
  assert.equal(whole?.length, 12)
  for (const found of [changed, all, whole]) {
    const ids = found?.map(([id]) => BigInt(id)) ?? []
    assert.ok(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? id)))
  }
  assert.deepEqual(
    statements.toSorted((a, b) => a - b),
    [1, 4],
  )

  await put(1, fewMaxUsual, fewMaxUsual + 1, 'one too many')
  assert.equal(await readFewModified(world.pool, await permitOf(other), 0), null)
})

test('the statement is planned once for a connection', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 300 })
  const vendor = await world.addVendor([location])
  const token = await world.tokens.verify(await vendor.token())
  const plans = datasetNames.find((name) => name === 'insurance_plans') ?? assert.fail()
  const permit = await permitRead(world.pool, token, location.id, plans, { previewOff: false })
  await world.pool.query('analyze record')
  const client = await world.pool.connect()
  try {
    for (let time = 0; time < 20; time += 1)
      await readFewModified(client as unknown as Pool, permit, permit.state.lastStamp - 1)
    const { rows } = await client.query<{ custom: number }>(
      `select custom_plans::int as custom from pg_prepared_statements where name = 'records.few_modified'`,
    )
    // PostgreSQL always tries the first five with their values.
    assert.deepEqual(rows, [{ custom: 5 }])
  } finally {
    client.release()
  }
})
