import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from './progress.ts'

function someProgress(isTerminal: boolean) {
  const written: string[] = []
  const clock = { ms: 0 }
  const progress = createProgress({ write: (text) => written.push(text), isTerminal, nowMs: () => clock.ms })
  return { written, clock, progress }
}

test('on a terminal one line is written over, with the rate and the time left', () => {
  const { written, clock, progress } = someProgress(true)
  progress.show(0, 10_000, 'records')
  clock.ms = 100
  progress.show(1, 10_000, 'records')
  clock.ms = 2000
  progress.show(4000, 10_000, 'records')
  progress.end()
  assert.deepEqual(
    written.map((text) => text.trimEnd()),
    ['\r0 %  0 of 10,000 records'.trimEnd(), '\r40 %  4,000 of 10,000 records  2,000/s  3 s left', ''],
  )
})

test('elsewhere there is a plain line now and then, and one at the end', () => {
  const { written, clock, progress } = someProgress(false)
  for (const [ms, done] of [
    [0, 0],
    [1000, 10],
    [6000, 60],
    [7000, 70],
    [8000, 100],
  ] as const) {
    clock.ms = ms
    progress.show(done, 100, 'records')
  }
  progress.end()
  assert.deepEqual(written, [
    '0 %  0 of 100 records\n',
    '60 %  60 of 100 records  10/s  4 s left\n',
    '100 %  100 of 100 records  13/s  0 s left\n',
  ])
})
