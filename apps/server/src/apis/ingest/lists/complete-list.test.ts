import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { getDataset } from '@bridgework/contract'
import { canonicalSource, listHashLength } from '@bridgework/contract/ingest'
import { aPlan, type Body, someWorld, toNdjson } from '../../../testing/test-world.ts'

const canonical = canonicalSource(getDataset('insurance_plans' as never))
const hashOf = (attributes: object) =>
  createHash('sha256').update(canonical(attributes)).digest('hex').slice(0, listHashLength)

/** An agent with 40 plans, p01 to p40, and what it says of complete lists. */
async function someLists(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  const keys = Array.from({ length: 40 }, (_, index) => `p${String(index + 1).padStart(2, '0')}`)
  const records = new Map(keys.map((key) => [key, aPlan({ plan_name: `Plan ${key}` })]))
  await world.send(agent, location.id, 'insurance_plans', 1, toNdjson(Object.fromEntries(records)))
  const path = `/locations/${location.id}/insurance_plans/complete_lists`
  const slice = (listId: string, after: string | null, entries: [string, string | null][]) => {
    const lines = entries.map(([source_id, hash]) => (hash === null ? { source_id } : { source_id, hash }))
    return world.request(`/ingest/v1${path}/${listId}/slices`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.agentKey}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
      },
      body: gzipSync([{ after }, ...lines].map((line) => JSON.stringify(line)).join('\n')),
    })
  }
  return {
    world,
    location,
    agent,
    keys,
    records,
    slice,
    entriesOf: (some: readonly string[]) =>
      some.map((key): [string, string] => [key, hashOf(records.get(key) ?? assert.fail(key))]),
    begin: async (began = 2) => String((await world.post(path, agent, { began_at_upload: began })).body.list_id),
    finish: (listId: string) => world.post(`${path}/${listId}/finish`, agent, {}),
    hidden: async () => {
      const { rows } = await world.pool.query('select source_id from record where is_hidden order by source_id')
      return rows.map((row) => row.source_id)
    },
  }
}

test('a list in slices hides what no slice names, wherever it stands, and a slice that comes twice counts once', async (t) => {
  const { slice, begin, finish, hidden, entriesOf, keys } = await someLists(t)
  const listId = await begin()
  const [first, second] = [entriesOf(keys.slice(1, 20)), entriesOf(keys.slice(22, 38))]
  for (const [after, entries] of [
    [null, first],
    ['p20', second],
    ['p20', second],
  ] as const) {
    const answer = await slice(listId, after, entries)
    assert.deepEqual(answer.body as unknown, { unknown: [], different: [] }, answer.text)
  }
  assert.deepEqual((await finish(listId)).body as unknown, { hidden: 5 })
  assert.deepEqual(await hidden(), ['p01', 'p21', 'p22', 'p39', 'p40'])
  assert.deepEqual((await finish(listId)).body as unknown, { hidden: 5 }, 'the same answer again')
})

test('a slice is answered with what is not here, or not as it was sent; what its source hides is as it was sent', async (t) => {
  const { world, slice, begin, entriesOf, keys, location, agent } = await someLists(t)
  const own = aPlan({ plan_name: 'Hidden by its source', is_hidden: true })
  await world.send(agent, location.id, 'insurance_plans', 2, toNdjson({ p03: null, q1: own }))
  const listId = await begin(3)
  const entries = entriesOf(keys)
  const p05 = entries.find(([key]) => key === 'p05') ?? assert.fail()
  p05[1] = hashOf(aPlan({ plan_name: 'Something else' }))
  const answer = await slice(listId, null, [...entries, ['q1', hashOf(own)], ['q2', null]])
  assert.deepEqual(answer.body as unknown, { unknown: ['p03', 'q2'], different: ['p05'] })
})

test('what arrived since the reading began is left alone, and a mass disappearance waits for a person', async (t) => {
  const { world, slice, begin, finish, hidden, entriesOf, keys, location, agent, records } = await someLists(t)
  const listId = await begin(2)
  await world.send(
    agent,
    location.id,
    'insurance_plans',
    2,
    toNdjson({ late: aPlan(), p01: records.get('p01') ?? null }),
  )
  await slice(listId, null, entriesOf(keys.slice(2)))
  assert.deepEqual((await finish(listId)).body as unknown, { hidden: 1 })
  assert.deepEqual(await hidden(), ['p02'])

  const empty = await finish(await begin(3))
  assert.deepEqual([empty.status, empty.body.code], [409, 'removal_held'])
  assert.deepEqual(await hidden(), ['p02'])
})

test('slices out of order, unsorted or of a list that another has replaced are refused', async (t) => {
  const { slice, begin, finish, entriesOf, keys } = await someLists(t)
  const codeOf = (answer: { status: number; body: Body }) => [answer.status, answer.body.code]
  const old = await begin()
  const listId = await begin()
  assert.deepEqual(codeOf(await slice(old, null, entriesOf(keys.slice(0, 1)))), [404, 'list_unknown'])
  assert.deepEqual(codeOf(await finish(old)), [404, 'list_unknown'])
  assert.deepEqual(codeOf(await finish('x')), [404, 'list_unknown'])
  assert.deepEqual(codeOf(await slice(listId, 'p05', entriesOf(keys.slice(6)))), [422, 'field_invalid'])
  const unsorted = await slice(listId, null, [
    ['b', null],
    ['a', null],
  ])
  assert.deepEqual([...codeOf(unsorted), unsorted.body.line], [422, 'record_invalid', 3])
  assert.deepEqual(codeOf(await slice(listId, null, [['b', 'xyz']])), [422, 'record_invalid'])
  // In the order of bytes: what is beyond the basic plane comes last, though UTF-16 sorts it before.
  assert.equal(
    (
      await slice(listId, null, [
        ['\uffff', null],
        ['\u{1f600}', null],
      ])
    ).status,
    200,
  )
})
