import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '@bridgework/practice-simulator'
import { findEntryFaults } from './testing/test-entry-faults.ts'
import { someMixedLoad } from './testing/test-mixed-load.ts'

/** `npm run soak -- F25`: 10,000 requests and 40 kills. */
const [requests = 0, kills = 0] = (process.env.BRIDGEWORK_TEST_CHAIN ?? '300,2').split(',').map(Number)
const seed = process.env.BRIDGEWORK_TEST_SEED ?? String(Date.now())

test('F25: what clients received of three processes that are killed is on record, once each, and nothing else is; the chain verifies', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const load = await someMixedLoad(t, { requests, processes: 3, vendors: 6, random: createRandom(seed) })
  const { world, production, servers, start, sealsDir, random, attempts, sent, count } = load
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
  const uploads = await load.run(strike)

  const { entries, ...faults } = await load.faults(world.ownerPool)
  t.diagnostic(
    `${sent()} requests (${count('cut')} cut, ${count('unsent')} found no server), ${kills} kills, ${entries.length} entries: ` +
      `${faults.missing.length} missing, ${faults.extra.length} extra, ${faults.unreceived} of answers that were cut or refused; ` +
      `ready again after at most ${Math.round(Math.max(...startsMs))} ms`,
  )
  assert.deepEqual(load.disorderly(), [])
  assert.deepEqual(uploads.lost, [])
  assert.ok(uploads.acknowledged > 0)
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

  const { code, stdout, stderr } = await production.startOperator('disclosure', 'verify', '--seals', sealsDir, '--json')
    .ended
  assert.equal(code, 0, stdout + stderr)
  const report = JSON.parse(stdout)
  const { disclosures, acts, unsealed, findings } = report
  const stored = await world.ownerPool.query(
    'select (select count(*)::int from disclosure) as disclosures, (select count(*)::int from audit_event) as acts',
  )
  t.diagnostic(`${report.seals} seals over ${disclosures} disclosures and ${acts} acts`)
  assert.deepEqual({ disclosures, acts, unsealed, findings }, { ...stored.rows[0], unsealed: 0, findings: 0 })
})
