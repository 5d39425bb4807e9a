import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isSecret, newSecret } from './secret.ts'

const prefixes = ['bwc', 'bws', 'bwa', 'bwe', 'bwi'] as const

test('only a text that could be a secret of its kind is taken for one', () => {
  for (const prefix of prefixes) {
    const secret = newSecret(prefix)
    assert.deepEqual(
      prefixes.filter((each) => isSecret(each, secret)),
      [prefix],
    )
    const changed = fc.tuple(
      fc.nat(secret.length),
      fc.constantFrom(0, 1),
      fc.constantFrom('', ' ', '\n', '=', '+', 'é', 'x'),
    )
    fc.assert(
      fc.property(changed, ([at, without, instead]) => {
        const text = secret.slice(0, at) + instead + secret.slice(at + without)
        const isOne = text.length === secret.length && /^[\w-]+$/.test(text) && text.startsWith(`${prefix}_`)
        assert.equal(isSecret(prefix, text), isOne, text)
      }),
    )
  }
})
