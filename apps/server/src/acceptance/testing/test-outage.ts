import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { vendorApiPath } from '@bridgework/contract'
import { createRandom } from '@bridgework/practice-simulator'
import { createPool } from '../../platform/database/pool.ts'
import { type Machine, onMachine, until } from '../../platform/database/testing/test-replication.ts'
import { aPlan } from '../../testing/test-world.ts'
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
  const { own } = load
  const database = new URL(load.world.serverUrl).pathname.slice(1)
  const many = Array.from({ length: 600 }, (_, index) => [`many-${index}`, aPlan()])
  assert.equal((await own.upload('insurance_plans', Object.fromEntries(many))).status, 200)
  let last = machine
  const uploads = await load.run(async () => {
    while (load.sent() < requests / 2) await sleep(10)
    const isPacked = async () => (await machine.query('select from segment limit 1', database)).rowCount === 1
    await until(isPacked, 'records are packed')
    await sleep(random.next() * 200)
    last = await strike()
  })

  const url = last.urlAs('postgres', database)
  const pool = createPool(url, { max: 2, log: () => {}, applicationName: 'outage' })
  const { entries, missing, extra, unreceived } = await load.faults(pool)
  const stored = await pool.query<{ id: string }>(`select source_id as id from record where source_id like 'upload-%'`)
  const plans = await pool.query<{ id: string }>(
    `select id from record where location_id = $1 and dataset = 'insurance_plans' order by id`,
    [own.id],
  )
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

  // The segments did not survive: what is read without them, or with new ones, is what the rows say.
  const { port } = await load.start()
  const page = await fetch(`http://127.0.0.1:${port}${vendorApiPath}/locations/${own.id}/insurance_plans?items=5000`, {
    headers: { authorization: `Bearer ${await load.vendors[0]?.token()}` },
  })
  const { data } = (await page.json()) as { data: { id: string }[] }
  assert.deepEqual(
    data.map((record) => record.id),
    plans.rows.map((row) => row.id),
  )
}
