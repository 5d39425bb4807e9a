import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acknowledgedHeader } from '@bridgework/contract/ingest'
import { findEpoch } from '../../../modules/agents/epoch.ts'
import { watermarkAfter } from '../../../modules/datasets/stamp.ts'
import { takeSnapshot } from '../../../platform/database/testing/test-snapshot.ts'
import { aPlan, aSchedule, someWorld, type TestWorld } from '../../../testing/test-world.ts'
import { markRestored } from './database-restored.ts'

/** A vendor, the plans of a location that it may read, and its deltas of them. */
async function somePlans(t: { name?: string; after: (work: () => Promise<void>) => void }, insurancePlans: number) {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const since = async (moment: string, headers: Record<string, string> = {}, query = '') =>
    vendor.get(`${path}?q%5Bfetch_modified_since%5D=${encodeURIComponent(moment)}${query}`, headers)
  return { world, location, vendor, path, since }
}

const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)

test('K37: after a restore a delta from before it is the whole dataset and says so, whatever moment, page and epoch come with it; the next one is not', async (t) => {
  const { world, vendor, path, since } = await somePlans(t, 3)
  const first = await vendor.get(path)
  const { next_fetch_modified_since: watermark, epoch } = first.body.meta
  const before = await since(watermark, { 'x-epoch': epoch })
  assert.deepEqual([before.body.data, before.body.meta.restored_at, before.body.meta.epoch], [[], null, epoch])
  const ownClock = new Date().toISOString()

  const named = await markRestored(world.pool)

  const { beganAt } = (await findEpoch(world.pool, named)) ?? {}
  for (const answer of [
    await since(watermark),
    await since(watermark, { 'x-epoch': epoch }),
    await since(ownClock),
    await since(watermark, {}, '&items=2'),
  ]) {
    assert.deepEqual(idsOf(answer), idsOf(first).slice(0, answer.body.pagy.items))
    assert.deepEqual([answer.body.meta.restored_at, answer.body.meta.epoch], [beganAt?.toISOString(), named])
    assert.equal(answer.body.pagy.total, 3)
  }
  const second = await since(watermark, {}, `&items=2&after=${idsOf(first)[1]}`)
  assert.deepEqual([idsOf(second), second.body.meta.restored_at], [idsOf(first).slice(2), beganAt?.toISOString()])

  const { next_fetch_modified_since: next } = (await since(watermark)).body.meta
  for (const headers of [{}, { 'x-epoch': named }] as const) {
    const again = await since(next, headers)
    assert.deepEqual([again.body.data, again.body.meta.restored_at], [[], null])
  }
  assert.equal((await vendor.get(path)).body.meta.restored_at, null, 'no moment was asked for')
  // The clock of the lost database was hours ahead: its moment says nothing, and its epoch all.
  const ahead = watermarkAfter((Date.now() + 5 * 3_600_000) * 1000)
  assert.equal((await since(ahead)).body.code, 'parameter_invalid')
  assert.deepEqual(idsOf(await since(ahead, { 'x-epoch': epoch })), idsOf(first))
  // A change that this process has seen is read together with the permit, and must not pass for the answer.
  const later = await since(next, { 'x-epoch': epoch })
  assert.deepEqual([idsOf(later), later.body.meta.restored_at], [idsOf(first), beganAt?.toISOString()])
})

test('K37: a delta of a few records that is of another epoch is the whole dataset too', async (t) => {
  const { location, vendor, path, since } = await somePlans(t, 3)
  const { next_fetch_modified_since: watermark } = (await vendor.get(path)).body.meta
  await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Changed' }) })
  assert.equal((await since(watermark, {}, '&items=100')).body.data.length, 1)
  const whole = await since(watermark, { 'x-epoch': 'another' }, '&items=100')
  assert.equal(whole.body.data.length, 3)
  assert.notEqual(whole.body.meta.restored_at, null)
})

test('every answer of the vendor API names the epoch, and another one after a restore', async (t) => {
  const { world, location, vendor, path } = await somePlans(t, 1)
  const [{ id } = { id: '' }] = (await vendor.get(path)).body.data
  const paths = [
    path,
    `${path}/${id}`,
    `${path}/digest`,
    `/locations/${location.id}/fee_schedules`,
    '/locations',
    `/locations/${location.id}`,
    `/locations/${location.id}/sync_status`,
    '/organizations',
    `/organizations/${location.organizationId}`,
  ]
  const epochs = async () => {
    const named = new Set<unknown>()
    for (const each of paths) named.add((await vendor.get(each)).body.meta.epoch)
    const exported = await vendor.get(`${path}/export`)
    named.add(exported.headers.get('x-epoch'))
    named.add(JSON.parse(exported.text.trim().split('\n').at(-1) ?? '').meta.epoch)
    return [...named]
  }
  const [before, ...others] = await epochs()
  assert.deepEqual(others, [])
  const named = await markRestored(world.pool)
  assert.notEqual(before, named)
  assert.deepEqual(await epochs(), [named])
})

test('K37: ids and stamps that are given after a restore meet none that was given before, however often and in whatever order backups are restored', async (t) => {
  const { world, location, vendor, path, since } = await somePlans(t, 2)
  const first = await takeSnapshot(world.ownerPool, 'first')
  const given = new Map<string, string>()
  const add = async (round: string) => {
    const names = Array.from({ length: 50 }, (_, index) => `new ${round} ${index}`)
    await location.upload('insurance_plans', Object.fromEntries(names.map((name) => [name, aPlan()])))
    const { body } = await vendor.get(`${path}?items=5000`)
    for (const record of body.data) {
      const { source_id: sourceId } = record.attributes
      assert.equal(given.get(record.id) ?? sourceId, sourceId, `${record.id} was given to two records`)
      assert.ok(Number.isSafeInteger(Number(record.id)))
      given.set(record.id, sourceId)
    }
    return body.meta.next_fetch_modified_since
  }
  let watermark = await add('before')
  const restore = async (backup: typeof first, round: string) => {
    await backup.restore()
    await markRestored(world.pool)
    const delta = await since(watermark)
    assert.equal(typeof delta.body.meta?.restored_at, 'string', `${round}: ${delta.text.slice(0, 300)}`)
    watermark = await add(round)
  }
  await restore(first, 'once')
  await restore(first, 'twice')
  // A backup of a database whose stamps are ahead of the clock, because it was restored a moment ago.
  const second = await takeSnapshot(world.ownerPool, 'second')
  await restore(second, 'second')
  await restore(second, 'second, twice')
  const third = await takeSnapshot(world.ownerPool, 'third')
  await restore(third, 'third')
  await restore(first, 'the first after the third')
  assert.equal(given.size, 2 + 7 * 50)
})

test('K37: a restore whose clock is behind begins the next epoch all the same, later than every stamp that is known', async (t) => {
  const { world, location, vendor, path, since } = await somePlans(t, 2)
  const ahead = (Date.now() + 3_600_000) * 1000
  await world.ownerPool.query('update dataset_state set last_stamp = $1', [ahead])
  await world.ownerPool.query(`update service_epoch set began_at = now() + interval '1 day'`)
  const { next_fetch_modified_since: watermark } = (await vendor.get(path)).body.meta
  const named = await markRestored(world.pool)
  const whole = await since(watermark)
  assert.deepEqual([whole.body.data.length, whole.body.meta.epoch], [2, named])
  await location.upload('insurance_plans', { p3: aPlan() })
  assert.equal((await since(whole.body.meta.next_fetch_modified_since)).body.data.length, 1)
})

test('K37: a location that appears right after a restore is not read anew with each delta', async (t) => {
  const { world, location, vendor } = await somePlans(t, 1)
  await markRestored(world.pool)
  const later = await world.addLocation({ organizationId: location.organizationId, insurancePlans: 1 })
  await world.grant(vendor.companyId, later)
  const path = `/locations/${later.id}/insurance_plans`
  const { next_fetch_modified_since: watermark, epoch } = (await vendor.get(path)).body.meta
  for (const headers of [{}, { 'x-epoch': epoch }]) {
    const delta = await vendor.get(`${path}?q%5Bfetch_modified_since%5D=${watermark}`, headers)
    assert.deepEqual([delta.body.data, delta.body.meta.restored_at], [[], null])
  }
})

test('K37: a restore that nobody marked is refused where a watermark or an upload of this epoch shows it, and not where a clock may', async (t) => {
  const { world, location, vendor, path, since } = await somePlans(t, 2)
  const self = (acknowledged = '') =>
    world.request('/ingest/v1/agents/self', {
      headers: {
        authorization: `Bearer ${location.agent.agentKey}`,
        [acknowledgedHeader]: acknowledged,
      },
    })
  await vendor.get(path)
  const backup = await takeSnapshot(world.ownerPool, 'backup')
  await location.upload('insurance_plans', { p3: aPlan() })
  const { next_fetch_modified_since: watermark, epoch } = (await vendor.get(path)).body.meta
  const number = Number((await self()).body.highest_number)
  assert.equal((await self(`${number} ${epoch}`)).status, 200)
  assert.equal((await since(watermark, { 'x-epoch': epoch })).status, 200)

  await backup.restore()

  for (const answer of [await since(watermark, { 'x-epoch': epoch }), await self(`${number} ${epoch}`)]) {
    assert.deepEqual(
      [answer.status, answer.body.code, answer.headers.get('retry-after')],
      [503, 'restore_unmarked', '300'],
    )
    assert.match(answer.body.errors, /"database restored"/)
  }
  assert.equal((await since(watermark)).status, 200, 'it may be of a clock')
  for (const acknowledged of ['', `${number} another`, `${number - 1} ${epoch}`, 'nonsense', `${number}`])
    assert.equal((await self(acknowledged)).status, 200, acknowledged)

  await markRestored(world.pool)
  assert.deepEqual(idsOf(await since(watermark, { 'x-epoch': epoch })), idsOf(await vendor.get(path)))
  assert.equal((await self(`${number} ${epoch}`)).status, 200)
})

test('K37: an export of which a part would be of another epoch ends before it, and says where', async (t) => {
  const world = await someWorld(t, { reader: { partRecords: 2 } })
  const location = await world.addLocation({ insurancePlans: 5 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const { epoch } = (await vendor.get(path)).body.meta
  await restoreAfterRead(world)
  const { text, headers } = await vendor.get(`${path}/export`)
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { meta } = lines.pop()
  assert.deepEqual([headers.get('x-epoch'), meta.epoch, meta.has_more], [epoch, epoch, true])
  assert.deepEqual([lines.length, meta.next_after], [2, lines.at(-1).id])
  assert.notEqual((await vendor.get(`${path}/export?after=${meta.next_after}`)).headers.get('x-epoch'), epoch)
})

/** Begins another epoch as soon as a disclosure is on record: between two parts of an export. */
async function restoreAfterRead(world: TestWorld): Promise<void> {
  const { record } = world.disclosures
  let isRestored = false
  world.disclosures.record = async (entry) => {
    await record(entry)
    if (isRestored) return
    isRestored = true
    await markRestored(world.pool)
  }
}

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

test('a list by page number from before a restore is whole too, and uploads go on while a restore is marked', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('fee_schedules', { s1: aSchedule(), s2: aSchedule(), s3: aSchedule() })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/fee_schedules`
  const { next_fetch_modified_since: watermark } = (await vendor.get(path)).body.meta
  const uploads = async () => {
    for (let number = 0; number < 10; number += 1)
      assert.equal((await location.upload('fee_schedules', { [`n${number}`]: aSchedule() })).status, 200)
  }
  await Promise.all([uploads(), markRestored(world.pool)])
  const delta = await vendor.get(`${path}?q%5Bfetch_modified_since%5D=${watermark}&items=5&page=2`)
  assert.deepEqual([delta.body.data.length, delta.body.pagy.total], [5, 13])
  assert.notEqual(delta.body.meta.restored_at, null)
})
