import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roundInstants, roundTicks, valueInWords } from './plot-scale.ts'

test('a scale has round lines, at most six, and the last is not below the highest value', () => {
  assert.deepEqual(roundTicks(1, 'count'), [0, 1])
  assert.deepEqual(roundTicks(3, 'count'), [0, 1, 2, 3])
  assert.deepEqual(roundTicks(37, 'count'), [0, 10, 20, 30, 40])
  assert.deepEqual(roundTicks(1_234, 'ms'), [0, 500, 1_000, 1_500])
  assert.deepEqual(roundTicks(100, 'percent'), [0, 25, 50, 75, 100])
  assert.deepEqual(roundTicks(0.3, 'percent'), [0, 0.1, 0.2, 0.3])
  assert.deepEqual(roundTicks(5_000, 'seconds'), [0, 1_800, 3_600, 5_400])
  assert.deepEqual(
    roundTicks(700 * 1024 ** 2, 'bytes'),
    [0, 200, 400, 600, 800].map((mib) => mib * 1024 ** 2),
  )
  for (const unit of ['count', 'ms', 'seconds', 'bytes'] as const) {
    for (let max = 1; max < 1e13; max *= 1.37) {
      const ticks = roundTicks(max, unit)
      assert.ok(ticks.length <= 7 && (ticks.at(-1) ?? 0) >= max * (1 - 1e-9), `${unit} ${max}: ${ticks.join(' ')}`)
    }
  }
  assert.deepEqual(roundTicks(0, 'ms'), [0, 1])
})

test('a value is shown with its unit', () => {
  const words = valueInWords
  assert.deepEqual(
    [words(1_234, 'count'), words(2.34, 'ms'), words(250.4, 'ms'), words(1_500, 'ms'), words(12.34, 'percent')],
    ['1,234', '2.3 ms', '250 ms', '1.5 s', '12.3%'],
  )
  assert.deepEqual(
    [
      words(45, 'seconds'),
      words(90, 'seconds'),
      words(7_200, 'seconds'),
      words(259_200, 'seconds'),
      words(1536, 'bytes'),
    ],
    ['45 s', '1.5 min', '2 h', '3 days', '1.5 KiB'],
  )
})

test('the time axis is marked where a round part of the viewer’s day begins, at most nine times', () => {
  const buckets = (count: number, minutes: number, from: string) =>
    Array.from({ length: count }, (_, index) => new Date(Date.parse(from) + index * minutes * 60_000).toISOString())
  const inZone = (instants: string[], offsetHours: number) =>
    roundInstants(instants, () => offsetHours * 3_600_000).map((at) =>
      new Date(Date.parse(at) + offsetHours * 3_600_000).toISOString().slice(5, 16),
    )
  assert.deepEqual(inZone(buckets(12, 5, '2026-11-22T10:25:00Z'), -5), [
    '11-22T05:30',
    '11-22T05:45',
    '11-22T06:00',
    '11-22T06:15',
  ])
  assert.deepEqual(inZone(buckets(144, 10, '2026-11-21T10:30:00Z'), -5), [
    '11-21T08:00',
    '11-21T12:00',
    '11-21T16:00',
    '11-21T20:00',
    '11-22T00:00',
    '11-22T04:00',
  ])
  assert.equal(
    inZone(buckets(168, 60, '2026-11-15T10:00:00Z'), 2).every((at) => at.endsWith('T00:00')),
    true,
  )
  // Four-hour buckets of UTC: midnight in New York is within one of them.
  assert.deepEqual(inZone(buckets(42, 240, '2026-11-15T00:00:00Z'), -5), [
    '11-15T03:00',
    '11-16T03:00',
    '11-17T03:00',
    '11-18T03:00',
    '11-19T03:00',
    '11-20T03:00',
    '11-21T03:00',
  ])
  assert.deepEqual(roundInstants([]), [])
})
