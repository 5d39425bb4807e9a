import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import type { DisclosureGroup } from '@bridgework/contract/portal'
import { readInWords } from './read-in-words.ts'

const group: DisclosureGroup = {
  day: '2026-11-28',
  company_id: 'c',
  company_name: 'Demo Vendor',
  reads: 14,
  records: 1200,
  last_at: '2026-11-28T10:00:00Z',
  datasets: [{ dataset: 'treatments', reads: 14, records: 1200 }],
  locations: { count: 1, names: ['South'] },
}
const words = (more: Partial<DisclosureGroup>, today = '2026-11-28') => readInWords({ ...group, ...more }, today)

test('what a vendor read on a day is one sentence', () => {
  assert.equal(words({}), 'read 1,200 treatments at South, 14 times, today')
  assert.equal(words({ reads: 1 }, '2026-11-29'), 'read 1,200 treatments at South, once, yesterday')
  const datasets = [...group.datasets, { dataset: 'fee_schedules', reads: 1, records: 1 }]
  const locations = { count: 5, names: ['South', 'North', 'West'] }
  assert.equal(
    words({ datasets, locations }, '2026-12-08'),
    'read 1,200 treatments and 1 fee schedule at South, North, West, and 2 more, 14 times, on November 28, 2026',
  )
})

test('what was counted or compared without being sent is not said to be read', () => {
  const patients = { dataset: 'patients', reads: 2, records: 0 }
  assert.equal(words({ datasets: [patients], reads: 2 }), 'counted or compared patients at South, 2 times, today')
  assert.equal(
    words({ datasets: [...group.datasets, patients] }),
    'read 1,200 treatments, and counted or compared patients at South, 14 times, today',
  )
})

test('the name of each dataset has a singular', () => {
  for (const dataset of datasetNames) assert.match(dataset, /[^s]s$/)
})
