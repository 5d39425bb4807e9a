import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { beginAnew } from '../../apis/operator/database-restored.ts'
import { ownerRole } from '../../platform/database/embedded/cluster.ts'
import { createTestDatabase } from '../../platform/database/test-database.ts'
import { aPlan, someWorld } from '../../test-world.ts'
import { createSecretKey } from '../credentials/secret.ts'
import { makeMonthsOf } from '../disclosure/months.ts'
import { fillTenants, type Snapshot, snapshot, tablesOf } from '../leaving/test-filled-tenant.ts'
import { copyRecords } from '../records/test-volume.ts'
import { createBackup, restoreBackup, verifyBackup } from './backup.ts'
import { listTables } from './tables.ts'

const nothing = async () => {}

test('K33: a restored database has every row of the one that was backed up, and goes on with ids that none had', async (t) => {
  const { world, work, file, ownerUrl } = await someBackup(t)
  const vendor = await world.addVendor()
  const { location } = await fillTenants(world, vendor)
  // A new database has no table of this month.
  await makeMonthsOf(world.ownerPool, ['2019-03-01'])
  await world.ownerPool.query(
    `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, record_ids, request_id, ip)
     select '2019-03-07T10:00:00Z', company_id, key_pair_id, location_id, dataset, '{}', 1, '{1}', 'old', ip from disclosure limit 1`,
  )
  const before = await snapshot(world)
  const backup = await createBackup(ownerUrl, file, new Date(), work)
  await location.upload('insurance_plans', { later: aPlan() })
  assert.deepEqual(await verifyBackup(file, work), backup)
  assert.equal(statSync(file).mode & 0o777, 0o600)

  const target = await createTestDatabase(t)
  assert.deepEqual(await restoreBackup(target.url, file, work, nothing), backup)
  const withoutUnlogged = (all: Snapshot) => [...all].filter(([table]) => !/^(sync_slot|segment)/.test(table))
  assert.deepEqual(withoutUnlogged(await snapshot(target)), withoutUnlogged(before))
  assert.equal(
    backup.rows,
    [...before].filter(([table]) => !/^(sync_slot|segment|migration)/.test(table)).flatMap(([, rows]) => rows).length,
  )

  // A vendor and an agent go on with the keys that they have, and the vendor gets everything again, once.
  const again = await createTestDatabase(t)
  await restoreBackup(again.url, file, work, async (client) => void (await beginAnew(client)))
  const server = await world.anotherServer({ pool: again.pool })
  const path = `/api/v1/vendors/locations/${location.id}/insurance_plans`
  const authorization = `Bearer ${await vendor.token()}`
  const get = async (query = '') =>
    (await world.request(`${path}${query}`, { on: server.url, headers: { authorization } })).body
  const watermark = (await vendor.get(path.replace('/api/v1/vendors', ''))).body.meta.next_fetch_modified_since
  const since = (moment: string) => `?q%5Bfetch_modified_since%5D=${encodeURIComponent(moment)}`
  const delta = await get(since(watermark))
  assert.deepEqual(
    delta.data.map(({ id }) => id),
    (await get()).data.map(({ id }) => id),
  )
  assert.deepEqual((await get(since(delta.meta.next_fetch_modified_since))).data, [])
})

test('a backup opens with its key alone, and every changed, moved, missing or added byte is found', async (t) => {
  const { world, work, file, ownerUrl } = await someBackup(t)
  await world.addLocation({ insurancePlans: 50 })
  await createBackup(ownerUrl, file, new Date(), work)
  const whole = readFileSync(file)
  assert.ok(!whole.includes('Plan 1'), 'nothing can be read in it')
  const refused = async (bytes: Buffer, errors: RegExp) => {
    writeFileSync(file, bytes)
    await assert.rejects(verifyBackup(file, work), { code: 'backup_unusable', errors })
  }
  for (let tries = 0; tries < 40; tries += 1) {
    const changed = Buffer.from(whole)
    const at = Math.floor(Math.random() * whole.length)
    changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
    await refused(changed, /not a backup|another secret key|damaged or changed|not complete/)
    await refused(whole.subarray(0, Math.floor(Math.random() * whole.length)), /./)
  }
  const frames = framesOf(whole)
  const put = (parts: readonly Buffer[]) => Buffer.concat([whole.subarray(0, headBytes), ...parts])
  assert.deepEqual(put(frames), whole)
  await refused(put(frames.slice(0, -1)), /its end is missing/)
  await refused(put(frames.toSpliced(3, 1)), /damaged or changed/)
  await refused(
    put([...frames.slice(0, 2), ...frames.slice(2, 4).toReversed(), ...frames.slice(4)]),
    /damaged or changed/,
  )
  await refused(Buffer.concat([whole, frames[1] ?? whole]), /damaged or changed/)
  await refused(Buffer.from('something else'), /not a backup/)
  writeFileSync(file, whole)
  const other = { ...work, keys: [createSecretKey(Buffer.alloc(32, 9)).backupKey] as const }
  await assert.rejects(verifyBackup(file, other), { code: 'backup_unusable', errors: /another secret key/ })
})

test('a backup is restored into an empty database of its version or not at all, and overwrites nothing', async (t) => {
  const { world, work, file, ownerUrl } = await someBackup(t)
  const location = await world.addLocation()
  await location.upload('insurance_plans', { p0: aPlan() })
  await copyRecords(world.pool, { locationId: location.id, dataset: 'insurance_plans' }, 5_000)
  await createBackup(ownerUrl, file, new Date(), work)
  await assert.rejects(createBackup(ownerUrl, file, new Date(), work), { code: 'output_unusable' })
  await assert.rejects(restoreBackup(ownerUrl, file, work, nothing), { code: 'database_not_empty' })

  const target = await createTestDatabase(t)
  const before = await snapshot(target)
  // In the middle of the rows, at the last one, and after it.
  const stop = new AbortController()
  const stopping = { ...work, signal: stop.signal, show: () => stop.abort() }
  await assert.rejects(restoreBackup(target.url, file, stopping, nothing), { code: 'stopped' })
  const failing = async () => Promise.reject(new Error('in the same transaction'))
  await assert.rejects(restoreBackup(target.url, file, work, failing), /in the same transaction/)
  const whole = readFileSync(file)
  writeFileSync(file, whole.subarray(0, -1))
  await assert.rejects(restoreBackup(target.url, file, work, nothing), { code: 'backup_unusable' })
  assert.deepEqual(await snapshot(target), before)
  writeFileSync(file, whole)
  await target.ownerPool.query(`update migration set sha256 = 'x' where number = 1`)
  await assert.rejects(restoreBackup(target.url, file, work, nothing), {
    code: 'backup_unusable',
    errors: /that made it/,
  })

  const stopped = { ...work, signal: AbortSignal.abort() }
  await assert.rejects(createBackup(ownerUrl, `${file}.2`, new Date(), stopped), { code: 'stopped' })
  assert.deepEqual([existsSync(`${file}.2`), existsSync(`${file}.2.partial`)], [false, false])
})

test('every table is in a backup, but for the list of migrations, slots that expire and segments, which are made from records', async (t) => {
  const world = await someWorld(t)
  const listed = (await listTables(world.pool)).map(({ name }) => name)
  const left = (await tablesOf(world)).filter((name) => !listed.includes(name))
  assert.deepEqual(left, ['migration', 'segment', 'segment_state', 'sync_slot', 'sync_slot_gate'])
})

async function someBackup(t: TestContext) {
  const world = await someWorld(t)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-backup-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const ownerUrl = new URL(world.serverUrl)
  ownerUrl.username = ownerRole
  const work = { keys: [world.secretKey.backupKey] as const, signal: new AbortController().signal, show: () => {} }
  return { world, work, file: join(folder, 'backup'), ownerUrl: ownerUrl.href }
}

const headBytes = 'bridgework backup 1\n'.length + 32

/** The frames of a backup, each with its length. */
function framesOf(file: Buffer): Buffer[] {
  const frames: Buffer[] = []
  for (let at = headBytes; at < file.length; ) {
    const end = at + 4 + file.readUInt32BE(at)
    frames.push(file.subarray(at, end))
    at = end
  }
  return frames
}
