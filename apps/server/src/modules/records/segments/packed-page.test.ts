import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOwnBytes } from './packed-page.ts'

test('X05: bytes of a segment that do not fill their memory are refused: the rest of it is what another request left there', () => {
  assert.deepEqual(toOwnBytes('00ff7f'), Buffer.from([0, 255, 127]))
  assert.deepEqual(toOwnBytes(''), Buffer.alloc(0))
  for (const text of ['\\x00ff', 'a', '00f', '00zz', 'zz00', '\\000\\377ab', 'Zoë!'])
    assert.throws(() => toOwnBytes(text), /not hex/, text)
})
