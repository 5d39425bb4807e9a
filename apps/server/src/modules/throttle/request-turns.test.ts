import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { createRequestTurns } from './request-turns.ts'

const company = 'company' as CompanyId
const megabyte = 2 ** 20

test('answers that turn out to be larger wait for room, hold none meanwhile, and never wait for each other', async () => {
  const turns = createRequestTurns({ keyMax: 4 })
  const held = await Promise.all([1, 2, 3, 4].map(() => turns.take(company, 1)))
  assert.equal(turns.takeAtOnce(company, 1), null)
  const order: number[] = []
  const widened = held.map(async (turn, index) => {
    await turn.widen(4 * megabyte)
    order.push(index)
    assert.equal(turns.takeAtOnce(company, 1), null, 'it has all the room')
    // What fits already needs no room.
    await turn.widen(2 * megabyte)
    turn.end()
  })
  await Promise.all(widened)
  assert.deepEqual(
    order.toSorted((a, b) => a - b),
    [0, 1, 2, 3],
  )
  const again = turns.takeAtOnce(company, 4 * megabyte) ?? assert.fail('all room was given back')
  again.keep(3 * megabyte)
  assert.ok(turns.takeAtOnce(company, 1))
})

test('one whose caller leaves while it waits for more room takes none, and one that waits too long is refused', async () => {
  const turns = createRequestTurns({ keyMax: 4, waitMs: 50 })
  const all = await turns.take(company, 3 * megabyte)
  const left = await turns.take(company, 1)
  const waits = left.widen(4 * megabyte)
  left.end()
  all.end()
  await waits
  const whole = turns.takeAtOnce(company, 3 * megabyte) ?? assert.fail('the one that left has no room')
  const other = await turns.take(company, 1)
  await assert.rejects(other.widen(2 * megabyte), { code: 'requests_exceeded' })
  other.end()
  whole.end()
  assert.ok(turns.takeAtOnce(company, 4 * megabyte))
})
