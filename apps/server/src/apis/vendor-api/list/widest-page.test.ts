import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { limits, vendorApiPath } from '@bridgework/contract'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import { aPlan, aSchedule, someWorld } from '../../../testing/test-world.ts'
import { startServerProcess } from '../testing/test-server.ts'

test('P09: a page of 5000 records with the widest values is served, in memory of less than three times its size', async (t) => {
  const secret = randomBytes(32)
  const world = await someWorld(t, { secretKey: createSecretKey(secret) })
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  // Three bytes for each character that the contract allows, and a fee schedule in every plan.
  const wide = '歯'.repeat(500)
  await location.upload('fee_schedules', { s: aSchedule({ name: wide }) })
  const plan = aPlan({
    plan_name: wide,
    group_number: wide,
    carrier_name: wide,
    payer_id: wide,
    employer_name: wide,
    fee_schedule_source_id: 's',
  })
  // As many as an upload may hold.
  const batch = Math.floor(limits.uploadBytesMax / (Buffer.byteLength(JSON.stringify(plan)) + 100))
  for (let first = 0; first < limits.pageSizeMax; first += batch) {
    const keys = Array.from({ length: Math.min(batch, limits.pageSizeMax - first) }, (_, index) => `p${first + index}`)
    const answer = await location.upload('insurance_plans', Object.fromEntries(keys.map((key) => [key, plan])))
    assert.equal(answer.status, 200, answer.text)
  }
  const server = await startServerProcess(t, world, secret)
  const headers = { authorization: `Bearer ${await vendor.token()}`, 'accept-encoding': 'identity' }
  const path = `${vendorApiPath}/locations/${location.id}/insurance_plans?items=`
  const read = (items: number) => world.request(path + items, { on: server.url, headers })
  await read(1)
  const before = await server.peakMemory()

  const began = performance.now()
  const answer = await read(limits.pageSizeMax)
  const durationMs = Math.round(performance.now() - began)

  assert.deepEqual([answer.status, answer.body.data.length], [200, limits.pageSizeMax])
  assert.equal(answer.body.data[4999]?.attributes.fee_schedule.data?.attributes.name, wide)
  const bytes = Number(answer.headers.get('content-length'))
  const growth = (await server.peakMemory()) - before
  const megabytes = (value: number) => `${Math.round(value / 2 ** 20)} MB`
  t.diagnostic(`page of ${megabytes(bytes)} in ${durationMs} ms, memory grew by ${megabytes(growth)}`)
  assert.ok(growth < 3 * bytes, `${megabytes(growth)} for a page of ${megabytes(bytes)}`)
})
