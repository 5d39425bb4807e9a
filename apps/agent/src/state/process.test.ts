import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownProcess } from './process.ts'

test('a process names those before it until the service took it, and none from then on', () => {
  const kept: { text: string | null } = { text: null }
  const begin = () =>
    ownProcess('/state.sqlite', {
      read: () => kept.text,
      write: (text) => {
        kept.text = text
      },
      nextUploadNumber: () => 7,
    })
  const first = begin()
  assert.deepEqual([first.start().before, first.start().is_new, first.start().next_upload], [[], true, 7])
  first.taken()
  assert.deepEqual([first.start().before, first.start().is_new], [[], false])

  // Killed before the service answers: the next start names both.
  const second = begin()
  assert.deepEqual(second.start().before, [first.start().id])
  const third = begin()
  assert.deepEqual(third.start().before, [first.start().id, second.start().id])
  third.taken()
  assert.deepEqual(third.start().before, [])
  assert.deepEqual(begin().start().before, [third.start().id])
})
