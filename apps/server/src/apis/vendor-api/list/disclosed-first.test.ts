import assert from 'node:assert/strict'
import { get } from 'node:http'
import { type TestContext, test } from 'node:test'
import { constants, gunzipSync } from 'node:zlib'
import { vendorApiPath } from '@bridgework/contract'
import type { DisclosureEntry } from '../../../modules/disclosure/store.ts'
import { packNext } from '../../../modules/records/segments/segment-packer.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { aRecord, aSchedule, someWorld, type TestVendor, type TestWorld } from '../../../testing/test-world.ts'
import { eventually } from '../testing/test-answer.ts'
import { parseExport } from '../testing/test-export.ts'

test('K03, F25: no byte of an answer leaves before its disclosure is on record, and no byte of an export before that of its part', async (t) => {
  const { world, vendor, location, held } = await someHeld(t)
  const plans = `/locations/${location.id}/insurance_plans`
  const { meta, data } = (await held.letAll(() => vendor.get(plans))).body
  const schedules = `/locations/${location.id}/fee_schedules`
  const [appointment] = (await held.letAll(() => vendor.get(`/locations/${location.id}/appointments`))).body.data
  await location.upload('insurance_plans', { p5: null })
  const paths = [
    // Small pages, and deltas without `after`, are read and put on record in the permit's own statement.
    `${plans}?items=200`,
    `${plans}?items=5000`,
    `${plans}?items=200&fields[insurance_plan]=plan_name`,
    `${plans}?q[fetch_modified_since]=${meta.next_fetch_modified_since}&after=1`,
    `${plans}/${data[2]?.id}`,
    `${plans}/digest`,
    schedules,
    `/locations/${location.id}/appointments?q[patient_id]=${appointment?.attributes.patient_id}`,
  ]
  for (const path of paths) {
    const answer = await ask(world, vendor, path)
    const disclosure = await held.next()
    await settled(world)
    assert.deepEqual([answer.status(), answer.text()], [null, ''], path)
    await disclosure.record()
    await answer.end
    assert.equal(answer.status(), 200)
    assert.match(answer.text(), /"id":"\d+"/, path)
  }

  for (const coding of ['gzip', 'identity']) {
    const answer = await ask(world, vendor, `${plans}/export`, coding)
    const sent: string[] = []
    for (let part = 1; part <= 3; part += 1) {
      const disclosure = await held.next()
      await settled(world)
      if (part === 1) assert.deepEqual([answer.status(), answer.text()], [null, ''], coding)
      else assert.deepEqual(idsOf(answer.text()), sent, `${coding}, part ${part}`)
      sent.push(...idsUpTo(disclosure.entry, data, sent.length))
      await disclosure.record()
    }
    await answer.end
    assert.deepEqual([idsOf(answer.text()).length, parseExport(answer.text()).meta?.records], [5, 5])
  }
})

test('K04: a part of an export that cannot be put on record ends it: no byte of the part, and no last line', async (t) => {
  const { world, vendor, location, held } = await someHeld(t)
  for (const coding of ['gzip', 'identity']) {
    const answer = await ask(world, vendor, `/locations/${location.id}/insurance_plans/export`, coding)
    const first = await held.next()
    await first.record()
    const second = await held.next()
    second.refuse()
    await assert.rejects(answer.end)
    const { records, meta } = parseExport(answer.text())
    assert.deepEqual([records.length, meta], [2, null], coding)
  }
})

/** Five plans in parts of two, of which the first three are a segment, and a writer of disclosures that waits for the test. */
async function someHeld(t: TestContext) {
  const world = await someWorld(t, { reader: { partRecords: 2 } })
  const location = await world.addLocation({ insurancePlans: 5 })
  await location.upload('fee_schedules', { s: aSchedule() })
  await location.upload('patients', { one: aRecord('patients') })
  await location.upload('appointments', { a: aRecord('appointments', { patient_source_id: 'one' }) })
  const vendor = await world.addVendor([location])
  await packNext(world.pool, world.log, { options: { runRecords: 3 } })
  return { world, vendor, location, held: holdDisclosures(t, world) }
}

type Held = { entry: DisclosureEntry; record: () => Promise<void>; refuse: () => void }

function holdDisclosures(t: TestContext, world: TestWorld) {
  const record = world.disclosures.record
  const waiting: Held[] = []
  let isHeld = true
  t.mock.method(world.disclosures, 'record', (entry: DisclosureEntry) => {
    if (!isHeld) return record(entry)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting.push({
      entry,
      record: async () => {
        await record(entry)
        resolve()
      },
      refuse: () => reject(new Problem('disclosure_unavailable', { retryAfterSeconds: 2 })),
    })
    return promise
  })
  return {
    async next(): Promise<Held> {
      await eventually(async () => waiting.length > 0, 10_000, 'a disclosure is asked for')
      const [first] = waiting.splice(0, 1)
      assert.ok(first)
      return first
    },
    async letAll<T>(work: () => Promise<T>): Promise<T> {
      isHeld = false
      const result = await work()
      isHeld = true
      return result
    },
  }
}

/** An answer as it arrives. `end` fails where the answer was cut. */
async function ask(world: TestWorld, vendor: TestVendor, path: string, coding = 'identity') {
  const chunks: Buffer[] = []
  let status: number | null = null
  const { promise: end, resolve, reject } = Promise.withResolvers<void>()
  end.catch(() => {})
  const headers = { authorization: `Bearer ${await vendor.token()}`, 'accept-encoding': coding }
  get(`${world.url}${vendorApiPath}${path}`, { headers }, (response) => {
    status = response.statusCode ?? 0
    response.on('data', (chunk) => chunks.push(chunk))
    response.on('end', resolve)
    response.on('error', reject)
  }).on('error', reject)
  const text = () => {
    const bytes = Buffer.concat(chunks)
    return coding === 'gzip' && bytes.length > 0
      ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
      : bytes.toString()
  }
  return { end, text, status: () => status }
}

/** What the server has sent by now has arrived: later requests were answered. */
async function settled(world: TestWorld): Promise<void> {
  for (let count = 0; count < 5; count += 1) await world.request('/healthz')
}

function idsOf(text: string): string[] {
  return parseExport(text).records.map(({ id }) => id)
}

function idsUpTo({ coverage }: DisclosureEntry, data: readonly { id: string }[], from: number): string[] {
  assert.ok('lastId' in coverage)
  return data.slice(from, data.findIndex(({ id }) => id === coverage.lastId) + 1).map(({ id }) => id)
}
