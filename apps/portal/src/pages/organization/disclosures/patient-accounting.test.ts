import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountingCsv } from './patient-accounting.ts'

test('R10: an accounting for a patient as CSV cannot run anything in a spreadsheet', () => {
  const row = {
    company_id: 'c',
    recipient: '=HYPERLINK("x")',
    postal_address: '+1 Main Street',
    purpose: null,
    location_id: '1',
    location_name: 'Smile, Downtown',
    dataset: 'patients',
    kind: 'sent' as const,
    description: 'first name, last name',
    first_at: '2026-03-01T10:00:00.000Z',
    last_at: '2026-03-02T10:00:00.000Z',
    count: 2,
  }
  assert.equal(
    accountingCsv({ patients: ['@Ann'], data: [row] }),
    'patient,recipient,postal_address,purpose,location_name,dataset,kind,first_at,last_at,count,description\r\n' +
      `'@Ann,"'=HYPERLINK(""x"")",'+1 Main Street,,"Smile, Downtown",patients,sent,2026-03-01T10:00:00.000Z,2026-03-02T10:00:00.000Z,2,"first name, last name"\r\n`,
  )
})
