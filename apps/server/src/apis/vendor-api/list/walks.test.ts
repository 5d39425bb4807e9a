import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Answer,
  aPlan,
  aSchedule,
  someWorld,
  type TestLocation,
  type TestVendor,
  type VendorRecord,
} from '../../../testing/test-world.ts'
import { assertProblem, getWith } from '../testing/test-answer.ts'
import { times } from '../testing/test-runs.ts'

const walkRuns = 20 * times
const pollRounds = 12 * times

const plansOf = (location: TestLocation) => `/locations/${location.id}/insurance_plans`
const since = (location: TestLocation, watermark: string) => `${plansOf(location)}?q[fetch_modified_since]=${watermark}`

/** What happens between two pages of a walk. A key that is there is changed, one that is not is inserted. */
type Step = { kind: 'put' | 'remove'; key: number; value: number }

const step = fc.record({
  kind: fc.constantFrom('put' as const, 'put' as const, 'remove' as const),
  key: fc.integer({ min: 1, max: 14 }),
  value: fc.integer({ min: 1, max: 3 }),
})
const interrupted = fc.record({
  before: fc.uniqueArray(fc.integer({ min: 1, max: 14 }), { minLength: 1, maxLength: 12 }),
  pageSize: fc.integer({ min: 1, max: 5 }),
  betweenPages: fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 8 }),
})

test('P08: a record that is there for the whole walk appears in it exactly once, whatever is written meanwhile', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const vendor = await world.addVendor()

  const play = async ({
    before,
    pageSize,
    betweenPages,
  }: {
    before: number[]
    pageSize: number
    betweenPages: Step[][]
  }) => {
    const location = await world.addLocation({ organizationId })
    await world.grant(vendor.companyId, location)
    await location.upload('insurance_plans', Object.fromEntries(before.map((key) => [`p${key}`, aPlan()])))
    const pauses = [...betweenPages]
    const walked: VendorRecord[] = []
    for (let after: string | null = '0'; after !== null; ) {
      const answer: Answer = await vendor.get(`${plansOf(location)}?items=${pageSize}&after=${after}`)
      assert.equal(answer.status, 200, answer.text)
      assert.ok(answer.body.data.length <= pageSize)
      walked.push(...answer.body.data)
      for (const { kind, key, value } of pauses.shift() ?? []) {
        const record = kind === 'put' ? aPlan({ plan_name: `Value ${value}` }) : null
        await location.upload('insurance_plans', { [`p${key}`]: record })
      }
      after = answer.body.meta.next_after
    }
    const ids = walked.map(({ id }) => BigInt(id))
    assert.deepEqual(
      ids,
      ids.toSorted((left, right) => Number(left - right)),
      'in ascending order',
    )
    assert.equal(new Set(ids).size, ids.length, 'none twice')
    // Nothing is ever deleted, so what was there at the start was there for the whole walk.
    const sources = new Set(walked.map(({ attributes }) => attributes.source_id))
    for (const key of before) assert.ok(sources.has(`p${key}`), `p${key} is in the walk`)
  }
  await fc.assert(fc.asyncProperty(interrupted, play), { seed, numRuns: walkRuns, endOnFailure: true })
})

test('P18: a vendor that polls with the watermark while two uploads are written, behind a slow transaction, misses no change', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 5 })
  const vendor = await world.addVendor([location])
  const copy = await firstCopy(vendor, location)
  for (let round = 1; round <= pollRounds; round += 1) {
    // Writers take turns on this row: who holds it lets a writer begin early and commit late.
    const slow = await world.ownerPool.connect()
    await slow.query('begin')
    await slow.query('select from dataset_state where location_id = $1 for update', [location.id])
    const writing = [0, 1].map((index) => {
      const plan = {
        source_id: `p${1 + ((round + index) % 7)}`,
        attributes: aPlan({ plan_name: `Round ${round}.${index}` }),
      }
      return world.send(
        location.agent,
        location.id,
        'insurance_plans',
        2_000_000 + 2 * round + index,
        JSON.stringify(plan),
      )
    })
    await copy.poll()
    await slow.query('rollback')
    slow.release()
    const polling = copy.poll()
    const answers = await Promise.all(writing)
    // The first is refused when it comes behind the second.
    const codes = answers.map(({ status, body }) => (status === 200 ? 200 : body.code))
    assert.ok(codes[1] === 200 && (codes[0] === 200 || codes[0] === 'idempotency_key_reused'), `${codes}`)
    await polling
  }
  await copy.poll()
  const { body } = await vendor.get(plansOf(location))
  assert.deepEqual(copy.records(), body.data)
  assert.equal((await copy.poll()).length, 0, 'and nothing is repeated')
})

test('P19: a record that changed twice between two polls comes once, as it is last; a hidden one comes too', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 4 })
  const vendor = await world.addVendor([location])
  const copy = await firstCopy(vendor, location)
  for (const name of ['First', 'Second']) await location.upload('insurance_plans', { p2: aPlan({ plan_name: name }) })
  await location.upload('insurance_plans', { p3: null })
  await location.upload('insurance_plans', { p4: null })
  await location.upload('insurance_plans', { p4: aPlan({ plan_name: 'Back' }) })

  const delta = await copy.poll()

  assert.deepEqual(
    delta.map(({ attributes }) => [attributes.source_id, attributes.plan_name, attributes.is_hidden]),
    [
      ['p2', 'Second', false],
      ['p3', 'Plan 3', true],
      ['p4', 'Back', false],
    ],
  )
  assert.equal((await vendor.get(plansOf(location))).body.data.length, 4, 'hidden records stay in the list')
})

test('P20: a delta that is interrupted and goes on seven hours later with a new token has no gap', async (t) => {
  let offsetMs = 0
  const world = await someWorld(t, { now: () => new Date(Date.now() + offsetMs) })
  const location = await world.addLocation({ insurancePlans: 12 })
  const vendor = await world.addVendor([location])
  const copy = await firstCopy(vendor, location)
  const changed = Array.from({ length: 10 }, (_, index) => [`p${index + 1}`, aPlan({ plan_name: 'Changed' })])
  await location.upload('insurance_plans', Object.fromEntries(changed))
  const path = `${since(location, copy.watermark())}&items=3`
  const first = await vendor.get(path)
  const second = await vendor.get(`${path}&after=${first.body.meta.next_after}`)
  assert.equal(first.body.pagy.total, 10)

  offsetMs = 7 * 3_600_000
  // Meanwhile: one that was delivered, one that is still to come, one more and one that is new.
  await location.upload('insurance_plans', {
    p1: null,
    p9: aPlan({ plan_name: 'Again' }),
    p12: aPlan({ plan_name: 'Too' }),
    p13: aPlan(),
  })
  let next = `${path}&after=${second.body.meta.next_after}`
  assertProblem(await vendor.get(next), 'token_invalid')
  const claims = JSON.parse(Buffer.from((await vendor.token()).split('.')[1] ?? '', 'base64url').toString())
  const token = `Bearer ${await world.tokens.issue(vendor.companyId, claims.cid)}`
  const seen = [...first.body.data, ...second.body.data]
  for (;;) {
    const answer = await getWith(world, next, token)
    assert.equal(answer.status, 200, answer.text)
    seen.push(...answer.body.data)
    if (answer.body.meta.next_after === null) break
    next = `${path}&after=${answer.body.meta.next_after}`
  }
  const names = seen.map(({ attributes }) => attributes.source_id)
  assert.equal(new Set(names).size, names.length, 'none twice')
  for (const [name] of changed) assert.ok(names.includes(String(name)), `${name} was delivered`)
  const after = await getWith(world, since(location, first.body.meta.next_fetch_modified_since), token)
  assert.deepEqual(after.body.data.map(({ attributes }) => attributes.source_id).toSorted(), ['p1', 'p12', 'p13', 'p9'])
})

test('P21: a practice whose clock is a year wrong changes nothing of what is delivered when', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  await location.upload('fee_schedules', { s: aSchedule() })
  const vendor = await world.addVendor([location])
  const { agent } = location
  const copy = await firstCopy(vendor, location)
  for (const years of [-1, 1]) {
    const readAt = new Date(Date.now() + years * 365 * 86_400_000).toISOString()
    const reported = await world.confirmReads(agent, location.id, ['insurance_plans'], { read_at: readAt })
    assert.deepEqual([reported.status, reported.body.not_confirmed], [200, []], reported.text)
    const { freshness } = (await vendor.get(`/locations/${location.id}/insurance_plans`)).body.meta
    assert.ok(Date.parse(String(freshness.synced_at)) <= Date.now() + 1_000)
    assert.deepEqual(await copy.poll(), [])
    await location.upload('insurance_plans', { p1: aPlan({ plan_name: `Year ${years}` }) })
    const [plan] = await copy.poll()
    assert.equal(plan?.attributes.plan_name, `Year ${years}`)
    assert.ok(Math.abs(Date.parse(plan.attributes.updated_at) - Date.now()) < 60_000)
  }
})

/** A vendor's own copy: a first full read, then what each poll with the watermark brings. */
async function firstCopy(vendor: TestVendor, location: TestLocation) {
  const records = new Map<string, VendorRecord>()
  const take = ({ status, text, body }: Answer) => {
    assert.equal(status, 200, text)
    assert.equal(body.meta.has_more, false)
    for (const record of body.data) records.set(record.id, record)
    watermark = body.meta.next_fetch_modified_since
    return body.data
  }
  let watermark = ''
  take(await vendor.get(plansOf(location)))
  return {
    poll: async () => take(await vendor.get(since(location, watermark))),
    watermark: () => watermark,
    records: () => [...records.values()].toSorted((left, right) => Number(left.id) - Number(right.id)),
  }
}
