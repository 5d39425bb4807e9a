import assert from 'node:assert/strict'
import test from 'node:test'
import { barsOf } from './disclosure-days.ts'

const vendor = (company_id: string, records: number) => ({
  company_id,
  name: `Vendor ${company_id}`,
  reads: 1,
  records,
})

test('a day on which nothing was read is shown as such, also over the change of the clocks', () => {
  const { bars, series } = barsOf({
    days: [
      { day: '2026-10-31', company_id: 'a', reads: 1, records: 5 },
      { day: '2026-11-03', company_id: 'a', reads: 2, records: 7 },
      { day: '2026-11-03', company_id: 'b', reads: 1, records: 1 },
    ],
    vendors: [vendor('b', 1), vendor('a', 12)],
  })
  assert.deepEqual(series, [
    { name: 'a', label: 'Vendor a' },
    { name: 'b', label: 'Vendor b' },
  ])
  assert.deepEqual(bars, [
    { day: '2026-10-31', a: 5 },
    { day: '2026-11-01' },
    { day: '2026-11-02' },
    { day: '2026-11-03', a: 7, b: 1 },
  ])
})

test('the vendors that read most have a colour each, and what the others read is one part', () => {
  const ids = ['1', '2', '3', '4', '5', '6', '7', '8']
  const days = ids.map((company_id) => ({ day: '2026-11-03', company_id, reads: 1, records: Number(company_id) }))
  const { bars, series } = barsOf({ days, vendors: ids.map((id) => vendor(id, Number(id))) })
  assert.deepEqual(
    series.map(({ name }) => name),
    ['8', '7', '6', '5', '4', '3', 'other'],
  )
  assert.equal(bars[0]?.other, 3)
})

test('without a disclosure there is no bar', () => {
  assert.deepEqual(barsOf({ days: [], vendors: [] }), { bars: [], series: [] })
})
