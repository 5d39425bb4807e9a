import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { gzipMember } from './gzip-member.ts'
import { packRun, switchToLines } from './packed-run.ts'

const seed = randomInt(2 ** 31)

test('packed documents are a list, and by one byte lines, whatever is in them', async (t) => {
  t.diagnostic(`seed ${seed}`)
  let switched = 0
  // Much alike, as records are, or not at all.
  const word = fc.constantFrom('plan', 'a,b', '},{', '","', 'Zoë 🦷', '\n')
  const alike = fc.record({ id: fc.nat(9_999).map(String), type: fc.constant('plan'), note: fc.array(word) })
  const text = fc.oneof({ weight: 4, arbitrary: alike.map((value) => JSON.stringify(value)) }, fc.json())
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 2, maxLength: 60 }),
      fc.constantFrom(1, 6, 9),
      async (texts, level) => {
        const packed = await packRun(texts, level)
        assert.equal(gunzipSync(gzipMember([packed])).toString(), texts.join(','))
        if (!packed.lines) return
        switched += 1
        const lines = switchToLines(packed, packed.lines)
        assert.equal(gunzipSync(gzipMember([lines, '\n'])).toString(), `${texts.join('\n')}\n`)
      },
    ),
    { seed, numRuns: 300 },
  )
  t.diagnostic(`${switched} of 300 were switched`)
  assert.ok(switched > 100)
})
