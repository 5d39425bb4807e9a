import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEarlierRelease } from './release.ts'

test('a version is earlier by its first number that differs; a text of another form is not', () => {
  const earlier: [string, string][] = [
    ['0.1.0', '0.2.0'],
    ['0.9.9', '0.10.0'],
    ['0.2.0', '1.0.0'],
    ['0.2.0-rc.1', '0.2.1'],
  ]
  for (const [one, other] of earlier) {
    assert.equal(isEarlierRelease(one, other), true, `${one} before ${other}`)
    assert.equal(isEarlierRelease(other, one), false, `${other} before ${one}`)
  }
  for (const version of ['0.2.0', 'dev', '', '0.1', '0.1.0x', 'v0.1.0']) {
    assert.equal(isEarlierRelease(version, '0.2.0'), false, version)
  }
})
