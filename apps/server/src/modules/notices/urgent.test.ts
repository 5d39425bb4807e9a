import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tenant } from '../membership/tenant.ts'
import { urgentChecks } from './checks.ts'
import { checkConditions } from './notifier.ts'
import { someNotices } from './testing/test-notices.ts'
import { refuseAgent } from './testing/test-refused-agent.ts'

test('each agent that is enrolled or refused is noticed at once, also within an hour of the one before, and only once', async (t) => {
  const world = await someNotices(t)
  const { pool, set } = world
  const location = await world.addLocation()
  const tenant: Tenant = { side: 'organization', id: location.organizationId }
  const owner = await world.addReader(tenant, 'owner')
  const look = async () => {
    set.now = new Date()
    await checkConditions(world.context, null, urgentChecks)
    await world.round()
    return (await world.noticesOf(owner.memberId)).map(({ event, body }) => `${event}: ${body}`)
  }
  const named = (agentId: string, name: string) =>
    pool.query('update agent set name = $2 where id = $1', [agentId, name])
  await named(location.agent.agentId, 'Front desk')
  assert.match((await look())[0] ?? '', /^agent_enrolled: “Front desk” can now send data of your practice/)

  const { agentId } = await world.addAgent(location.organizationId)
  await named(agentId, 'vm')
  assert.match((await look())[1] ?? '', /^agent_enrolled: “vm” can now send data/)

  await refuseAgent(pool, { location: location.id, by: location.agent.agentId, refused: agentId })
  assert.match((await look())[2] ?? '', /^agent_refused: “vm” at “Location” wanted to send data where another agent/)
  await pool.query(
    `insert into agent_process (agent_id, process_id, place, computer, refused_id, refused_place, refused_computer, refused_at)
     values ($1, 'p1', 'a', 'PC1', 'p2', 'b', 'PC2', now())`,
    [agentId],
  )
  assert.match((await look())[3] ?? '', /^agent_refused: A copy of “vm” on the computer “PC2” wanted/)
  // The refused one asks again and again.
  await pool.query(`update agent_process set refused_id = 'p3', refused_at = now()`)
  await pool.query('update location_writer set refused_at = now()')
  assert.equal((await look()).length, 4)
})
