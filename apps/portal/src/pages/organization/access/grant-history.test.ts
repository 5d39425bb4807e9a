import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GrantEntry } from '@bridgework/contract/portal'
import { changesOfGrants } from './grant-history.ts'

const grant = (dataset: string, location: string | null, more: Partial<GrantEntry> = {}): GrantEntry => ({
  company_id: 'c',
  company_name: 'Vendor',
  location_id: location,
  location_name: location,
  dataset,
  notes: false,
  granted_at: '2026-11-01T10:00:00.000Z',
  granted_by: 'Olga',
  revoked_at: null,
  revoked_by: null,
  purpose: null,
  ends_at: null,
  ...more,
})

test('a change of many cells is one entry, and what one act granted and revoked stands together', () => {
  const later = { revoked_at: '2026-11-02T10:00:00.100Z', revoked_by: 'Pat' }
  assert.deepEqual(
    changesOfGrants([
      grant('patients', 'South'),
      grant('patients', 'North', later),
      grant('treatments', 'South', { granted_at: '2026-11-01T10:00:00.900Z', purpose: 'Recall' }),
      grant('treatments', 'North'),
      grant('fee_schedules', null, { granted_at: '2026-11-02T10:00:00.000Z', granted_by: 'Pat', notes: true }),
    ]),
    [
      {
        at: '2026-11-02T10:00:00.100Z',
        by: 'Pat',
        lines: ['Granted Fee schedules, with notes at all locations, also future ones.', 'Revoked Patients at North.'],
        purpose: null,
      },
      {
        at: '2026-11-01T10:00:00.900Z',
        by: 'Olga',
        lines: ['Granted Patients and Treatments at North and South.'],
        purpose: 'Recall',
      },
    ],
  )
})

test('acts of two people, or of two moments, are two entries', () => {
  const by = (granted_by: string, granted_at: string) => grant('patients', granted_at, { granted_by, granted_at })
  const at = (second: string) => `2026-11-01T10:00:${second}.000Z`
  assert.equal(changesOfGrants([by('Olga', at('00')), by('Pat', at('01')), by('Pat', at('09'))]).length, 3)
})
