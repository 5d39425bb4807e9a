import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '@bridgework/practice-simulator'
import { createPool } from '../../platform/database/pool.ts'
import { type Machine, onMachine } from '../../platform/database/testing/test-replication.ts'
import { someMixedLoad } from './test-mixed-load.ts'

/** `npm run soak -- F41` and `F42`: 10,000. */
const requests = Number(process.env.BRIDGEWORK_TEST_REQUESTS ?? 300)
const seed = process.env.BRIDGEWORK_TEST_SEED ?? String(Date.now())

type AddressesOf = NonNullable<Parameters<typeof someMixedLoad>[1]['addressesOf']>

/**
 * A service on a server of the test's own is asked by everybody, and `strike` takes the database away in the middle of it and brings one back, whose
 * address as a superuser it returns, without the name. Then nothing may be lost, no answer wrong, and each read on record.
 */
export async function surviveOutage(
  t: TestContext,
  machine: Machine,
  { addressesOf, strike }: { addressesOf: AddressesOf; strike: () => Promise<Machine> },
) {
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const load = await onMachine(machine, () =>
    someMixedLoad(t, { requests, processes: 2, vendors: 6, random, addressesOf }),
  )
  let last = machine
  const uploads = await load.run(async () => {
    while (load.sent() < requests / 2) await sleep(10)
    await sleep(random.next() * 200)
    last = await strike()
  })

  const url = last.urlAs('postgres', new URL(load.world.serverUrl).pathname.slice(1))
  const pool = createPool(url, { max: 2, log: () => {}, applicationName: 'outage' })
  const { entries, missing, extra, unreceived } = await load.faults(pool)
  const stored = await pool.query<{ id: string }>(`select source_id as id from record where source_id like 'upload-%'`)
  await pool.end()
  const refused = load.attempts.filter(({ status }) => status === 503)
  const lastedMs =
    Math.max(...refused.map((each) => each.endedAtMs)) - Math.min(...refused.map((each) => each.begunAtMs))
  t.diagnostic(
    `${load.sent()} requests, ${uploads.acknowledged} uploads, ${entries.length} entries; 503 for ${Math.round(lastedMs)} ms (${refused.length} requests), ` +
      `no upload acknowledged for ${Math.round(uploads.outageMs)} ms; ${missing.length} missing, ${extra.length} on record twice, ` +
      `${unreceived} of answers that were cut or refused`,
  )
  assert.ok(refused.length > 0, 'the outage was noticed')
  assert.deepEqual(load.disorderly(), [])
  // What a statement wrote whose answer was lost with its connection is written once more (docs/decisions/disclosures.md).
  assert.deepEqual([missing, extra.filter((each) => !each.includes(', a second time for '))], [[], []])
  const ids = new Set(stored.rows.map(({ id }) => id))
  const lost = Array.from({ length: uploads.acknowledged }, (_, index) => `upload-${index + 1}`).filter(
    (id) => !ids.has(id),
  )
  assert.deepEqual([lost, uploads.lost], [[], []])
}
