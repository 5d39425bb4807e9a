import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import { somePortal } from '../apis/portal/testing/test-portal.ts'
import type { Config } from '../config.ts'
import { eraseTenant } from '../modules/leaving/erase.ts'
import { requireSafeStart } from '../safe-start.ts'
import { someWorld } from '../testing/test-world.ts'
import { startFeeder } from './feeder-process.ts'
import { findVendorPractice, keepVendorPractices, startVendorPractices } from './vendor-practices.ts'

type World = Awaited<ReturnType<typeof someWorld>>
type Vendor = Awaited<ReturnType<World['addVendor']>>

test('a vendor that signs up gets a living practice of its own with three locations, one of them closed', async (t) => {
  const world = await someWorld(t)
  const { keep, feeder } = someSandbox(t, world)
  const [vendor, other] = [await world.addVendor(), await world.addVendor()]
  await keep()

  for (const each of [vendor, other]) {
    const locations = await locationsOf(each)
    assert.deepEqual(locations.map(({ attributes }) => attributes.is_active).toSorted(), [false, true, true])
    for (const dataset of datasetNames) {
      const { status, body } = await each.get(`/locations/${locations[0]?.id}/${dataset}?items=1`)
      assert.deepEqual([status, body.meta.freshness.state, body.data.length], [200, 'current', 1], dataset)
    }
  }
  const [own, foreign] = [(await locationsOf(vendor))[0]?.id, (await locationsOf(other))[0]?.id]
  assert.notEqual(own, foreign)
  assert.equal((await vendor.get(`/locations/${foreign}/patients`)).status, 403)

  // Both live, and so they do when their process was killed.
  for (const each of [vendor, other]) await hasChanged(each)
  process.kill(feeder.pid(), 'SIGKILL')
  for (const each of [vendor, other]) await hasChanged(each)

  await keep()
  assert.equal((await locationsOf(vendor)).length, 3)
  await assert.rejects(
    requireSafeStart(world.pool, { environment: 'production' } as Config, () => {}),
    /demo practice/,
  )
})

test('more vendors than practices in memory all live, fed by one process', async (t) => {
  const world = await someWorld(t)
  const { keep } = someSandbox(t, world)
  const vendors: Vendor[] = []
  while (vendors.length < 6) vendors.push(await world.addVendor())
  await keep()
  for (const each of vendors) assert.equal((await locationsOf(each)).length, 3)
  for (const each of vendors) await hasChanged(each)
})

test('a vendor that a practice has granted access gets no demo practice, and that of a closed vendor is erased', async (t) => {
  const world = await someWorld(t)
  const { keep } = someSandbox(t, world)
  const served = await world.addVendor([await world.addLocation()])
  const vendor = await world.addVendor()
  await keep()
  assert.equal((await locationsOf(served)).length, 1)
  const records = async () => (await world.pool.query('select count(*)::int as n from record')).rows[0].n
  assert.ok((await records()) > 0)

  await world.pool.query(`update company set state = 'closed' where id = $1`, [vendor.companyId])
  await keep()
  assert.equal(await records(), 0)
  await keep()
  const { rows } = await world.pool.query('select from organization where external_reference is not null')
  assert.deepEqual(rows, [])
})

test('what was interrupted is completed by the next start', async (t) => {
  const world = await someWorld(t)
  const folder = someFolder(t)
  const vendor = await world.addVendor()
  const interrupted = someSandbox(t, world, folder)
  const stopping = new AbortController()
  const first = interrupted.keep(stopping.signal)
  await until(async () => (await world.pool.query('select from record')).rowCount !== 0)
  stopping.abort()
  await first
  await interrupted.feeder.stop()

  await someSandbox(t, world, folder).keep()
  assert.equal((await locationsOf(vendor)).length, 3)
  assert.equal((await world.pool.query('select from organization')).rowCount, 1)
  // The agent of before the interruption, with its key.
  assert.equal((await world.pool.query('select from agent')).rowCount, 1)
})

test('a reset gives the vendor a new practice, also a vendor whose reset was interrupted', async (t) => {
  const world = await someWorld(t)
  const { feeder, keep, stateDir } = someSandbox(t, world)
  const vendor = await world.addVendor()
  await keep()
  const before = await locationsOf(vendor)
  const practices = startVendorPractices({ ...world, feeder, stateDir, log: () => {} })
  t.after(practices.stop)
  await practices.reset(vendor.companyId)
  const after = await locationsOf(vendor)
  assert.equal(after.length, 3)
  assert.ok(after.every(({ id }) => before.every((each) => each.id !== id)))
  await hasChanged(vendor)

  const id = await findVendorPractice(world.pool, vendor.companyId)
  assert.ok(id)
  const { signal } = new AbortController()
  await eraseTenant({ pool: world.pool, signal, onDeleted: () => {} }, { side: 'organization', id }, 'sandbox')
  await keep()
  assert.equal((await locationsOf(vendor)).length, 3)
})

test('a sign-up in the portal is followed by a practice within seconds', async (t) => {
  let onSignUp = () => {}
  const world = await somePortal(t, { onSignUp: () => onSignUp() })
  const { feeder, stateDir } = someSandbox(t, world)
  const practices = startVendorPractices({ ...world, feeder, stateDir, log: () => {} })
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

  await until(async () => (await world.pool.query('select from access_grant')).rowCount !== 0)
  const { rows } = await world.pool.query('select name from organization')
  assert.deepEqual(rows, [{ name: 'Demo practice of Vendor Inc.' }])
})

/** The usual password of tests is a phrase that many people use. */
const uncommon = 'a bridge between two rivers'

function someFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-vendors-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function someSandbox(t: TestContext, world: Pick<World, 'pool' | 'secretKey' | 'url'>, stateDir = someFolder(t)) {
  const settings = { BRIDGEWORK_FEEDER_INTERVAL_MS: '200' }
  const feeder = startFeeder({ demo: null, serverUrl: world.url, stateDir, settings, log: () => {} })
  t.after(feeder.stop)
  const { pool, secretKey } = world
  const keep = (signal = new AbortController().signal) =>
    keepVendorPractices({ pool, secretKey, feeder, stateDir, signal })
  return { feeder, keep, stateDir }
}

async function locationsOf(vendor: Vendor) {
  return (await vendor.get('/locations')).body.data
}

/** Waits until something of the vendor's practice changes. */
async function hasChanged(vendor: Vendor): Promise<void> {
  // A watermark is known of what was read.
  for (const { id } of await locationsOf(vendor))
    for (const dataset of datasetNames) await vendor.get(`/locations/${id}/${dataset}?items=1`)
  const watermarks = async () => {
    const { data } = (await vendor.get('/changes?items=5000')).body
    return JSON.stringify(data.map(({ attributes }) => attributes.next_fetch_modified_since))
  }
  const before = await watermarks()
  await until(async () => (await watermarks()) !== before)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(300_000)
  while (!(await isSo())) await sleep(50, undefined, { signal: deadline })
}
