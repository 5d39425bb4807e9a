import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCursor, writeCursor } from './sealed-lines.ts'

const id = fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }).map(String)
const cursor = fc.record(
  { seal: fc.nat({ max: 2 ** 31 }), sealHash: fc.stringMatching(/^[0-9a-f]{16}$/), actId: id, disclosureId: id },
  { noNullPrototype: true },
)

test('F26: a cursor is read as it was written, and a text around or inside it makes it none', () => {
  fc.assert(
    fc.property(
      cursor,
      fc.constantFrom('-', ' ', '\n', 'x', '-1', '0'.repeat(20)),
      fc.nat(4),
      (written, more, place) => {
        const text = writeCursor(written)
        assert.deepEqual(readCursor(text), written)
        const parts = text.split('-')
        for (const wrong of [text + more, more + text, parts.with(place % 4, '').join('-'), parts.slice(1).join('-')])
          assert.equal(readCursor(wrong), null, wrong)
      },
    ),
  )
})
