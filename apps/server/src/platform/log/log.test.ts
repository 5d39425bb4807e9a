import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLineWriter, createLog, importantEvents } from './log.ts'
import type { LogEvent } from './log-event.ts'

test('a line has the time and all that its event says', () => {
  const lines: string[] = []
  const event = { event: 'request.failed', requestId: 'r', route: '/x', error: 'TypeError', line: 'a.ts:1' } as const
  createLog('all', (line) => lines.push(line))(event)

  const { at, ...said } = JSON.parse(lines.join('')) as { at: string }
  assert.deepEqual(said, event)
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000, at)
  assert.equal(lines[0]?.split('"at"').length, 2)
})

test('a log of important events has those for which the guide says what to do, and no other', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/run-in-production.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| (`\w+\.\w+`(?:, `\w+\.\w+`)*) \| (.+) \|$/gm)].map(([, names = '', todo]) => ({
    names: [...names.matchAll(/[\w.]+/g)].map(String),
    isImportant: todo !== 'nothing',
  }))
  const written: string[] = []
  const log = createLog('important', (line) => written.push(JSON.parse(line).event))
  // Only their names count here.
  for (const { names } of rows) for (const event of names) log({ event } as LogEvent)

  assert.deepEqual(
    written,
    rows.flatMap(({ names, isImportant }) => (isImportant ? names : [])),
  )
  assert.ok(rows.some(({ isImportant }) => !isImportant))
  assert.deepEqual(written.toSorted(), importantEvents.toSorted())
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
