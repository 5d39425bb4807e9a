import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyAscending, keyList } from '../changes/keys.ts'
import { sessionStatements } from '../database/session.ts'
import { dateOrNull, isTrue, referenceOrNull, text, textOrNull } from './values.ts'

test('Open Dental’s ways to say nothing become null or an empty text', () => {
  assert.deepEqual(['0001-01-01', '0000-00-00', '1879-12-31', null].map(dateOrNull), [null, null, null, null])
  assert.equal(dateOrNull('2026-11-20 10:00:00'), '2026-11-20')
  assert.deepEqual(['0', null, undefined].map(referenceOrNull), [null, null, null])
  assert.equal(referenceOrNull('-5'), '-5')
  assert.deepEqual([' ', '', null].map(textOrNull), [null, null, null])
  assert.equal(text(' a b '), 'a b')
  assert.deepEqual(['1', '0', '', null].map(isTrue), [true, false, false, false])
})

test('a key is a whole number or nothing that reaches a statement', () => {
  assert.equal(keyList(['1', '9223372036854775807']), '1,9223372036854775807')
  for (const key of ['1 or 1=1', '', '1e3', '0x10', '1;', '１']) assert.throws(() => keyList([key]))
  assert.deepEqual(['9223372036854775807', '9223372036854775806', '10', '9'].sort(keyAscending), [
    '9',
    '10',
    '9223372036854775806',
    '9223372036854775807',
  ])
})

test('a session is bounded in the words of each server, and a very old one is still read', () => {
  const own = (version: string) => sessionStatements(version).slice(1)
  const readOnly = 'set session transaction read only'
  assert.deepEqual(own('10.11.19-MariaDB-0+deb12u1'), [readOnly, 'set session max_statement_time = 15'])
  assert.deepEqual(own('5.5.5-10.5.9-MariaDB'), [readOnly, 'set session max_statement_time = 15'])
  assert.deepEqual(own('8.0.36'), [
    readOnly,
    'set session information_schema_stats_expiry = 0',
    'set session max_execution_time = 15000',
  ])
  assert.deepEqual(own('5.7.44-log'), [readOnly, 'set session max_execution_time = 15000'])
  assert.deepEqual(own('5.6.51'), [readOnly])
  assert.deepEqual(own('5.5.62'), [])
})
