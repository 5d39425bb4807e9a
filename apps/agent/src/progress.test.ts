import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentEvent } from './agent-event.ts'
import { type ProgressMode, progressReport } from './progress.ts'

const startedAtMs = Date.parse('2026-11-20T12:00:00Z')

function said(mode: ProgressMode, events: readonly AgentEvent[], nowMs = startedAtMs + 2_000): string {
  let text = ''
  const report = progressReport(mode, {
    write: (more) => {
      text += more
    },
    nowMs: () => nowMs,
  })
  for (const event of events) report(event)
  return text
}

const progress = (rows: number): AgentEvent & { event: 'dataset.progress' } => ({
  event: 'dataset.progress',
  dataset: 'insurance_plans',
  rows,
  rowsTotal: 100_000,
  uploaded: 10_000,
  startedAtMs,
  pausedMs: 0,
})

test('on a terminal one line is written over, with rate and time left', () => {
  const text = said('terminal', [progress(20_000), progress(40_000), { event: 'agent.stopped' }])
  assert.equal(
    text,
    '\r\u001b[2Kinsurance_plans  20,000 of 100,000 read · 10,000 sent · 10,000/s · 8 s left' +
      '\r\u001b[2Kinsurance_plans  40,000 of 100,000 read · 10,000 sent · 20,000/s · 3 s left' +
      '\r\u001b[2KAgent stopped\n',
  )
})

test('a read that leaves the server to the office says so, and for how long', () => {
  const paused: AgentEvent = { ...progress(20_000), pausedMs: 12_000 }
  assert.match(said('terminal', [paused]), /8 s left · paused 12 s for the office$/)
  assert.match(said('lines', [{ event: 'source.busy' }]), /The database server is busy with the office’s work\./)
})

test('elsewhere each event is one line, and progress is said now and then', () => {
  const text = said('lines', [progress(20_000), progress(40_000), { event: 'agent.stopped' }])
  assert.deepEqual(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(25)),
    ['insurance_plans  20,000 of 100,000 read · 10,000 sent · 10,000/s · 8 s left', 'Agent stopped'],
  )
})

test('with --json each event is one object with its moment', () => {
  const held: AgentEvent = {
    event: 'removal.held',
    locationId: '9',
    dataset: 'insurance_plans',
    missing: 12,
    errors: 'Confirm.',
  }
  assert.deepEqual(JSON.parse(said('json', [held])), { at: '2026-11-20T12:00:02.000Z', ...held })
})
