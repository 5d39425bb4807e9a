import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLineWriter } from './log.ts'

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
