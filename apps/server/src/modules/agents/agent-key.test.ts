import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'
import { type AccessWorld, someAccessWorld } from '../consent/testing/test-world.ts'
import { newSecret } from '../credentials/secret.ts'
import { createAgentContacts } from './agent-contact.ts'
import { authenticateAgent, createEnrolmentCode, enrollAgent, listAgents, revokeAgent } from './agent-key.ts'

const refused = { code: 'agent_key_invalid' }
const invalid = { code: 'enrolment_code_invalid' }

async function someAgent(world: AccessWorld) {
  const { organization } = await world.addOrganization(0)
  const { code } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId: organization.id })
  const agent = await enrollAgent(world.pool, world.secretKey, { code, name: 'Front desk', version: '1.0.0' })
  return { organization, code, agent }
}

test('an enrolment code becomes one agent of its organization, whose key is accepted from then on', async (t) => {
  const world = await someAccessWorld(t)
  const { organization, code, agent } = await someAgent(world)

  assert.match(code, /^bwe_[\w-]{43}$/)
  assert.match(agent.agentKey, /^bwa_[\w-]{43}$/)
  assert.deepEqual(await authenticateAgent(world.pool, world.secretKey, `Bearer ${agent.agentKey}`), {
    brand: 'AgentPrincipal',
    agentId: agent.agentId,
    organizationId: organization.id,
    processId: null,
  })
  assert.equal(
    (await authenticateAgent(world.pool, world.secretKey, `bearer ${agent.agentKey}`)).agentId,
    agent.agentId,
  )
  await assert.rejects(enrollAgent(world.pool, world.secretKey, { code }), invalid)
})

test('of parallel tries with one code exactly one succeeds', async (t) => {
  const world = await someAccessWorld(t)
  const { organization } = await world.addOrganization(0)
  const { code } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId: organization.id })

  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => enrollAgent(world.pool, world.secretKey, { code })),
  )

  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal((await listAgents(world.pool, organization.id)).length, 1)
})

test('a code is refused when it is wrong, malformed or a moment past its day, and a refused name leaves it unused', async (t) => {
  const world = await someAccessWorld(t)
  const { organization } = await world.addOrganization(0)
  const organizationId = organization.id
  const { code, expiresAt } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId })
  assert.ok(Math.abs(expiresAt.getTime() - Date.now() - 86_400_000) < 60_000)
  for (const wrong of [
    '',
    'bwe_',
    newSecret('bwe'),
    `${code}x`,
    code.replace('bwe', 'bwa'),
    `${code.slice(0, -1)}\0`,
  ]) {
    await assert.rejects(enrollAgent(world.pool, world.secretKey, { code: wrong }), invalid)
  }
  await assert.rejects(enrollAgent(world.pool, world.secretKey, { code, name: 'x'.repeat(201) }), {
    code: 'field_invalid',
  })
  await enrollAgent(world.pool, world.secretKey, { code })
  const expired = await createEnrolmentCode(world.pool, world.secretKey, { organizationId, lifetimeMs: 0 })
  await assert.rejects(enrollAgent(world.pool, world.secretKey, { code: expired.code }), invalid)
  const ahead = await createEnrolmentCode(world.pool, world.secretKey, { organizationId })
  await world.pool.query(`update enrolment_code set created_at = now() + interval '2 minutes' where used_at is null`)
  await assert.rejects(enrollAgent(world.pool, world.secretKey, { code: ahead.code }), invalid)
  await assert.rejects(createEnrolmentCode(world.pool, world.secretKey, { organizationId: '7' as OrganizationId }), {
    code: 'organization_unknown',
  })
})

test('an agent key is refused when it is missing, malformed, unknown or revoked; garbage never reaches the database', async (t) => {
  const world = await someAccessWorld(t)
  const { agent } = await someAgent(world)
  const authenticate = (header: string | undefined) => authenticateAgent(world.pool, world.secretKey, header)
  const queries = t.mock.method(world.pool, 'query')
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    agent.agentKey,
    `Basic ${agent.agentKey}`,
    `Bearer ${agent.agentKey}x`,
    `Bearer ${newSecret('bws')}`,
  ]) {
    await assert.rejects(authenticate(header), refused)
  }
  assert.equal(queries.mock.callCount(), 0)
  queries.mock.restore()
  await assert.rejects(authenticate(`Bearer ${newSecret('bwa')}`), refused)

  await revokeAgent(world.pool, agent.agentId)

  await assert.rejects(authenticate(`Bearer ${agent.agentKey}`), refused)
  await assert.rejects(revokeAgent(world.pool, agent.agentId), { code: 'agent_unknown' })
  await assert.rejects(revokeAgent(world.pool, '7' as AgentId), { code: 'agent_unknown' })
})

test('an agent’s last contact is kept, and written at most once in ten seconds', async (t) => {
  const world = await someAccessWorld(t)
  const { organization, agent } = await someAgent(world)
  const principal = await authenticateAgent(world.pool, world.secretKey, `Bearer ${agent.agentKey}`)
  let now = new Date()
  const { touchAgent } = createAgentContacts({ pool: world.pool, now: () => now })
  assert.equal((await listAgents(world.pool, organization.id))[0]?.lastContactAt, null)

  const queries = t.mock.method(world.pool, 'query')
  for (let i = 0; i < 5; i += 1) await touchAgent(principal, null)
  assert.equal(queries.mock.callCount(), 1)
  now = new Date(now.getTime() + 10_000)
  await touchAgent(principal, null)
  assert.equal(queries.mock.callCount(), 2)
  queries.mock.restore()

  const [listed] = await listAgents(world.pool, null)
  assert.equal(listed?.name, 'Front desk')
  assert.ok(listed?.lastContactAt instanceof Date)
})
