import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from './agent-process.ts'

const name = (digit: string) => digit.repeat(32)
const start = (id: string, more: object = {}) => ({
  id: name(id),
  before: [] as string[],
  is_new: true,
  next_upload: 10,
  place: 'a'.repeat(16),
  computer: 'desk',
  ...more,
})

test('a start is judged by the process before it, its numbers, its place, and whether the other one is heard', () => {
  const known = { id: name('1'), place: 'a'.repeat(16), isHeard: true, highest: '9' as string | null }
  const next = { before: [name('1')], is_new: false }
  const elsewhere = { place: 'b'.repeat(16) }
  const cases = [
    ['the same process', known, start('1', elsewhere), 'accepted'],
    ['a restart', known, start('2', next), 'accepted'],
    ['a restart of which the state knows several', known, start('3', { before: [name('2'), name('1')] }), 'accepted'],
    ['a number that was used', known, start('2', { ...next, next_upload: 9 }), 'refused'],
    ['a number that was excused', { ...known, highest: null }, start('2', { ...next, next_upload: 9 }), 'accepted'],
    ['another one before', known, start('2', { before: [name('0')], is_new: false }), 'refused'],
    ['a copy beside', known, start('2', { ...next, ...elsewhere }), 'refused'],
    ['a folder that was moved', { ...known, isHeard: false }, start('2', { ...next, ...elsewhere }), 'moved'],
    [
      'a moved one with used numbers',
      { ...known, isHeard: false },
      start('2', { ...next, ...elsewhere, next_upload: 9 }),
      'refused',
    ],
    ['a new state here', known, start('2'), 'moved'],
    ['a new state elsewhere', known, start('2', elsewhere), 'refused'],
    ['a new state elsewhere, and silence', { ...known, isHeard: false }, start('2', elsewhere), 'moved'],
    [
      'a new state that was refused before',
      { ...known, isHeard: false },
      start('3', { before: [name('2')], ...elsewhere }),
      'moved',
    ],
  ] as const
  for (const [what, before, said, expected] of cases) assert.equal(decide(before, said), expected, what)
})
