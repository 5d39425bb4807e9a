import assert from 'node:assert/strict'
import test from 'node:test'
import { bytesInWords } from './bytes.ts'

test('a size is shown in the largest unit that leaves at least one', () => {
  assert.equal(bytesInWords(0), '0 bytes')
  assert.equal(bytesInWords(1023), '1,023 bytes')
  assert.equal(bytesInWords(1536), '1.5 KiB')
  assert.equal(bytesInWords(1024 ** 3), '1 GiB')
})
