import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool, PoolClient } from 'pg'
import { aPlan, aRecord, aSchedule, someWorld } from '../../testing/test-world.ts'
import { findMiscounts } from './testing/test-miscounts.ts'
import { storeUpload } from './write/upload.ts'

const numbers = Array.from({ length: 4_500 }, (_, index) => index)

test('an upload that is written in parts is one change: its records find each other, and the counts are right', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const patients = (name: string) =>
    Object.fromEntries(
      numbers.map((each) => [
        `p${each}`,
        // The guarantor stands at the other end of the upload.
        aRecord('patients', { last_name: name, guarantor_source_id: `p${numbers.length - 1 - each}` }),
      ]),
    )
  const read = async () => {
    const { body } = await vendor.get(`/locations/${location.id}/patients?items=5000`)
    return body.data
  }

  assert.partialDeepStrictEqual((await location.upload('patients', patients('First'))).body, { inserted: 4_500 })
  const first = await read()
  const idOf = new Map(first.map(({ id, attributes }) => [attributes.source_id, id]))
  for (const { attributes } of first) {
    const guarantor = `p${numbers.length - 1 - Number(attributes.source_id.slice(1))}`
    assert.equal(attributes.guarantor_id, idOf.get(guarantor))
  }
  assert.equal(new Set(first.map(({ attributes }) => attributes.updated_at)).size, 1)

  assert.partialDeepStrictEqual((await location.upload('patients', patients('Second'))).body, { changed: 4_500 })
  assert.ok((await read()).every(({ attributes }) => attributes.last_name === 'Second'))

  const removals = Object.fromEntries(numbers.map((each) => [`p${each}`, null]))
  assert.partialDeepStrictEqual((await location.upload('patients', removals)).body, { hidden: 4_500 })
  assert.ok((await read()).every(({ attributes }) => attributes.is_hidden))
  assert.deepEqual(await findMiscounts(world.pool), [])
})

test('what an upload of several parts refers to is looked up once, and shown in all of them', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  await location.upload('fee_schedules', { a: aSchedule({ name: 'A' }), b: aSchedule({ name: 'B' }) })
  const lines = numbers.map((each) => {
    // Parts have 1 MB. The last plans name a schedule that no part before them names.
    const key = each < 4_400 ? 'a' : 'b'
    const plan = aPlan({ plan_name: 'w'.repeat(400), fee_schedule_source_id: key })
    return { sourceId: `p${each}`, source: JSON.stringify(plan) }
  })
  const asked: string[] = []
  const pool = {
    async connect() {
      const client = await world.pool.connect()
      return new Proxy(client, {
        get(_, name: keyof PoolClient) {
          const member: unknown = client[name]
          if (typeof member !== 'function') return member
          return (...values: unknown[]) => {
            // A COPY is given as an object that submits itself.
            if (name === 'query') asked.push(typeof values[0] === 'string' ? values[0] : 'copy')
            return member.apply(client, values)
          }
        },
      })
    },
  } as unknown as Pool
  const upload = { locationId: location.id, dataset: 'insurance_plans', agentId: location.agent.agentId } as const
  await storeUpload(pool, { ...upload, fence: null, number: '1', bodyHash: '00'.repeat(32), lines }, () => new Date())

  // Of each part, the records and their references.
  assert.ok(asked.filter((text) => text === 'copy').length > 4)
  assert.equal(asked.filter((text) => text.includes('json_object_agg')).length, 2)
  const { body } = await vendor.get(`/locations/${location.id}/insurance_plans?items=5000`)
  assert.deepEqual(
    body.data.map(({ attributes }) => attributes.fee_schedule.data?.attributes.name),
    numbers.map((each) => (each < 4_400 ? 'A' : 'B')),
  )
})

test('a schedule that is renamed or hidden shows in its plans, however many fees stand beside its name', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const fees = Array.from({ length: 20_000 }, (_, index) => ({
    procedure_code: `D${index}`,
    amount: '125.00',
    provider_source_id: null,
    effective_on: null,
  }))
  const schedules = (name: string) => ({ a: aSchedule({ name, fees }), b: aSchedule({ name, fees }) })
  const shown = async () => {
    const { body } = await vendor.get(`/locations/${location.id}/insurance_plans`)
    return body.data.map(({ attributes }) => attributes.fee_schedule.data?.attributes)
  }
  await location.upload('fee_schedules', schedules('Old'))
  await location.upload('insurance_plans', {
    a: aPlan({ fee_schedule_source_id: 'a' }),
    b: aPlan({ fee_schedule_source_id: 'b' }),
  })
  assert.deepEqual(await shown(), Array(2).fill({ name: 'Old', is_hidden: false }))
  await location.upload('fee_schedules', schedules('New'))
  assert.deepEqual(await shown(), Array(2).fill({ name: 'New', is_hidden: false }))
  await location.upload('fee_schedules', { a: null, b: null })
  assert.deepEqual(await shown(), Array(2).fill({ name: 'New', is_hidden: true }))
})
