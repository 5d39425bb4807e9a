import assert from 'node:assert/strict'
import test from 'node:test'
import { barsOf } from './disclosure-days.ts'

test('a day on which nothing was read is shown as such, also over the change of the clocks', () => {
  const { bars, datasets } = barsOf([
    { day: '2026-10-31', dataset: 'patients', reads: 1, records: 5 },
    { day: '2026-11-03', dataset: 'patients', reads: 2, records: 7 },
    { day: '2026-11-03', dataset: 'treatments', reads: 1, records: 1 },
  ])
  assert.deepEqual(datasets, ['patients', 'treatments'])
  assert.deepEqual(bars, [
    { day: '2026-10-31', patients: 5 },
    { day: '2026-11-01' },
    { day: '2026-11-02' },
    { day: '2026-11-03', patients: 7, treatments: 1 },
  ])
})

test('without a disclosure there is no bar', () => {
  assert.deepEqual(barsOf([]), { bars: [], datasets: [] })
})
