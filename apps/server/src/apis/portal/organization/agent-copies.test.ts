import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packProcessStart, processHeader, processStartHeader } from '@bridgework/contract/ingest'
import type { AgentId } from '../../../platform/identity/identity.ts'
import { somePortal } from '../testing/test-portal.ts'

const name = (digit: string) => digit.repeat(32)
const start = (id: string, more: object = {}) => ({
  id: name(id),
  before: [] as string[],
  is_new: true,
  next_upload: 10,
  place: 'a'.repeat(16),
  computer: 'desk',
  ...more,
})

test('G15: requests of another process with an agent’s key are refused on every route, and people of its practice alone decide which one goes on', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  const { agent, organizationId } = location
  const authorization = `Bearer ${agent.agentKey}`
  const post = (path: string, headers: Record<string, string>, body: object) =>
    world.request(`/ingest/v1${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const beat = (headers: Record<string, string>) =>
    post('/agents/self/heartbeats', headers, { state: 'working', sent_at: new Date().toISOString(), reading: null })
  const self = (said: ReturnType<typeof start>) => beat({ [processStartHeader]: packProcessStart(said) })
  const cycle = (id: string | null) =>
    post(`/locations/${location.id}/insurance_plans/complete_lists`, id === null ? {} : { [processHeader]: name(id) }, {
      began_at_upload: 9_000_000_000_000,
    })
  const first = await self(start('1', { computer: 'Empfang "1"' }))
  assert.equal(first.status, 200)
  const place = 'b'.repeat(16)
  const refused = await self(start('2', { place, computer: 'new' }))
  assert.equal(refused.status, 409)
  assert.partialDeepStrictEqual(refused.body, { code: 'agent_copied', computer: 'Empfang "1"' })
  assert.deepEqual([(await cycle('1')).status, (await cycle('2')).body.code], [200, 'agent_copied'])
  assert.equal((await cycle(null)).status, 200, 'a program of one’s own says no process')
  for (const text of ['{', '%', '%7B%7D']) {
    assert.equal((await beat({ [processStartHeader]: text })).body.code, 'parameter_invalid', text)
  }

  const path = `/organizations/${organizationId}/agents`
  const admin = await world.signInAs({ organizationId }, 'admin')
  const member = await world.signInAs({ organizationId }, 'member')
  const other = await world.addOrganization()
  const stranger = await world.signInAs({ organizationId: other }, 'admin')
  const choose = (by: typeof admin, at: string, id: string) => by.send('PUT', `${at}/process`, { process_id: name(id) })
  type Listed = { data: { id: AgentId; computer: string; copy: { process_id: string; computer: string } | null }[] }
  const shown = async () => {
    const { data } = (await admin.get(path)).body as unknown as Listed
    const found = data.find(({ id }) => id === agent.agentId)
    return [found?.computer, found?.copy?.process_id, found?.copy?.computer]
  }
  assert.deepEqual(await shown(), ['Empfang "1"', name('2'), 'new'])
  const own = `${path}/${agent.agentId}`
  assert.equal((await choose(member, own, '2')).body.code, 'role_denied')
  assert.equal((await choose(admin, own, '1')).body.code, 'agent_unknown', 'not the one that is refused')
  const strangers = `/organizations/${other}/agents/${agent.agentId}`
  assert.equal((await choose(stranger, strangers, '2')).status, 404)
  assert.equal((await choose(admin, own, '2')).status, 200)
  assert.deepEqual(await shown(), ['new', undefined, undefined])
  assert.deepEqual([(await cycle('2')).status, (await cycle('1')).body.code], [200, 'agent_copied'])
  const { rows } = await world.pool.query(`select facts from audit_event where action = 'agent.take_over'`)
  assert.deepEqual(rows, [{ facts: { agent: { id: agent.agentId, name: 'Agent' } } }])

  // Not above what was used: as after the image of yesterday.
  await world.pool.query('update agent_number set highest = highest + 1 where agent_id = $1', [agent.agentId])
  assert.equal((await self(start('3', { before: [name('2')], is_new: false, place }))).status, 409)
  // Of what began under the fence before, nothing is stored: another epoch says to compare everything.
  assert.notEqual((await self(start('2', { place }))).body.epoch, first.body.epoch)
})
