import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import { volumeSize } from '@bridgework/practice-simulator'
import type { Pool } from 'pg'
import { somePortal } from '../apis/portal/testing/test-portal.ts'
import type { Config } from '../config.ts'
import { requireSafeStart } from '../safe-start.ts'
import { someWorld } from '../testing/test-world.ts'
import { keepVendorPractices, startVendorPractices } from './vendor-practices.ts'

test('a vendor that signs up gets a small practice of its own, which has granted it access to every dataset', async (t) => {
  const { keep, ...world } = await someSandbox(t)
  const [vendor, other] = [await world.addVendor(), await world.addVendor()]
  await keep()

  for (const each of [vendor, other]) {
    const { data } = (await each.get('/locations')).body
    assert.equal(data.length, 1)
    const counts = await Promise.all(
      datasetNames.map(async (dataset) => {
        const { status, body } = await each.get(`/locations/${data[0]?.id}/${dataset}?items=1`)
        assert.deepEqual([status, body.meta.freshness.state, body.data.length], [200, 'current', 1], dataset)
        return body.pagy.total
      }),
    )
    const records = counts.reduce((sum, count) => sum + count, 0)
    assert.equal(records, whole)
    assert.ok(records < 1500)
  }
  const locationOf = async (each: typeof vendor) => (await each.get('/locations')).body.data[0]?.id
  const [own, foreign] = [await locationOf(vendor), await locationOf(other)]
  assert.notEqual(own, foreign)
  assert.equal((await vendor.get(`/locations/${foreign}/patients`)).status, 403)

  // Again: nothing more is made, and what has become of its access is left alone.
  await world.pool.query('update dataset_state set synced_at = synced_at - interval $$1 day$$')
  await keep()
  assert.equal((await vendor.get('/locations')).body.data.length, 1)
  const { body } = await vendor.get(`/locations/${own}/patients?items=1`)
  assert.equal(body.meta.freshness.state, 'current')
  await assert.rejects(
    requireSafeStart(world.pool, { environment: 'production' } as Config, () => {}),
    /demo practice/,
  )
})

test('a vendor that a practice has granted access gets no demo practice, and that of a closed vendor is erased', async (t) => {
  const { keep, ...world } = await someSandbox(t)
  const served = await world.addVendor([await world.addLocation()])
  const vendor = await world.addVendor()
  await keep()
  assert.equal((await served.get('/locations')).body.data.length, 1)
  const records = async () => (await world.pool.query('select count(*)::int as n from record')).rows[0].n
  assert.ok((await records()) > 0)

  await world.pool.query(`update company set state = 'closed' where id = $1`, [vendor.companyId])
  await keep()
  assert.equal(await records(), 0)
  await keep()
  const { rows } = await world.pool.query('select from organization where external_reference is not null')
  assert.deepEqual(rows, [])
})

test('what was interrupted is completed by the next call', async (t) => {
  const { keep, ...world } = await someSandbox(t)
  const vendor = await world.addVendor()
  const stopping = new AbortController()
  let transactions = 0
  const pool: Pool = new Proxy(world.pool, {
    get: (target, name) => {
      if (name === 'connect' && ++transactions === 8) stopping.abort()
      return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name)
    },
  })
  await keepVendorPractices({ pool, secretKey: world.secretKey, signal: stopping.signal })
  const { rows } = await world.pool.query('select count(*)::int as n from record')
  assert.ok(rows[0].n > 0 && rows[0].n < whole, `${rows[0].n} records`)
  assert.deepEqual((await vendor.get('/locations')).body.data, [])

  await keep()
  assert.equal((await vendor.get('/locations')).body.data.length, 1)
  assert.equal((await world.pool.query('select from record')).rowCount, whole)
  assert.equal((await world.pool.query('select from organization')).rowCount, 1)
})

test('a sign-up in the portal is followed by a practice within seconds', async (t) => {
  let onSignUp = () => {}
  const world = await somePortal(t, { onSignUp: () => onSignUp() })
  const practices = startVendorPractices({ ...world, log: () => {} })
  t.after(practices.stop)
  onSignUp = practices.wake
  const olga = {
    side: 'company',
    tenant_name: 'Vendor Inc.',
    name: 'Olga',
    email: 'olga@example.com',
    password: uncommon,
  }
  const answer = await world.postPage('/sign_up', olga)
  assert.equal(answer.status, 200, answer.text)
  await world.postPage('/auth/verify-email', { token: await world.linkSecret(olga.email) })

  const deadline = AbortSignal.timeout(30_000)
  while ((await world.pool.query('select from access_grant')).rowCount === 0) {
    await sleep(50, undefined, { signal: deadline })
  }
  const { rows } = await world.pool.query('select name from organization')
  assert.deepEqual(rows, [{ name: 'Demo practice of Vendor Inc.' }])
})

/** The usual password of tests is a phrase that many people use. */
const uncommon = 'a bridge between two rivers'

const whole = volumeSize({ seed: 'vendor', locations: 1, patients: 50 })

async function someSandbox(t: TestContext) {
  const world = await someWorld(t)
  const keep = (signal = new AbortController().signal) =>
    keepVendorPractices({ pool: world.pool, secretKey: world.secretKey, signal })
  return { ...world, keep }
}
