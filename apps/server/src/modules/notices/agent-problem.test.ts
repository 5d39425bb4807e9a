import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaceProblems } from '../agents/heartbeat.ts'
import type { Tenant } from '../membership/tenant.ts'
import { someNotices } from './testing/test-notices.ts'

test('what an agent reports is one notice for each cause, with what to do, not one for each heartbeat, and no second one that data is stale', async (t) => {
  const world = await someNotices(t)
  const { pool, set } = world
  set.now = new Date()
  const location = await world.addLocation()
  const { agentId } = location.agent
  const tenant: Tenant = { side: 'organization', id: location.organizationId }
  const owner = await world.addReader(tenant, 'owner')
  const at = (minutes: number) => new Date(set.now.getTime() - minutes * 60_000)
  await pool.query('update agent set enrolled_at = $2 where id = $1', [agentId, at(3_000)])
  await pool.query('insert into location_writer (location_id, agent_id, taken_at) values ($1, $2, now())', [
    location.id,
    agentId,
  ])
  await pool.query(`update dataset_state set synced_at = $2, initial_sync_completed_at = $2 where location_id = $1`, [
    location.id,
    at(10),
  ])
  const heartbeat = async () => {
    await pool.query(
      'insert into agent_contact values ($1, $2) on conflict (agent_id) do update set last_contact_at = $2',
      [agentId, set.now],
    )
    const reported = (['patients', 'treatments'] as const).map((dataset) => {
      return { code: 'table_damaged' as const, dataset, table: 'patient' }
    })
    await replaceProblems(pool, agentId, { reported, observed: [] }, set.now)
  }
  for (let minute = 0; minute < 180; minute += 5) {
    await heartbeat()
    if (minute === 10) assert.deepEqual(await world.noticesOf(owner.memberId), [], 'it may pass')
    set.now = new Date(set.now.getTime() + 5 * 60_000)
    await world.round()
  }
  const [{ title, body } = assert.fail(), ...more] = (await world.noticesOf(owner.memberId)).filter(
    ({ event }) => event === 'agent_problem',
  )
  assert.deepEqual([title, more], ['An agent reports a problem', []])
  assert.equal(
    body,
    '“Agent”, patients, treatments: The table patient of the database is damaged. Repair it: in Open Dental under Tools, Database Maintenance, or with "repair table" as the database’s administrator.',
  )
  const stale = (await world.noticesOf(owner.memberId)).find(({ event }) => event === 'dataset_stale')
  assert.doesNotMatch(stale?.body ?? '', /patients|treatments/, 'the reason is told already')
  assert.match(stale?.body ?? '', /appointments/, 'nobody has said why these are not read')
})
