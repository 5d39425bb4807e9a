import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentStateOf } from './agent-state.ts'

const minutes = (count: number) => count * 60_000
/** Open from 07:00 to 19:00 on weekdays, and on Saturday morning. */
const denver = { timeZone: 'America/Denver', officeHours: null }

test('an agent that is not heard while all its offices are closed is not missed, and is once one of them is open', () => {
  // A Friday evening, two minutes before the office closes.
  const heard = new Date('2026-03-06T18:58:00-07:00')
  const agent = { revokedAt: null, lastContactAt: heard }
  const after = (ms: number) => new Date(heard.getTime() + ms)
  const saturday = new Date('2026-03-07T08:04:00-07:00')
  assert.equal(agentStateOf(agent, after(minutes(3)), [denver]), 'connected')
  assert.equal(agentStateOf(agent, after(minutes(4)), [denver]), 'office_closed')
  assert.equal(agentStateOf(agent, new Date('2026-03-07T07:59:00-07:00'), [denver]), 'office_closed')
  assert.equal(agentStateOf(agent, saturday, [denver]), 'silent')
  const honolulu = { ...denver, timeZone: 'Pacific/Honolulu' }
  assert.equal(agentStateOf(agent, after(minutes(4)), [denver, honolulu]), 'silent', 'one of two offices is open')
  // Nobody can say when it is open.
  assert.equal(agentStateOf(agent, after(minutes(4)), []), 'silent')
  assert.equal(agentStateOf(agent, after(minutes(4)), [{ timeZone: null, officeHours: null }]), 'silent')
  assert.equal(agentStateOf({ ...agent, lastContactAt: null }, saturday, [denver]), 'never_heard')
  assert.equal(agentStateOf({ ...agent, revokedAt: heard }, saturday, [denver]), 'revoked')
})
