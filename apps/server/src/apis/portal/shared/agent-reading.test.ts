import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedHeartbeat } from '../../../modules/agents/heartbeat.ts'
import type { AgentId } from '../../../platform/identity/identity.ts'
import { readProgress } from './agent-reading.ts'

const heartbeat: ListedHeartbeat = {
  agentId: '1' as AgentId,
  state: 'working',
  heardAt: new Date('2026-11-28T10:01:00Z'),
  readingDataset: 'patients',
  rowsRead: 3_000,
  rowsTotal: 9_000,
  readingSince: new Date('2026-11-28T10:00:00Z'),
  rowsReadAtFirst: 1_000,
}
const at = (time: string, more: Partial<ListedHeartbeat> = {}) =>
  readProgress({ ...heartbeat, ...more }, new Date(`2026-11-28T${time}Z`))

test('the time left of a read is told by its speed so far, and becomes shorter between two heartbeats', () => {
  assert.deepEqual(at('10:01:00'), { title: 'Patients', rows_read: 3_000, rows_total: 9_000, seconds_left: 180 })
  assert.equal(at('10:01:30')?.seconds_left, 150)
})

test('no time left is told where the total is not known, or nothing was read since the agent was first heard with it', () => {
  assert.equal(at('10:01:00', { rowsTotal: null })?.seconds_left, null)
  assert.equal(at('10:01:00', { rowsReadAtFirst: 3_000 })?.seconds_left, null)
  assert.equal(at('10:01:00', { readingSince: heartbeat.heardAt, rowsReadAtFirst: 3_000 })?.seconds_left, null)
  assert.equal(at('10:01:00', { rowsRead: 9_500 })?.seconds_left, 0, 'rows came while it was read')
})

test('nothing is being read by an agent that reads nothing, or that is not heard any more', () => {
  assert.equal(at('10:01:00', { readingDataset: null }), null)
  assert.equal(at('10:05:00'), null)
})
