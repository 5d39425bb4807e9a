import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUploadNumber, uploadNumberJumpMax } from '@bridgework/contract/ingest'
import { aPlan, someWorld } from '../../testing/test-world.ts'

test('no number that an agent sends is its last one', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  let names = 0
  const send = async (number: number | string) => {
    names += 1
    const line = JSON.stringify({ source_id: 'p', attributes: aPlan({ plan_name: `Plan ${names}` }) })
    const { status, body } = await world.send(agent, location.id, 'insurance_plans', Number(number), `${line}\n`)
    return [status, body.code ?? null]
  }
  const highest = async () => {
    const { rows } = await world.pool.query('select highest from agent_number where agent_id = $1', [agent.agentId])
    return rows[0] === undefined ? null : Number(rows[0].highest)
  }
  const tooHigh = [422, 'idempotency_key_invalid']

  // Before the first number, and after each: what is refused leaves nothing behind.
  const chosen = [1, 1_795_348_800_000, uploadNumberJumpMax - 1, uploadNumberJumpMax]
  for (const number of [null, ...chosen]) {
    if (number !== null) assert.deepEqual(await send(number), [200, null], String(number))
    for (const above of [number === uploadNumberJumpMax ? 1_000_001 : 1, 500_000_000].map(
      (n) => uploadNumberJumpMax + n,
    )) {
      if (number !== null && above - number <= 1_000_000) continue
      assert.deepEqual(await send(above), tooHigh, `${above} after ${number}`)
    }
    for (const end of [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, '9999999999999999', '99999999999999999']) {
      assert.deepEqual(await send(end), tooHigh, `${end} after ${number}`)
    }
    assert.equal(await highest(), number)
  }
  // Counted, also past numbers of uploads that were refused.
  for (const step of [1, 2, 1_000_002, 1_000_003]) {
    assert.deepEqual(await send(uploadNumberJumpMax + step), [200, null], String(step))
  }
  assert.deepEqual(await send(uploadNumberJumpMax + 2_000_004), tooHigh)
  assert.deepEqual(await send(uploadNumberJumpMax + 5), [422, 'idempotency_key_reused'])
})

test('between the last number that may be chosen and the last one at all lie more than any agent sends', () => {
  const left = Number.MAX_SAFE_INTEGER - uploadNumberJumpMax
  const perSecond = 100
  assert.ok(left / perSecond / (365 * 86_400) > 100_000, 'years')
  assert.equal(isUploadNumber(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1), true)
  for (const number of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1]) {
    assert.equal(isUploadNumber(number, number), false, String(number))
  }
  assert.equal(new Date(uploadNumberJumpMax).getTime(), uploadNumberJumpMax)
  assert.ok(Number.isNaN(new Date(uploadNumberJumpMax + 1).getTime()), 'the end of all clocks')
})
