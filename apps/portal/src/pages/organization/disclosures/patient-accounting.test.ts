import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountingCsv } from './patient-accounting.ts'

test('R10: an accounting for a patient as CSV cannot run anything in a spreadsheet', () => {
  const row = {
    id: '7',
    disclosed_at: '2026-03-01T10:00:00.000Z',
    company_id: 'c',
    company_name: '=HYPERLINK("x")',
    location_id: '1',
    location_name: 'Smile, Downtown',
    dataset: 'patients',
    kind: 'sent' as const,
    request_id: 'r',
  }
  assert.equal(
    accountingCsv([row]),
    'disclosed_at,company_name,location_name,dataset,kind,request_id,id\r\n' +
      `2026-03-01T10:00:00.000Z,"'=HYPERLINK(""x"")","Smile, Downtown",patients,sent,r,7\r\n`,
  )
})
