import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import { exportOrganization } from '../../../modules/leaving/export.ts'
import { fillTenants } from '../../../modules/leaving/testing/test-filled-tenant.ts'
import { copyRecords } from '../../../modules/records/testing/test-volume.ts'
import { ownerRole } from '../../../platform/database/embedded/cluster.ts'
import { aPlan, someWorld, type TestWorld } from '../../../testing/test-world.ts'
import { runOperator } from '../run.ts'

test('erasing says what goes and what stays, and does nothing without the exact name', async (t) => {
  const { world, run } = await someOperator(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const command = ['organization', 'erase', '--organization', location.organizationId]
  const records = () => countRecords(world, location.id)

  const unattended = await run([...command])
  assert.deepEqual([unattended.code, await records()], [1, 3])
  assert.match(
    unattended.err,
    /deletes for good:[\s\S]*\nrecord +3\n[\s\S]*These rows stay:[\s\S]*--confirm "Practice"\.$/,
  )
  const wrong = await run([...command, '--confirm', 'practice'])
  assert.deepEqual(
    [wrong.code, wrong.err, await records()],
    [1, 'The name is "Practice", not "practice". Nothing was erased.', 3],
  )
  const mistyped = await run(command, 'yes')
  assert.deepEqual([mistyped.code, await records()], [1, 3])
  assert.match(mistyped.said, /\nrecord +3\n/)

  const typed = await run(command, 'Practice')
  assert.deepEqual([typed.code, await records()], [0, 0])
  assert.match(typed.out, /^Practice is erased: [\d,]+ rows were deleted\.\nThese rows stay:\n/)
  const again = await run([...command, '--confirm', 'Practice'])
  assert.match(again.out, /^Practice is erased: 0 rows were deleted\./)
  const added = await run([
    'member',
    'add',
    '--organization',
    location.organizationId,
    '--email',
    'a@b.example',
    '--name',
    'A',
    '--role',
    'member',
  ])
  assert.match(added.err, /was erased on/)

  const { companyId } = await world.addVendor()
  const company = await run(['company', 'erase', '--company', companyId, '--confirm', 'Vendor', '--json'])
  assert.equal(company.code, 0, company.err)
  assert.ok(JSON.parse(company.out).deleted.some((each: { table: string }) => each.table === 'key_pair'))
  assert.match((await run(['company', 'resume', '--company', companyId])).err, /closed company cannot be resumed/)
})

test('an erasing that is killed goes on with the next command', async (t) => {
  const { world, folder } = await someOperator(t)
  const location = await world.addLocation()
  await location.upload('insurance_plans', { p0: aPlan() })
  await copyRecords(world.pool, { locationId: location.id, dataset: 'insurance_plans' }, 60_000)
  const env = {
    ...{
      PATH: process.env.PATH,
      DATABASE_URL: world.serverUrl,
      BRIDGEWORK_MIGRATION_DATABASE_URL: asOwner(world.serverUrl),
    },
    BRIDGEWORK_DATA_DIR: folder,
  }
  const args = [
    join(import.meta.dirname, '../main.ts'),
    ...['organization', 'erase', '--organization', location.organizationId, '--confirm', 'Practice'],
  ]
  // The last record is held, so that the erasing cannot end before it is killed.
  const holder = await world.ownerPool.connect()
  await holder.query('begin')
  await holder.query('select from record where location_id = $1 order by id desc limit 1 for update', [location.id])
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
  const ended = once(child, 'close')
  while ((await countRecords(world, location.id)) === 60_000) await sleep(5)
  child.kill('SIGKILL')
  await ended
  await holder.query('rollback')
  holder.release()
  const left = await countRecords(world, location.id)
  assert.ok(left > 0, 'it was killed in the middle')
  t.diagnostic(`killed with ${left} of 60,000 records left`)
  assert.equal((await location.upload('insurance_plans', { p1: null })).status, 401)

  await new Promise<void>((resolve, reject) =>
    execFile(process.execPath, args, { env }, (error) => (error ? reject(error) : resolve())),
  )
  assert.equal(await countRecords(world, location.id), 0)
  const { rows } = await world.pool.query(`select count(*) from audit_event where action = 'organization.erase'`)
  assert.equal(Number(rows[0].count), 2, 'on record once for the practice and once for the operator')
})

test('K32: an export has every row of the practice and none of another, can be checked, and never overwrites', async (t) => {
  const { world, run, folder } = await someOperator(t)
  const vendor = await world.addVendor()
  const { location, organization, people } = await fillTenants(world, vendor)
  const other = await fillTenants(world, vendor)
  const output = join(folder, 'leaving')
  const command = [
    'organization',
    'export',
    '--reason',
    'It leaves',
    '--organization',
    organization.id,
    '--output',
    output,
  ]
  const done = await run(command)
  assert.equal(done.code, 0, done.err)
  assert.match(done.out, /The export is in .*leaving\. README\.txt explains it\.$/)

  const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
  const found = readdirSync(output, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.ndjson'))
  assert.deepEqual(manifest.files.map((file: { path: string }) => file.path).toSorted(), found.toSorted())
  for (const { path, rows, bytes, sha256 } of manifest.files) {
    const content = readFileSync(join(output, path))
    assert.equal(createHash('sha256').update(content).digest('hex'), sha256)
    assert.deepEqual([linesOf(output, path).length, content.length], [rows, bytes], path)
    assert.ok(rows > 0, `${path} has rows`)
    assert.equal(statSync(join(output, path)).mode & 0o777, 0o600)
  }
  await new Promise<void>((resolve, reject) =>
    execFile('sha256sum', ['--check', 'SHA256SUMS'], { cwd: output }, (error) => (error ? reject(error) : resolve())),
  )
  assert.equal(statSync(output).mode & 0o777, 0o700)

  const everything = manifest.files
    .map(({ path }: { path: string }) => readFileSync(join(output, path), 'utf8'))
    .join('')
  for (const foreign of [
    other.location.id,
    other.organization.id,
    other.people[0]?.email,
    other.location.agent.agentId,
  ]) {
    assert.ok(!everything.includes(String(foreign)), 'nothing of another practice')
  }
  assert.ok(!/hmac|password|secret_|\\\\x[0-9a-f]{32}/.test(everything), 'no secret')
  assert.ok(everything.includes(String(people[0]?.email)))
  for (const dataset of datasetNames) {
    for (const { location_id, record } of linesOf(output, `records/${dataset}.ndjson`)) {
      const { body } = await vendor.get(`/locations/${location.id}/${dataset}/${record.id}`)
      assert.deepEqual([location_id, record], [location.id, body.data])
    }
  }

  const again = await run(command)
  assert.deepEqual([again.code, /exists\. Choose another name/.test(again.err)], [1, true])
  mkdirSync(join(folder, 'killed.partial'))
  const killed = await run([
    'organization',
    'export',
    ...['--reason', 'It leaves'],
    '--organization',
    organization.id,
    '--output',
    join(folder, 'killed'),
  ])
  assert.match(killed.err, /killed\.partial exists: a command was killed/)
  const nowhere = await run([
    'organization',
    'export',
    ...['--reason', 'It leaves'],
    '--organization',
    organization.id,
    '--output',
    join(folder, 'a/b'),
  ])
  assert.match(nowhere.err, /does not exist\. Create it first\.$/)
})

test('an export that is stopped leaves nothing behind', async (t) => {
  const { world, folder } = await someOperator(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const stop = new AbortController()
  const deps = { pool: world.pool, now: () => new Date(), signal: stop.signal, onWritten: () => stop.abort() }
  const output = join(folder, 'stopped')
  await assert.rejects(
    exportOrganization(deps, location.organizationId, output, async () => {}),
    { code: 'stopped' },
  )
  assert.deepEqual([existsSync(output), existsSync(`${output}.partial`)], [false, false])
})

/** Runs commands on a world's database; `typed`: what a person at the terminal types when asked. */
async function someOperator(t: TestContext) {
  const world = await someWorld(t)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-leaving-'))
  chmodSync(folder, 0o700)
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const run = async (args: readonly string[], typed?: string) => {
    const [out, err, said]: [string[], string[], string[]] = [[], [], []]
    const open = async () => ({
      keyFile: { secretKeyFile: null, dataDir: '' },
      ...{ pool: world.pool, publicUrl: world.url, localUrl: world.url, environment: 'sandbox' as const },
      signal: new AbortController().signal,
      progress: { show: () => {}, end: () => {} },
      ownerUrl: '',
      write: async (text: string) => void out.push(text),
      ask: typed === undefined ? null : async () => typed,
      say: (text: string) => void said.push(text),
      secretKey: async () => world.secretKey,
      close: async () => {},
    })
    const code = await runOperator(args, { open, out: (text) => out.push(text), err: (text) => err.push(text) })
    return { code, out: out.join('\n'), err: err.join('\n'), said: said.join('\n') }
  }
  return { world, run, folder }
}

function asOwner(serverUrl: string): string {
  const url = new URL(serverUrl)
  url.username = ownerRole
  return url.href
}

async function countRecords({ pool }: TestWorld, locationId: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('select count(*) from record where location_id = $1', [
    locationId,
  ])
  return Number(rows[0]?.count)
}

// biome-ignore lint/suspicious/noExplicitAny: the lines of many files.
function linesOf(folder: string, path: string): any[] {
  return readFileSync(join(folder, path), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
