import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { vendorApiPath } from '@bridgework/contract'
import { smallDeltaMax } from '../../../modules/disclosure/small-read.ts'
import {
  type Answer,
  aPlan,
  aRecord,
  someWorld,
  type TestLocation,
  type TestVendor,
  type TestWorld,
} from '../../../testing/test-world.ts'
import { assertProblem, eventually, getWith } from '../testing/test-answer.ts'
import { holdInFlight, readsWaiting, slotsTaken } from '../testing/test-in-flight.ts'
import { times } from '../testing/test-runs.ts'
import { namedStatementsOf, statementsOf } from '../testing/test-statements.ts'

const plansOf = (location: TestLocation) => `/locations/${location.id}/insurance_plans`
/** A page that is read in a slot. */
const largePageOf = (location: TestLocation) => `${plansOf(location)}?items=200`

async function addLocations(world: TestWorld, count: number, insurancePlans = 1): Promise<TestLocation[]> {
  return await Promise.all(Array.from({ length: count }, () => world.addLocation({ insurancePlans })))
}

/** Asks another server on the same database. */
const askOn = async (world: TestWorld, on: string, vendor: TestVendor, path: string) =>
  world.request(vendorApiPath + path, { on, headers: { authorization: `Bearer ${await vendor.token()}` } })

function assertSlotsExceeded(answer: Answer, expected: { type: string; max: number; active: TestLocation[] }): void {
  assertProblem(answer, 'sync_slots_exceeded', /Too many locations are syncing concurrently/)
  const { sync_type, max_concurrent_locations, active_location_ids, retry_after_seconds } = answer.body
  assert.deepEqual([sync_type, max_concurrent_locations], [expected.type, expected.max])
  assert.deepEqual(
    active_location_ids,
    expected.active.map(({ id }) => Number(id)).sort((left, right) => left - right),
  )
  assert.ok(Number.isInteger(retry_after_seconds) && Number(retry_after_seconds) >= 1)
  assert.equal(answer.headers.get('retry-after'), String(retry_after_seconds))
}

test('C01, C02, C12, C13: beyond five locations in flight a sixth gets the specification’s 429, after every other check', async (t) => {
  const world = await someWorld(t)
  const other = await world.anotherServer()
  const locations = await addLocations(world, 7)
  const [foreign, sixth, ...five] = locations as [TestLocation, TestLocation, ...TestLocation[]]
  const vendor = await world.addVendor([sixth, ...five])
  const neighbour = await world.addVendor([foreign])
  // Two are asked of one process and three of another: a company has one set of slots.
  await using inFlight = await holdInFlight(
    world,
    five.map((location, index) => () => askOn(world, index < 2 ? world.url : other.url, vendor, largePageOf(location))),
    5,
  )
  await eventually(async () => (await readsWaiting(world)) === 5, 10_000, 'five reads wait for the table')
  const asked = t.mock.method(world.pool, 'query')

  for (const [on, path] of [
    [world.url, largePageOf(sixth)],
    [other.url, plansOf(sixth)],
  ] as const) {
    const answer = await askOn(world, on, vendor, path)
    assertSlotsExceeded(answer, { type: 'initial', max: 5, active: five })
  }
  const pageMode = await vendor.get(`/locations/${sixth.id}/fee_schedules`)
  assertSlotsExceeded(pageMode, { type: 'initial', max: 5, active: five })
  assertProblem(await getWith(world, plansOf(sixth), undefined), 'token_required')
  assertProblem(await vendor.get(plansOf(foreign)), 'location_denied')
  assertProblem(await vendor.get('/locations/7/insurance_plans'), 'location_unknown')
  assertProblem(await vendor.get(`${plansOf(sixth)}?items=0`), 'parameter_invalid')
  assert.equal((await vendor.get('/locations')).status, 200, 'only datasets count')
  const names = asked.mock.calls.map((call) => (call.arguments[0] as unknown as { name?: string }).name ?? '')
  assert.deepEqual(
    names.filter((name) => name.startsWith('records.')),
    [],
    'nothing was read',
  )

  const another = neighbour.get(plansOf(foreign))
  const second = vendor.get(largePageOf(five[4] as TestLocation))
  for (const answer of await inFlight.release()) assert.equal(answer.status, 200)
  assert.equal((await another).status, 200, 'another company has its own slots')
  assert.equal((await second).status, 200, 'a location in flight is already counted')
  assert.equal((await vendor.get(plansOf(sixth))).status, 200)
  assert.equal(await slotsTaken(world), 0)
})

test('C10: incremental requests have their own limit, beside initial ones', async (t) => {
  const world = await someWorld(t, { limits: { initial: 1, incremental: 2 } })
  const locations = await addLocations(world, 4)
  const [first, second, third, full] = locations as [TestLocation, TestLocation, TestLocation, TestLocation]
  const vendor = await world.addVendor(locations)
  const since = new Map<TestLocation, string>()
  for (const location of locations) {
    const { next_fetch_modified_since: watermark } = (await vendor.get(plansOf(location))).body.meta
    since.set(location, `${plansOf(location)}?q[fetch_modified_since]=${watermark}`)
  }
  const delta = (location: TestLocation) => since.get(location) ?? ''
  for (const location of [first, second]) await location.upload('insurance_plans', { new: aPlan() })
  await using inFlight = await holdInFlight(
    world,
    [() => vendor.get(plansOf(full)), () => vendor.get(delta(first)), () => vendor.get(delta(second))],
    3,
  )

  // The third's delta is empty: it takes no slot, and still is refused as a longer one would be.
  assertSlotsExceeded(await vendor.get(delta(third)), { type: 'incremental', max: 2, active: [first, second] })
  assertSlotsExceeded(await vendor.get(plansOf(third)), { type: 'initial', max: 1, active: [full] })
  const old = `${plansOf(third)}?q[fetch_modified_since]=1970-01-01T00:00:00Z`
  assertSlotsExceeded(await vendor.get(old), { type: 'initial', max: 1, active: [full] })
  const [whole, ...deltas] = await inFlight.release()
  assert.equal(whole?.status, 200)
  assert.deepEqual(
    deltas.map(({ body }) => body.data.length),
    [1, 1],
  )
  const names = await statementsOf(t, world, async () => {
    assert.deepEqual((await vendor.get(delta(third))).body.data, [])
  })
  assert.deepEqual(names, ['permit-read'], 'an empty delta is one round trip to the database')
})

test('a delta of a few records is one round trip where this process has seen a change, else its records are read in a slot', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  const { next_fetch_modified_since: watermark } = (await vendor.get(plansOf(location))).body.meta
  const since = `${plansOf(location)}?q[fetch_modified_since]=${watermark}`
  const statements = (path: string, records: number) =>
    namedStatementsOf(t, async () => assert.equal((await vendor.get(path)).body.data.length, records))
  /** On a busy machine the slots may be counted again while a delta lasts. */
  const become = async (path: string, records: number, expected: readonly string[]) => {
    const areSame = async () => (await statements(path, records)).join() === expected.join()
    await eventually(areSame, 10_000, expected.join())
  }

  await location.upload('insurance_plans', { new: aPlan() })
  await become(since, 1, ['small-reads'])
  const apart = ['permit-read', 'sync-slot-apply', 'records.small_delta', 'disclosure-record', 'sync-slot-apply']
  // Another process has stored it: nothing is known of it here.
  world.seenStamps.note(location.id, 'insurance_plans', 0)
  assert.deepEqual(await statements(since, 1), apart)
  // That request's permit told of it.
  await become(since, 1, ['small-reads'])
  // A part of a delta is read as such.
  assert.deepEqual(await statements(`${since}&items=${smallDeltaMax - 1}`, 1), apart)

  // Of one that lasts, here behind a lock, the slots are counted again before it is sent. On a busy machine it may give the lock up before that is released.
  world.seenStamps.note(location.id, 'insurance_plans', Number.MAX_SAFE_INTEGER)
  const owner = await world.ownerPool.connect()
  let lasting: string[] = []
  do {
    await owner.query('begin; lock table record in access exclusive mode')
    const slow = statements(since, 1)
    await eventually(async () => (await readsWaiting(world)) === 1, 2_000, 'the read waits for the table')
    await sleep(100)
    await owner.query('rollback')
    lasting = await slow
  } while (lasting.includes('permit-read'))
  owner.release()
  assert.deepEqual(lasting, ['small-reads', 'sync-slot-apply'])

  // More records than that statement reads take a slot before they are read.
  await location.upload('insurance_plans', Object.fromEntries(times51.map((number) => [`p${number}`, aPlan()])))
  const names = await statements(since, 52)
  const taking = names.indexOf('sync-slot-apply')
  assert.ok(taking > 0 && names.findLastIndex((name) => name.startsWith('records.')) > taking, names.join(' '))

  // Few, but more than goes out in one piece: in flight for as long as its reader takes.
  const { next_fetch_modified_since: later } = (await vendor.get(plansOf(location))).body.meta
  const wide = '歯'.repeat(500)
  await location.upload(
    'insurance_plans',
    Object.fromEntries(
      times51.slice(1).map((number) => [`w${number}`, aPlan({ plan_name: wide, carrier_name: wide })]),
    ),
  )
  const wideDelta = `${plansOf(location)}?q[fetch_modified_since]=${later}`
  const sending = ['sync-slot-apply', 'disclosure-record', 'sync-slot-apply']
  await become(wideDelta, 50, ['small-reads', ...sending])
  world.seenStamps.note(location.id, 'insurance_plans', 0)
  const reading = ['permit-read', 'sync-slot-apply', 'records.small_delta', 'disclosure-record', 'sync-slot-apply']
  assert.deepEqual(await statements(wideDelta, 50), reading)
  assert.equal(await slotsTaken(world), 0)
})

test('a small page is one round trip, unless it is wide', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  const page = `${plansOf(location)}?items=2`
  await vendor.get(page)
  const become = async (path: string, expected: readonly string[]) => {
    const areSame = async () => (await namedStatementsOf(t, () => vendor.get(path))).join() === expected.join()
    await eventually(areSame, 10_000, expected.join())
  }
  await become(page, ['small-reads'])
  await become(`${plansOf(location)}?items=101`, [
    ...['permit-read', 'sync-slot-apply', 'records.whole', 'disclosure-record', 'sync-slot-apply'],
  ])
  const inSlot = ['sync-slot-apply', 'disclosure-record', 'sync-slot-apply']
  for (const [characters, statements] of [
    [10_000, ['small-reads', ...inSlot]],
    [30_000, ['small-reads', 'sync-slot-apply', 'records.whole.with_notes', 'disclosure-record', 'sync-slot-apply']],
  ] as const) {
    const wide = (index: number) => [`w${index}`, aRecord('appointments', { note: '歯'.repeat(characters / 3) })]
    await world.grant(vendor.companyId, location, ['appointments'], { notes: true })
    const records = Object.fromEntries(Array.from({ length: 20 }, (_, index) => wide(index)))
    assert.equal((await location.upload('appointments', records)).status, 200)
    await vendor.get(`/locations/${location.id}/appointments`)
    await become(`/locations/${location.id}/appointments`, statements)
  }
  assert.equal(await slotsTaken(world), 0)
})

const times51 = Array.from({ length: 51 }, (_, number) => number)

const storm = { rounds: 3 * times, requests: 200 }

test('C03: of parallel requests over six locations to two processes exactly those beyond five are refused', async (t) => {
  const world = await someWorld(t)
  const other = await world.anotherServer()
  const locations = await addLocations(world, 6, 3)
  const vendor = await world.addVendor(locations)
  let most = 0
  let refused = 0
  for (let round = 0; round < storm.rounds; round += 1) {
    let isOver = false
    const watch = (async () => {
      while (!isOver) most = Math.max(most, await slotsTaken(world))
    })()
    const asked = Array.from({ length: storm.requests }, async (_, index) => {
      const location = locations[index % locations.length] as TestLocation
      const answer = await askOn(world, index % 2 ? world.url : other.url, vendor, largePageOf(location))
      if (answer.status === 200) return assert.equal(answer.body.data.length, 3)
      // At that moment the five others were in flight, no more and no fewer.
      assertSlotsExceeded(answer, { type: 'initial', max: 5, active: locations.filter((each) => each !== location) })
      refused += 1
    })
    await Promise.all(asked)
    isOver = true
    await watch
    assert.equal(await slotsTaken(world), 0)
  }
  assert.ok(most <= 5, `${most} locations were in flight at once`)
  t.diagnostic(`${refused} of ${storm.rounds * storm.requests} refused, at most ${most} locations at once`)
})

const walk = { workers: 5, locations: 50, pagesEach: 4 * times }

test('a small page’s slot is free while its disclosure waits, a large one’s is not, and neither is sent', async (t) => {
  const world = await someWorld(t)
  const small = await world.addLocation({ insurancePlans: 1 })
  const large = await world.addLocation({ insurancePlans: 500 })
  const vendor = await world.addVendor([small, large])
  const owner = await world.ownerPool.connect()
  await owner.query('begin; lock table disclosure in access exclusive mode')
  let answered = 0
  const answers = [small, large].map(async (location) => {
    const answer = await vendor.get(`${plansOf(location)}?items=5000`)
    answered += 1
    return answer
  })
  try {
    const isLargeAlone = async () => {
      const { rows } = await world.pool.query<{ location_id: string }>('select location_id from sync_slot')
      return rows.length === 1 && rows[0]?.location_id === large.id && (await disclosuresWaiting(world)) > 0
    }
    await eventually(isLargeAlone, 2_000, 'the slot of the small page is free')
    assert.equal(answered, 0)
  } finally {
    await owner.query('rollback')
    owner.release()
  }
  for (const answer of await Promise.all(answers)) assert.equal(answer.status, 200)
  assert.equal(await slotsTaken(world), 0)
})

test('S11: five workers walk fifty locations page after page, and not one request is refused', async (t) => {
  const world = await someWorld(t)
  const other = await world.anotherServer()
  const organizationId = await world.addOrganization()
  const locations: TestLocation[] = []
  for (let count = 0; count < walk.locations; count += 1) {
    locations.push(await world.addLocation({ organizationId, insurancePlans: walk.pagesEach }))
  }
  const vendor = await world.addVendor(locations)
  const queue = [...locations]
  let pages = 0
  const work = async (worker: number) => {
    for (let location = queue.pop(); location; location = queue.pop()) {
      for (let after: string | null = '0'; after !== null; pages += 1) {
        const on = (pages + worker) % 2 ? world.url : other.url
        const answer: Answer = await askOn(world, on, vendor, `${plansOf(location)}?items=1&after=${after}`)
        assert.equal(answer.status, 200, answer.text)
        after = answer.body.meta.next_after
      }
    }
  }
  await Promise.all(Array.from({ length: walk.workers }, (_, worker) => work(worker)))
  assert.equal(pages, walk.locations * walk.pagesEach)
})

test('C15: clients that wait as Retry-After says all come to their turn', async (t) => {
  const world = await someWorld(t, { limits: { initial: 2, incremental: 2 } })
  const locations = await addLocations(world, 20)
  const vendor = await world.addVendor(locations)
  const waits = await Promise.all(
    locations.map(async (location) => {
      const beganAt = performance.now()
      for (;;) {
        const answer = await vendor.get(largePageOf(location))
        if (answer.status === 200) return performance.now() - beganAt
        assertProblem(answer, 'sync_slots_exceeded')
        const seconds = Number(answer.headers.get('retry-after'))
        await new Promise((resolve) => setTimeout(resolve, (seconds + Math.random()) * 1000))
      }
    }),
  )
  const sorted = waits.toSorted((left, right) => left - right)
  const median = Math.max(1_000, sorted[sorted.length / 2] ?? 0)
  assert.ok((sorted.at(-1) ?? 0) < 10 * median, `waits ${sorted.map(Math.round).join(' ')}`)
})

async function disclosuresWaiting(world: TestWorld): Promise<number> {
  const { rowCount } = await world.ownerPool.query(
    `select from pg_locks where relation = 'disclosure'::regclass and not granted`,
  )
  return rowCount ?? 0
}
