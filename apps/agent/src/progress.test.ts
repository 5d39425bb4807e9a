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

/** One event of every kind, and what people read of it. */
const kinds: { readonly [Name in AgentEvent['event']]: readonly (readonly [AgentEvent & { event: Name }, string])[] } =
  {
    'agent.started': [
      [
        { event: 'agent.started', server: 'https://a.example', connector: 'files', intervalSeconds: 60 },
        'Agent started: files to https://a.example, a cycle every 60 s',
      ],
      [
        { event: 'agent.started', server: 'https://a.example', connector: 'files', intervalSeconds: null },
        'Agent started: files to https://a.example, one cycle',
      ],
    ],
    'agent.stopped': [[{ event: 'agent.stopped' }, 'Agent stopped']],
    'status.unavailable': [
      [
        { event: 'status.unavailable', port: 4780, because: 'EADDRINUSE' },
        'The status page is not shown: port 4780 cannot be used (EADDRINUSE). Choose another "status_port" in the settings',
      ],
    ],
    'update.downloading': [
      [
        { event: 'update.downloading', version: '9.1.0', bytes: 600_000 },
        'Version 9.1.0 of the agent is available. Downloading 600,000 bytes',
      ],
    ],
    'update.installed': [
      [
        { event: 'update.installed', version: '9.1.0' },
        'Version 9.1.0 of the agent is downloaded and verified. It is started now',
      ],
    ],
    'update.postponed': [
      [
        { event: 'update.postponed', version: '9.1.0', what: 'Because.' },
        'Version 9.1.0 of the agent is not installed yet: Because. The agent tries again in an hour',
      ],
    ],
    'update.refused': [
      [
        { event: 'update.refused', version: '9.1.0', what: 'Because.' },
        'REFUSED: version 9.1.0 of the agent: Because.',
      ],
    ],
    'update.rolled_back': [
      [
        { event: 'update.rolled_back', version: '9.1.0' },
        'ROLLED BACK: version 9.1.0 of the agent did not report to Bridgework. It is not tried again',
      ],
    ],
    'cycle.began': [[{ event: 'cycle.began' }, 'Cycle started']],
    'cycle.finished': [
      [
        { event: 'cycle.finished', durationMs: 1500, uploaded: 1200, refused: 0 },
        'Cycle finished in 1.5 s: 1,200 records sent',
      ],
      [
        { event: 'cycle.finished', durationMs: 1500, uploaded: 7, refused: 2 },
        'Cycle finished in 1.5 s: 7 records sent, 2 REFUSED',
      ],
    ],
    'cycle.put_off': [
      [{ event: 'cycle.put_off', because: 'unreachable', what: 'What.', todo: 'Do.' }, 'Postponed: What. Do.'],
    ],
    'cycle.failed': [
      [{ event: 'cycle.failed', because: 'unreachable', what: 'What.', todo: 'Do.' }, 'FAILED: What. Do.'],
    ],
    'source.advice': [[{ event: 'source.advice', what: 'What.' }, 'What.']],
    'source.busy': [
      [
        { event: 'source.busy' },
        'The database server is busy with the office’s work. The agent pauses between batches',
      ],
    ],
    'locations.sent': [[{ event: 'locations.sent', locations: 3 }, '3 locations sent']],
    'upload.resumed': [[{ event: 'upload.resumed', number: 7 }, 'Upload 7 was interrupted. Sending it again']],
    'upload.retried': [
      [
        { event: 'upload.retried', because: 'unreachable', attempt: 1, waitMs: 2500 },
        'Server not ready (unreachable). Retrying in 2.5 s',
      ],
    ],
    'state.reset': [
      [
        { event: 'state.reset' },
        'The state file is of another server, organization or enrolment. Sending everything again',
      ],
    ],
    'state.set_aside': [
      [
        { event: 'state.set_aside', path: '/s.damaged' },
        'The state file was damaged. It is at /s.damaged now; everything is compared and sent where it differs',
      ],
    ],
    'state.behind': [
      [
        { event: 'state.behind', because: 'service_restored' },
        'The service was restored from a backup, or another agent wrote in between; everything is compared and sent where it differs',
      ],
      [
        { event: 'state.behind', because: 'number_reused' },
        'The agent’s state is older than what the service has; everything is compared and sent where it differs',
      ],
    ],
    'dataset.put_off': [
      [
        { event: 'dataset.put_off', dataset: 'patients', because: 'too_slow', what: 'What.', todo: 'Do.' },
        'patients postponed: What. Do.',
      ],
    ],
    'dataset.failed': [
      [
        {
          event: 'dataset.failed',
          dataset: 'patients',
          because: 'too_slow',
          table: null,
          column: null,
          what: 'What.',
          todo: 'Do.',
        },
        'FAILED: patients: What. Do.',
      ],
    ],
    'dataset.advice': [[{ event: 'dataset.advice', dataset: 'patients', what: 'What.' }, 'patients: What.']],
    'values.mended': [
      [mended('date_impossible', 1), 'patients: patient.X of 1 row holds a date that does not exist; sent as empty'],
      [
        mended('date_out_of_range'),
        'patients: patient.X of 2 rows holds a date before 1880 or after 2199; sent as empty',
      ],
      [mended('amount_out_of_range'), 'patients: patient.X of 2 rows holds an amount of more than 13 digits; not sent'],
      [mended('note_cut'), 'patients: patient.X of 2 rows holds a text longer than 20,000 characters; cut'],
      [
        mended('text_invalid'),
        'patients: patient.X of 2 rows holds text that is not valid in its encoding; sent with replacement characters',
      ],
      [mended('control_characters'), 'patients: patient.X of 2 rows holds control characters; removed'],
    ],
    'dataset.reading': [
      [{ event: 'dataset.reading', dataset: 'patients', fully: null, rows: 1200 }, 'patients: reading 1,200 rows'],
      [
        { event: 'dataset.reading', dataset: 'patients', fully: 'first_read', rows: null },
        'patients: reading all rows (first_read)',
      ],
    ],
    'dataset.progress': [
      [progress(20_000), 'insurance_plans  20,000 of 100,000 read · 10,000 sent · 10,000/s · 8 s left'],
      [{ ...progress(20_000), rowsTotal: null }, 'insurance_plans  20,000 read · 10,000 sent · 10,000/s'],
    ],
    'dataset.finished': [
      [
        { event: 'dataset.finished', dataset: 'patients', rows: 1200, uploaded: 7, durationMs: 1500 },
        'patients: 1,200 read, 7 sent in 1.5 s',
      ],
    ],
    'location.written_by_other': [
      [{ event: 'location.written_by_other', what: 'What.', todo: 'Do.' }, 'REFUSED: What. Do.'],
    ],
    'location.skipped': [
      [
        {
          event: 'location.skipped',
          locationId: '9',
          dataset: 'patients',
          because: 'unreachable',
          errors: 'Why.',
        },
        'FAILED: the server refuses patients of location 9 (unreachable): Why.',
      ],
    ],
    'records.hidden': [
      [
        { event: 'records.hidden', locationId: '9', dataset: 'patients', hidden: 12 },
        'patients of location 9: 12 records were removed in the source; they are hidden now',
      ],
    ],
    'records.mistrusted': [
      [
        { event: 'records.mistrusted', locationId: '9', dataset: 'patients', records: 12 },
        'patients of location 9: the server lost or changed 12 records; they are sent again',
      ],
    ],
    'removal.held': [
      [
        { event: 'removal.held', locationId: '9', dataset: 'patients', missing: 12, errors: 'Confirm.' },
        'patients of location 9: 12 records are missing in the source. Review the removal in the portal. Confirm.',
      ],
    ],
    'record.refused': [
      [
        { event: 'record.refused', locationId: '9', dataset: 'patients', sourceId: '5', errors: 'Why.' },
        'REFUSED: record 5 of patients, location 9: Why.',
      ],
    ],
  }

function mended(
  kind: (AgentEvent & { event: 'values.mended' })['mended'],
  rows = 2,
): AgentEvent & { event: 'values.mended' } {
  return { event: 'values.mended', dataset: 'patients', table: 'patient', column: 'X', mended: kind, rows }
}

test('every kind of event has a sentence', () => {
  for (const [event, sentence] of Object.values(kinds).flat()) {
    assert.equal(said('lines', [event]), `2026-11-20T12:00:02.000Z ${sentence}\n`)
  }
})
