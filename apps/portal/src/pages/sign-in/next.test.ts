import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeNext } from './next.ts'

const origin = 'https://portal.example.com'

test('after a sign-in one comes back to the page that one wanted', () => {
  assert.equal(safeNext('/company/7/keys?search=a#b', origin), '/company/7/keys?search=a#b')
})

test('a sign-in never leads to another site, however its address is written', () => {
  const foreign = [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    'https:evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '//evil.example/%2e%2e',
    '/\\/evil.example',
    ' //evil.example',
    'evil.example',
    '',
    '//',
    '/\\',
    '/x/..//evil.example',
    '/%2e//evil.example',
    '/.//evil.example',
  ]
  for (const next of foreign) assert.equal(safeNext(next, origin), '/', JSON.stringify(next))
  assert.equal(safeNext(undefined, origin), '/')
})
