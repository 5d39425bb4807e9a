import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLineWriter, createLog } from './log.ts'

test('a line has the time and all that its event says', () => {
  const lines: string[] = []
  const event = { event: 'request.failed', requestId: 'r', route: '/x', error: 'TypeError', line: 'a.ts:1' } as const
  createLog('all', (line) => lines.push(line))(event)

  const { at, ...said } = JSON.parse(lines.join('')) as { at: string }
  assert.deepEqual(said, event)
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000, at)
  assert.equal(lines[0]?.split('"at"').length, 2)
})

test('lines of one turn are written together and in their order, and what waits at an exit is written at once', async () => {
  const written: string[] = []
  const lines = createLineWriter((text) => written.push(text))
  lines.add('one\n')
  lines.add('two\n')
  assert.deepEqual(written, [])
  await nextTurn()
  assert.deepEqual(written, ['one\ntwo\n'])

  lines.add('three\n')
  lines.flush()
  assert.deepEqual(written, ['one\ntwo\n', 'three\n'])
  await nextTurn()
  assert.equal(written.length, 2)
})
