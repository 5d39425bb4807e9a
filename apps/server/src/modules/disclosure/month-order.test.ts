import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { listMonths } from './months.ts'
import { makeMonthsBetween } from './testing/test-months.ts'

test('F29: the months are listed from the earliest on', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  await makeMonthsBetween(ownerPool, new Date('2019-11-01'), new Date('2020-02-01'))
  const months = (await listMonths(ownerPool)).filter(({ month }) => month < '2020-03')
  assert.deepEqual(
    months,
    ['2019_11', '2019_12', '2020_01', '2020_02'].map((name) => ({
      month: name.replace('_', '-'),
      tables: [`monthly.disclosure_${name}`, `monthly.disclosed_day_${name}`],
    })),
  )
})
