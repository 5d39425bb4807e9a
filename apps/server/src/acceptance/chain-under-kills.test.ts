import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '@bridgework/practice-simulator'
import { somePortal } from '../apis/portal/testing/test-portal.ts'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { ownerRole } from '../platform/database/embedded/cluster.ts'
import { aPlan } from '../testing/test-world.ts'
import { findEntryFaults, readEntries } from './testing/test-entry-faults.ts'
import { type Ask, asPeople, asVendor, fillPractices } from './testing/test-mixed-requests.ts'
import { someProduction } from './testing/test-production.ts'
import { createRecorder } from './testing/test-recorded-requests.ts'

/** `npm run soak -- F25`: 10,000 requests and 40 kills. */
const [requests = 0, kills = 0] = (process.env.BRIDGEWORK_TEST_CHAIN ?? '300,2').split(',').map(Number)
const seed = process.env.BRIDGEWORK_TEST_SEED ?? String(Date.now())
const vendors = 6

test('F25: what clients received of three processes that are killed is on record, once each, and nothing else is; the chain verifies', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const secret = randomBytes(32)
  const world = await somePortal(t, { secretKey: createSecretKey(secret), publicUrl: 'https://api.example.com' })
  const practices = await fillPractices(world)
  // The world's own `url` is its server's; every role of a test's database has the same password.
  const owner = Object.assign(new URL(world.serverUrl), { username: ownerRole })
  const production = await someProduction(t, { database: { serverUrl: world.serverUrl, url: owner.href }, secret })
  const settings = {
    BRIDGEWORK_SEALS_DIR: join(production.dataDir, 'seals'),
    BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans',
  }
  const start = () => production.startProcess(settings)
  // One after the other: the first one makes what they share.
  const servers = [await start(), await start(), await start()]
  const recorder = createRecorder(servers)
  const { attempts, sent } = recorder
  const people = await asPeople(recorder, random, world, practices.own)
  const clients = [people]
  for (let count = 0; count < vendors; count += 1)
    clients.push(asVendor(recorder, random, await world.addVendor([practices.own]), practices))
  const { rows } = await world.pool.query(
    'select (select coalesce(max(id), 0) from disclosure) as disclosure, (select coalesce(max(id), 0) from audit_event) as act',
  )

  const askUntilEnough = async (asks: readonly Ask[]) => {
    while (sent() < requests) await random.pick(asks)()
  }
  // Something changes all the time, so that deltas have what to return.
  const change = async () => {
    for (let round = 1; sent() < requests; round += 1) {
      await practices.own.upload('insurance_plans', { 'insurance_plans-1': aPlan({ plan_name: `Plan ${round}` }) })
      await sleep(100)
    }
  }
  const startsMs: number[] = []
  const strike = async () => {
    for (let struck = 0; struck < kills; struck += 1) {
      while (sent() < ((struck + 0.5) * requests) / kills) await sleep(10)
      const index = random.whole(0, servers.length - 1)
      await servers[index]?.kill('SIGKILL')
      servers[index] = await start()
      startsMs.push(servers[index].startedInMs)
    }
  }
  await Promise.all([...clients.map(askUntilEnough), change(), strike()])
  // Orderly, so that the last one seals what is left.
  for (const { kill } of servers) assert.equal((await kill('SIGTERM')).code, 0)

  const entries = await readEntries(world.ownerPool, rows[0])
  const faults = findEntryFaults(attempts, entries)
  const count = (outcome: string) => attempts.filter((attempt) => attempt.outcome === outcome).length
  t.diagnostic(
    `${sent()} requests (${count('cut')} cut, ${count('unsent')} found no server), ${kills} kills, ${entries.length} entries: ` +
      `${faults.missing.length} missing, ${faults.extra.length} extra, ${faults.unreceived} of answers that were cut or refused; ` +
      `ready again after at most ${Math.round(Math.max(...startsMs))} ms`,
  )
  assert.deepEqual(statusesOf(attempts), [])
  assert.deepEqual([faults.missing, faults.extra], [[], []])
  assert.ok(count('cut') > 0, 'no kill was ever noticed')
  assert.ok(
    entries.some(({ disclosed }) => disclosed === null) && entries.some(({ disclosed }) => disclosed?.counted === 0),
  )

  // The comparison can find both: an entry that is not there, and one too many.
  const received = new Set(attempts.filter(({ outcome }) => outcome === 'whole').map(({ requestId }) => requestId))
  const some = entries.find(({ disclosed, requestId }) => disclosed !== null && received.has(requestId))
  assert.ok(some)
  assert.equal(
    findEntryFaults(
      attempts,
      entries.filter((entry) => entry !== some),
    ).missing.length,
    1,
  )
  assert.equal(findEntryFaults(attempts, [...entries, { ...some, requestId: 'unknown', atMs: 0 }]).extra.length, 1)

  const { code, stdout, stderr } = await production.startOperator(
    'disclosure',
    'verify',
    '--seals',
    settings.BRIDGEWORK_SEALS_DIR,
    '--json',
  ).ended
  assert.equal(code, 0, stdout + stderr)
  const report = JSON.parse(stdout)
  const { disclosures, acts, unsealed, findings } = report
  const stored = await world.ownerPool.query(
    'select (select count(*)::int from disclosure) as disclosures, (select count(*)::int from audit_event) as acts',
  )
  t.diagnostic(`${report.seals} seals over ${disclosures} disclosures and ${acts} acts`)
  assert.deepEqual({ disclosures, acts, unsealed, findings }, { ...stored.rows[0], unsealed: 0, findings: 0 })
})

/** Which answers no request of the mix may get. */
function statusesOf(attempts: readonly { status: number | null; path: string }[]): string[] {
  const orderly = [null, 200, 400, 401, 403, 404, 409, 422, 429, 503]
  return attempts.flatMap(({ status, path }) => (orderly.includes(status) ? [] : [`${status} ${path}`]))
}
