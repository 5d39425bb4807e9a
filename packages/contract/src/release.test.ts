import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEarlierRelease, isReleaseVersion } from './release.ts'

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

test('a version of a release is three whole numbers and nothing else', () => {
  for (const version of ['0.2.0', '10.0.3', '1.2.999999999']) assert.equal(isReleaseVersion(version), true, version)
  for (const version of [...hostileVersions, null, 1, ['0.3.0'], { toString: () => '0.3.0' }]) {
    assert.equal(isReleaseVersion(version), false, JSON.stringify(version))
  }
})

const hostileVersions = [
  '',
  '..',
  '../..',
  '0.3.0/../x',
  '0.3.0-/../../x',
  '0.3.0+/x',
  '0.3.0-rc.1',
  '0.3.0 ',
  ' 0.3.0',
  '0.3.0\n',
  '0.3.0\0',
  '0.3',
  '0.3.0.1',
  '00.3.0',
  '0.03.0',
  '-0.3.0',
  '0.3.x',
  '0.3.1e1',
  'v0.3.0',
  '٠.٣.٠',
  '1.2.9999999999',
  '0\\3.0.0',
  'con.0.0',
]
