import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namePattern } from './file-names.ts'

function newestOf(path: string, names: readonly string[]): string[] {
  const pattern = namePattern(path)
  assert.ok(pattern !== null && 'matching' in pattern)
  return pattern.matching(names)
}

test('names that fit a pattern come in their order, the newest last', () => {
  assert.equal(namePattern('patients.csv'), null)
  assert.equal(namePattern('{location}/patients.csv'), null)
  assert.deepEqual(newestOf('P_*.csv', ['P_10.csv', 'P_9.csv', 'p_11.CSV', 'P_12.csv.done', 'Q_1.csv', 'P_12xcsv']), [
    'P_9.csv',
    'P_10.csv',
    'p_11.CSV',
  ])
  assert.deepEqual(
    newestOf('sub/P {MM-DD-YYYY}.csv', ['P 12-31-2025.csv', 'P 01-02-2026.csv', 'P 13-01-2026.csv', 'P x.csv']),
    ['P 12-31-2025.csv', 'P 01-02-2026.csv'],
  )
  assert.deepEqual(newestOf('{YYYYMMDDHHmm}_*.txt', ['202601020900_b.txt', '202601020800_c.txt', '20260102_x.txt']), [
    '202601020800_c.txt',
    '202601020900_b.txt',
  ])
})
