import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freeShareOf } from './checks.ts'
import { someNotices } from './testing/test-notices.ts'

test('an agent of an office that is closed is not silent, and is when the office has been open for an hour', async (t) => {
  const world = await someNotices(t)
  const { pool, set } = world
  set.now = new Date('2026-11-22T20:00:00Z')
  const location = await world.addLocation()
  const owner = await world.addReader({ side: 'organization', id: location.organizationId }, 'owner')
  await pool.query(
    `update location set office_hours = '{"monday":[{"opens":"08:00","closes":"17:00"}]}', time_zone = 'America/New_York' where id = $1`,
    [location.id],
  )
  await pool.query('insert into location_writer (location_id, agent_id, taken_at) values ($1, $2, now())', [
    location.id,
    location.agent.agentId,
  ])
  const at = new Date('2026-11-20T20:00:00Z')
  await pool.query('update agent set enrolled_at = $2 where id = $1', [location.agent.agentId, at])
  // Sunday night, Monday at 8:59 in New York, and at 9:01.
  for (const [now, silent] of [
    ['2026-11-22T23:00:00Z', 0],
    ['2026-11-23T13:59:00Z', 0],
    ['2026-11-23T14:01:00Z', 1],
  ] as const) {
    set.now = new Date(now)
    await world.round()
    const notices = await world.noticesOf(owner.memberId)
    assert.equal(notices.filter(({ event }) => event === 'agent_silent').length, silent, now)
  }
})

test('the free share of a disk is between none and all of it, and unknown where there is no folder', async () => {
  const share = await freeShareOf('/')
  assert.ok(share !== null && share >= 0 && share <= 1)
  assert.equal(await freeShareOf('/no/such/folder'), null)
})
