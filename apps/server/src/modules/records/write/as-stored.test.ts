import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, someWorld } from '../../../testing/test-world.ts'
import { openStoredLookup, type SentHashes } from './as-stored.ts'

const plan = (number: number) => aPlan({ plan_name: `Plan ${number}` })
const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `p${from + index}`)

test('lines are found as they are stored, in the order of the records or in another, with others between them', async (t) => {
  const { location, hashes, lookUp } = await someRecords(t)
  await location.upload('insurance_plans', { p7: null, p8: { ...plan(8), is_hidden: true } })
  const now = await hashes()
  const all = keys(0, 60)
  for (const [name, sent, other] of [
    ['all', all, []],
    ['some after each other', keys(20, 30), []],
    ['one', ['p59'], []],
    ['the last ones, and one that is not stored', [...keys(50, 60), 'p60'], ['p60']],
    ['one that is not stored first', ['p60', ...keys(0, 5)], ['p60']],
    ['gaps', all.filter((_, index) => index % 7 !== 3), []],
    ['new ones between', keys(0, 20).flatMap((key) => [key, `new ${key}`]), keys(0, 20).map((key) => `new ${key}`)],
    ['backwards', all.toReversed(), []],
    ['one from far away', [...keys(0, 10), 'p50', ...keys(10, 20)], []],
    ['none that is stored', ['a', 'b'], ['a', 'b']],
  ] as const) {
    const { lookup, found } = await lookUp(sent, now)
    assert.deepEqual(found, other, name)
    // What was stored before the change is found no more, wherever it stands.
    const changed = await lookup.findOther(sentOf(sent, new Map([...now, ['p3', 'f'.repeat(32)]])))
    const expected = sent.filter((key) => key === 'p3' || other.some((each) => each === key))
    assert.deepEqual(placesOf(sent, changed), expected, name)
  }
  assert.deepEqual((await lookUp(['p7', 'p8'], (await someRecords(t)).before)).found, ['p7', 'p8'])
})

test('a stored key with a line feed is not taken for two', async (t) => {
  const { world, location, hashes, lookUp } = await someRecords(t)
  const now = await hashes()
  await world.pool.query(
    `update record set source_id = E'x\\ny' where location_id = $1 and dataset = 'insurance_plans' and source_id = 'p5'`,
    [location.id],
  )
  const { found } = await lookUp(['p4', 'x'], new Map([...now, ['x', now.get('p5') ?? '']]))
  assert.deepEqual(found, ['x'])
})

const sentOf = (sent: readonly string[], hashes: ReadonlyMap<string, string>): SentHashes => ({
  sourceIds: sent,
  hashes: sent.map((key) => hashes.get(key) ?? '0'.repeat(32)).join(''),
})
const placesOf = (sent: readonly string[], places: ReadonlySet<number>) => sent.filter((_, place) => places.has(place))

async function someRecords(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('insurance_plans', Object.fromEntries(keys(0, 60).map((key, index) => [key, plan(index)])))
  const hashes = async () => {
    const { rows } = await world.pool.query<{ source_id: string; hash: string }>(
      `select source_id, encode(source_hash, 'hex') as hash from record where location_id = $1 and dataset = 'insurance_plans'`,
      [location.id],
    )
    return new Map(rows.map((row) => [row.source_id, row.hash]))
  }
  const lookUp = async (sent: readonly string[], now: ReadonlyMap<string, string>) => {
    const lookup = openStoredLookup(world.pool, location.id, 'insurance_plans')
    return { lookup, found: placesOf(sent, await lookup.findOther(sentOf(sent, now))) }
  }
  return { world, location, hashes, lookUp, before: await hashes() }
}
