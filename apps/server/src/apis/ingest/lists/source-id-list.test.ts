import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '../../../platform/errors/problem.ts'
import { createSourceIdReader } from './source-id-list.ts'

function read(text: string, pieceBytes = 7) {
  const reader = createSourceIdReader()
  const sourceIds: string[] = []
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    sourceIds.push(...reader.take(bytes.subarray(from, from + pieceBytes)))
  }
  return { beganAtUpload: reader.end(), sourceIds }
}

function refusalOf(text: string): Problem | null {
  try {
    read(text)
  } catch (error) {
    assert.ok(error instanceof Problem, String(error))
    return error
  }
  return null
}

function codeOf(text: string): string {
  return refusalOf(text)?.code ?? 'taken'
}

test('a list in pieces of any size is read as JSON says, in any order of its members and with any space', () => {
  const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text))
  fc.assert(
    fc.property(
      fc.array(key, { maxLength: 20 }),
      fc.integer({ min: 1 }),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      fc.constantFrom(undefined, 1, '\t'),
      (source_ids, began_at_upload, pieceBytes, isFirst, space) => {
        const list = isFirst ? { began_at_upload, source_ids } : { source_ids, began_at_upload }
        const expected = { beganAtUpload: began_at_upload, sourceIds: source_ids }
        assert.deepEqual(read(JSON.stringify(list, null, space), pieceBytes), expected)
      },
    ),
  )
  assert.deepEqual(read('{"source_ids":["\\u0041\\"\\\\é"],"began_at_upload":1e2}').sourceIds, ['A"\\é'])
})

test('anything else is refused as soon as it is seen', () => {
  for (const text of [
    '',
    '{',
    '[',
    '{"source_ids":["a"',
    '{"began_at_upload":1,"source_ids":["a",]}',
    '{"a":1}}',
    '{}x',
  ]) {
    assert.ok(['body_malformed', 'field_invalid'].includes(codeOf(text)), text)
  }
  for (const text of [
    '{"began_at_upload":0,"source_ids":[]}',
    '{"began_at_upload":1.5,"source_ids":[]}',
    '{"began_at_upload":1,"source_ids":[{}]}',
    '{"began_at_upload":1,"source_ids":[1]}',
    '{"began_at_upload":1,"source_ids":[""]}',
    '{"began_at_upload":1,"source_ids":["a\\u0000"]}',
    `{"began_at_upload":1,"source_ids":["${'k'.repeat(256)}"]}`,
    `{"began_at_upload":1,"source_ids":["${'k'.repeat(9_000)}`,
    '{"began_at_upload":1,"source_ids":[],"more":1}',
    '{"began_at_upload":1,"source_ids":[],"source_ids":[]}',
    '{"began_at_upload":1}',
    '{"source_ids":[]}',
  ]) {
    assert.equal(codeOf(text), 'field_invalid', text)
  }
  assert.equal(codeOf('{"began_at_upload":1,"source_ids":["\\x"]}'), 'body_malformed')
})

test('a body that is JSON of another kind is told what is accepted', () => {
  const values = ['[]', '[{"began_at_upload":1}]', 'null', 'true', 'false', '"text"', '0', '-1.5e3', ' \n[ ]']
  const object = 'The body must be an object with the members began_at_upload and source_ids.'
  for (const text of values) assert.equal(refusalOf(text)?.errors, object, text)
  const number = 'began_at_upload must be a whole number of at least 1.'
  for (const value of [...values, '{}', '1.5', '"1"'])
    assert.equal(refusalOf(`{"began_at_upload":${value},"source_ids":[]}`)?.errors, number, value)
  const keys = 'source_ids must be a list of keys of 1 to 255 characters.'
  for (const value of ['null', '{}', 'true', '"text"', '0', '[null]', '[[]]'])
    assert.equal(refusalOf(`{"began_at_upload":1,"source_ids":${value}}`)?.errors, keys, value)
  for (const text of ['x', ']', ',', ':', '{"began_at_upload":x', '{"began_at_upload":,', '{"source_ids":x'])
    assert.equal(refusalOf(text)?.code, 'body_malformed', text)
})
