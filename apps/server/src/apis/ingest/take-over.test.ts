import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { revokeAgent } from '../../modules/agents/agent-key.ts'
import { takeOver } from '../../modules/agents/location-writer.ts'
import { aPlan, someWorld, toNdjson } from '../../testing/test-world.ts'

const plans = (...names: string[]) =>
  toNdjson(Object.fromEntries(names.map((name) => [name, aPlan({ plan_name: name })])))

/** The first agent sent a to f and reads a complete list; meanwhile the second wrote g, h and i, and then the first is the writer again. */
async function someTakeOvers(t: TestContext) {
  const world = await someWorld(t)
  const { id: locationId, organizationId } = await world.addLocation()
  const [first, second] = [await world.addAgent(organizationId), await world.addAgent(organizationId)]
  const path = `/locations/${locationId}/insurance_plans`
  const send = (agent: typeof first, number: number, ...names: string[]) =>
    world.send(agent, locationId, 'insurance_plans', number, plans(...names))
  const name = (agent: typeof first) => takeOver(world.pool, { locationId, agentId: agent.agentId, organizationId })
  const slice = (listId: string, ...names: string[]) =>
    world.request(`/ingest/v1${path}/complete_lists/${listId}/slices`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${first.agentKey}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
      },
      body: gzipSync(
        [{ after: null }, ...names.map((source_id) => ({ source_id }))].map((l) => JSON.stringify(l)).join('\n'),
      ),
    })
  const highest = async () => {
    const headers = { authorization: `Bearer ${first.agentKey}` }
    return Number((await world.request('/ingest/v1/agents/self', { headers })).body.highest_number)
  }
  assert.equal((await send(first, 1, 'a', 'b', 'c', 'd', 'e', 'f')).status, 200)
  return {
    world,
    first,
    second,
    send,
    name,
    slice,
    highest,
    begin: (began: number) => world.post(`${path}/complete_lists`, first, { began_at_upload: began }),
    finish: (listId: string) => world.post(`${path}/complete_lists/${listId}/finish`, first, {}),
    takeTurns: async () => {
      await name(second)
      assert.equal((await send(second, 1, 'g', 'h', 'i')).status, 200)
      await name(first)
    },
    visible: async () => {
      const { rows } = await world.pool.query('select source_id from record where not is_hidden order by source_id')
      return rows.map((row) => row.source_id).join('')
    },
  }
}

const began = {
  code: 'list_unknown',
  errors: 'This list began before another agent wrote at this location. Read everything again, and begin a new list.',
}

test('G15: a complete list that began before two take-overs is refused at each of its steps, and hides nothing', async (t) => {
  const { begin, slice, finish, takeTurns, visible } = await someTakeOvers(t)
  const one = String((await begin(2)).body.list_id)
  assert.equal((await slice(one, 'a', 'b', 'c', 'd', 'e', 'f')).status, 200)
  await takeTurns()
  for (const answer of [await slice(one, 'a'), await finish(one), await finish(one)]) {
    assert.equal(answer.status, 404)
    assert.partialDeepStrictEqual(answer.body, began)
  }
  assert.equal(await visible(), 'abcdefghi')
})

test('G15: what was read before two take-overs and comes after them is refused: a list, an upload', async (t) => {
  const { begin, send, first, takeTurns, visible, highest, slice, finish } = await someTakeOvers(t)
  await takeTurns()
  for (const number of [2, 3, 1_000_000]) {
    const answer = await begin(number)
    assert.partialDeepStrictEqual({ status: answer.status, ...answer.body }, { status: 404, ...began })
    const upload = await send(first, number, 'j')
    assert.deepEqual([upload.status, upload.body.code], [422, 'idempotency_key_reused'])
    assert.match(
      upload.body.errors,
      /^Another agent wrote at this location after this upload was numbered\. Read everything/,
    )
  }
  assert.equal(await visible(), 'abcdefghi')

  // An agent asks for the highest number, reads everything again, and goes on.
  const next = (await highest()) + 1
  assert.equal((await send(first, next, 'a', 'b', 'j')).status, 200)
  const { list_id: listId } = (await begin(next + 1)).body as unknown as { list_id: string }
  assert.equal((await slice(listId, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'j')).status, 200)
  assert.deepEqual((await finish(listId)).body as unknown, { hidden: 1 })
  assert.equal(await visible(), 'abcdefghj')
})

test('an agent that takes the place of a revoked one, where it wrote before, reads everything again too', async (t) => {
  const { world, first, second, send, name, begin, highest, visible } = await someTakeOvers(t)
  await name(second)
  assert.equal((await send(second, 1, 'g', 'h', 'i')).status, 200)
  assert.equal((await begin(2)).body.code, 'location_written')
  assert.equal(await highest(), 1, 'refused, it passes over no number')
  await revokeAgent(world.pool, second.agentId)
  assert.partialDeepStrictEqual((await begin(2)).body, began)
  assert.equal(await visible(), 'abcdefghi')
  assert.equal((await send(first, (await highest()) + 1, 'j')).status, 200)
})

test('the writer that is named again goes on as before', async (t) => {
  const { first, name, send, begin, slice, finish, highest } = await someTakeOvers(t)
  const listId = String((await begin(2)).body.list_id)
  await name(first)
  assert.equal(await highest(), 1)
  assert.equal((await send(first, 2, 'g')).status, 200)
  assert.equal((await slice(listId, 'a', 'b', 'c', 'd', 'e')).status, 200)
  assert.deepEqual((await finish(listId)).body as unknown, { hidden: 1 })
})

test('a list of one agent is not known to another that takes over', async (t) => {
  const { world, begin, first, second, name, visible } = await someTakeOvers(t)
  const { body } = await begin(2)
  await name(second)
  const path = `/locations/${(await world.pool.query('select location_id from record limit 1')).rows[0].location_id}`
  const finish = `${path}/insurance_plans/complete_lists/${body.list_id}/finish`
  assert.deepEqual((await world.post(finish, second, {})).body.code, 'list_unknown')
  assert.deepEqual((await world.post(finish, first, {})).body.code, 'location_written')
  assert.equal(await visible(), 'abcdef')
})
