import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byHand, ours, type Row } from '../works/row.ts'
import { performancePage } from './performance-page.ts'
import { barPlot, growthPlot } from './plots.ts'
import { mergeResults, type Results, type Run } from './results.ts'
import { formatRows, isMissed, unsteady } from './table.ts'

const row: Row = {
  work: 'delta',
  name: 'empty delta',
  who: byHand,
  connections: 8,
  perSecond: 100,
  cpuMs: 0.5,
  bytes: 1,
  ratio: 0.9,
  target: 1.5,
}
const mine: Row = { ...row, who: ours, ratio: null, target: null, perSecond: 90, cpuMs: 0.25 }
const run: Run = {
  at: '2026-11-23T06:00:00.000Z',
  commit: 'abc1234',
  cores: 2,
  processor: 'a processor',
  memoryGb: 8,
  load: 1,
  node: 'v26.10.0',
  client: 'wrk',
  rounds: 3,
  seconds: 2,
  isQuick: false,
  against: null,
}

test('a missed target is said, and a row without one misses nothing', () => {
  assert.equal(isMissed(row), true)
  assert.equal(isMissed({ ...row, target: 0.9 }), false)
  assert.equal(isMissed({ ...row, target: null }), false)
  assert.equal(isMissed({ ...row, ratio: null, memoryMb: 300, target: 250 }), true)
  assert.equal(isMissed({ ...row, ratio: null, memoryMb: 200, target: 250 }), false)
  assert.match(formatRows('Title', [row]), /0\.90 × +1\.5 × MISSED/)
})

test('by processor time, where it is known, a target is missed or reached', () => {
  assert.equal(isMissed({ ...row, ratio: 0.9, cpuRatio: 1.6 }), false)
  assert.equal(isMissed({ ...row, ratio: 1.6, cpuRatio: 0.9 }), true)
})

test('peers that vary say that the machine was not quiet', () => {
  assert.deepEqual(unsteady([mine, { ...row, spread: 0.15 }]), [])
  assert.deepEqual(unsteady([mine, { ...row, spread: 0.2 }]), [
    'empty delta, 8 connections: hand-written varied by 20 % between rounds',
  ])
})

test('the page takes its figures from the results, and its lines are as long as a page may have them', () => {
  const results: Results = { works: { delta: { run, rows: [mine, row] } } }
  const page = performancePage(results, [])
  assert.match(page, /\| empty deltas \| 0\.25 \| 4,000 \|/, 'what a core does in a second')
  assert.match(page, /\| 1\.5 × \| 0\.90 × by rate \| missed \|/)
  assert.match(page, /commit abc1234/)
  assert.deepEqual(
    page.split('\n').filter((line) => !line.startsWith('|') && line.length > 120),
    [],
  )
})

test('a run beside another checkout says which, also where others of the same commit ran without it', () => {
  const beside: Run = { ...run, against: 'fed9876' }
  const results: Results = { works: { delta: { run, rows: [row] }, ingest: { run: beside, rows: [] } } }
  const page = performancePage(results, []).replaceAll(/\s+/g, ' ')
  assert.match(page, /- Deltas: 2026-11-23, commit abc1234[^;]*\. Client/)
  assert.match(page, /- Ingest: 2026-11-23, commit abc1234[^;]*; "the other checkout" is commit fed9876\./)
})

test('a run of one work leaves the figures of the others', () => {
  const older: Results = { works: { delta: { run, rows: [row] }, token: { run, rows: [] } } }
  const newer: Results = { works: { delta: { run: { ...run, commit: 'def' }, rows: [mine] } } }
  const { works } = mergeResults(older, newer)
  assert.deepEqual(works.delta, newer.works.delta)
  assert.deepEqual(works.token, older.works.token)
})

test('plots are SVG without a value that is no number', () => {
  const bars = barPlot('bars', 'Title', 'a second', [
    { label: ours, value: 10 },
    { label: 'limit <x>', value: 10 },
    { label: 'none', value: 0 },
  ])
  const growth = growthPlot('growth', 'Title', [
    { ...mine, records: 10_000 },
    { ...mine, records: 100_000, cpuMs: null },
  ])
  for (const { svg } of [bars, growth]) {
    assert.match(svg, /^<svg [^>]*viewBox/)
    assert.doesNotMatch(svg, /NaN|Infinity|undefined|<x>/)
  }
})
