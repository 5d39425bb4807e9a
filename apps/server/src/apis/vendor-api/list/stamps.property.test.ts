import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import type { DatasetName } from '@bridgework/contract'
import fc from 'fast-check'
import { permitRead, type ReadPermit } from '../../../modules/consent/read-permit.ts'
import { deltaOverlapMicros, formatMicros, type Stamp } from '../../../modules/datasets/stamp.ts'
import { putStampsAhead } from '../../../modules/datasets/testing/test-stamps.ts'
import { scopeOf } from '../../../modules/records/read/delta.ts'
import { createPageReader, type PageReader } from '../../../modules/records/read/page.ts'
import { type Selection, wholeDataset } from '../../../modules/records/read/selection.ts'
import {
  aRecord,
  aSchedule,
  someWorld,
  type TestLocation,
  type TestVendor,
  type TestWorld,
} from '../../../testing/test-world.ts'
import { assertProblem } from '../testing/test-answer.ts'

/** `BRIDGEWORK_TEST_RUNS` times as many runs: the soak's way to the full count. */
const runs = 4 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)

/** One is read by cursor, with all filters; the other by page number. */
const copied = ['appointments', 'fee_schedules'] as const satisfies readonly DatasetName[]
type Copied = (typeof copied)[number]

const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      dataset: fc.constantFrom(...copied),
      keys: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant('grant' as const) },
)

/** What a dataset holds by our own account: the next stamp is one more than the last one, because the clock is far behind. */
type Model = { first: Stamp; last: Stamp; stamps: Map<number, Stamp>; events: Stamp[] }
type Reader = { vendor: TestVendor; granted: Record<Copied, Stamp> }

const startsAt = (key: number) => BigInt(Date.UTC(2026, 4, 1, 9, key)) * 1000n
/** Of the keys 1 to 3: a range includes its first moment and not its last. */
const range = { startsFrom: startsAt(1), startsTo: startsAt(4) }

test('P08, P16, F15: with stamps an hour ahead of the database’s clock, a delta from each microsecond around each change has what changed later and nothing else', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const world = await someWorld(t)
  const play = async (events: (typeof event extends fc.Arbitrary<infer Each> ? Each : never)[]) => {
    const location = await world.addLocation()
    await location.upload('patients', { one: aRecord('patients') })
    const models = await putAhead(world, location)
    const readers = [await addReader(world, location, models)]
    let value = 0
    for (const each of events) {
      if (each === 'grant') {
        readers.push(await addReader(world, location, models))
        continue
      }
      value += 1
      const records = each.keys.map((key) => [`${key}`, recordOf(each.dataset, key, value)])
      assert.equal((await location.upload(each.dataset, Object.fromEntries(records))).status, 200)
      const model = models[each.dataset]
      const stamp = nextOf(model)
      for (const key of each.keys) model.stamps.set(key, stamp)
    }
    for (const reader of readers.slice(-2)) {
      for (const dataset of copied) {
        const model = models[dataset]
        const around = new Set([model.first, ...model.events].flatMap((stamp) => [stamp - 1, stamp, stamp + 1]))
        for (const moment of around) await compare(world, location, reader, dataset, model, moment)
      }
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 7 }), play), {
    seed,
    numRuns: runs,
    endOnFailure: true,
  })
})

async function putAhead(world: TestWorld, location: TestLocation): Promise<Record<Copied, Model>> {
  const ahead = await putStampsAhead(world.ownerPool, location.id)
  const model = (): Model => ({ first: ahead, last: ahead, stamps: new Map(), events: [] })
  return { appointments: model(), fee_schedules: model() }
}

function nextOf(model: Model): Stamp {
  model.last += 1
  model.events.push(model.last)
  return model.last
}

/** A vendor whose first reads draw the stamps of its grants. */
async function addReader(world: TestWorld, location: TestLocation, models: Record<Copied, Model>): Promise<Reader> {
  const vendor = await world.addVendor([location])
  for (const dataset of copied) assert.equal((await vendor.get(`/locations/${location.id}/${dataset}`)).status, 200)
  return { vendor, granted: { appointments: nextOf(models.appointments), fee_schedules: nextOf(models.fee_schedules) } }
}

function recordOf(dataset: Copied, key: number, value: number): object {
  if (dataset === 'fee_schedules') return aSchedule({ name: `Schedule ${value}` })
  const starts_at = new Date(Number(startsAt(key) / 1000n)).toISOString()
  return aRecord('appointments', { operatory_name: `Op ${value}`, patient_source_id: 'one', starts_at })
}

/** A delta whose moment is `moment`, once the overlap is taken off, over HTTP and by each way of reading. */
async function compare(
  world: TestWorld,
  location: TestLocation,
  { vendor, granted }: Reader,
  dataset: Copied,
  model: Model,
  moment: Stamp,
) {
  const isWhole = moment < granted[dataset] || moment < model.first
  const later = [...model.stamps]
    .filter(([, stamp]) => isWhole || stamp > moment)
    .map(([key]) => key)
    .toSorted()
  const since = moment + deltaOverlapMicros
  const at = `${dataset} at the last stamp and ${moment - model.last} µs`
  const path = `/locations/${location.id}/${dataset}`

  const answer = await vendor.get(`${path}?q[fetch_modified_since]=${formatMicros(since)}`)
  if (moment > model.last) return assertProblem(answer, 'parameter_invalid')
  assert.deepEqual([answer.status, keysOf(answer.body.data.map((record) => JSON.stringify(record)))], [200, later], at)
  assert.deepEqual(
    [answer.body.pagy.total, answer.body.meta.next_fetch_modified_since],
    [later.length, formatMicros(model.last + deltaOverlapMicros)],
    at,
  )

  const token = await world.tokens.verify(await vendor.token())
  const permit = await permitRead(world.pool, token, location.id, dataset, { previewOff: false })
  const { modifiedAfter, isEmpty } = scopeOf(permit, { moment: since, epoch: null })
  assert.deepEqual(
    [modifiedAfter, isEmpty],
    [isWhole ? null : moment, isWhole ? model.stamps.size === 0 : moment === model.last],
    at,
  )
  if (modifiedAfter === null) return
  for (const { name, read, selection, holds } of waysToRead(world, dataset, await patientOf(world, location))) {
    const { documents, total } = await read(permit, { ...selection, modifiedAfter })
    const expected = later.filter(holds)
    assert.deepEqual(
      [keysOf(documents.map(([, document]) => document)), total],
      [expected, expected.length],
      `${at}, ${name}`,
    )
  }
}

type Way = {
  name: string
  read: (permit: ReadPermit, selection: Selection) => ReturnType<PageReader['readAfter']>
  selection: Selection
  holds: (key: number) => boolean
}

/** A few records, more, and many are read by different statements; so are those of a patient, those of a range, and both. */
function waysToRead(world: TestWorld, dataset: Copied, patientId: string): Way[] {
  const now = () => new Date()
  const all = { selection: wholeDataset, holds: () => true }
  if (dataset === 'fee_schedules') {
    const pages = createPageReader(world.pool, now, () => {})
    return [{ name: 'by number', read: (permit, selection) => pages.readPage(permit, selection, 1, 100), ...all }]
  }
  const inRange = (key: number) => key >= 1 && key < 4
  return [
    { smallDeltaMax: 50, sortedMax: 100 },
    { smallDeltaMax: 0, sortedMax: 100 },
    { smallDeltaMax: 0, sortedMax: 0 },
  ].flatMap((bounds) => {
    const pages = createPageReader(world.pool, now, () => {}, bounds)
    const read: Way['read'] = (permit, selection) => pages.readAfter(permit, selection, '0', 100)
    const way = (what: string, selection: Selection, holds: Way['holds']) => {
      return { name: `${what} with ${JSON.stringify(bounds)}`, read, selection, holds }
    }
    return [
      way('all', wholeDataset, all.holds),
      way('a patient', { ...wholeDataset, patientId }, all.holds),
      way('a range', { ...wholeDataset, ...range }, inRange),
      way('a patient and a range', { ...wholeDataset, patientId, ...range }, inRange),
    ]
  })
}

async function patientOf(world: TestWorld, location: TestLocation): Promise<string> {
  const { rows } = await world.pool.query<{ id: string }>(
    `select id from record where location_id = $1 and dataset = 'patients'`,
    [location.id],
  )
  return rows[0]?.id ?? ''
}

function keysOf(documents: readonly string[]): number[] {
  return documents.map((document) => Number(JSON.parse(document).attributes.source_id)).toSorted()
}
