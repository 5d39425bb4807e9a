import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseInstant } from '../http/instant.ts'
import { Problem } from '../http/problem.ts'
import { readListParameters, readLocationsParameters, readNoParameters } from './parameters.ts'

const refused = (read: () => unknown, pattern: RegExp) =>
  assert.throws(read, (error: unknown) => {
    assert.ok(error instanceof Problem, String(error))
    assert.equal(error.status, 422)
    assert.match(error.errors, pattern)
    return true
  })

test('P01: items is capped to 5000 and never refused for being large', () => {
  for (const items of ['5000', '5001', '99999999', '1234567890123456789']) {
    assert.equal(readListParameters(`items=${items}`, 'cursor').items, 5000)
  }
  assert.equal(readListParameters('', 'cursor').items, 100)
})

test('P02: items that are not whole numbers of at least 1 are refused by name', () => {
  for (const items of [
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '%205',
    '5;',
    '',
    'null',
    'NaN',
    '12345678901234567890',
    '%EF%BC%95',
  ]) {
    refused(() => readListParameters(`items=${items}`, 'cursor'), /^items must be a whole number/)
  }
})

test('P03, P04: after is a non-negative 64-bit integer', () => {
  for (const after of ['-1', 'abc', '1e3', '0x10', '', '%00', '12345678901234567890', '9223372036854775808']) {
    refused(() => readListParameters(`after=${after}`, 'cursor'), /^after must be a non-negative integer/)
  }
  for (const after of ['0', '7', '9223372036854775807']) {
    assert.equal(readListParameters(`after=${after}`, 'cursor').after, after)
  }
})

test('P06: an unknown, repeated or foreign parameter is refused with the accepted names', () => {
  refused(() => readListParameters('foo=1', 'cursor'), /"foo".*after, items, q\[fetch_modified_since\]/)
  refused(() => readListParameters('page=2', 'cursor'), /"page"/)
  refused(() => readListParameters('after=2', 'page'), /"after".*page, items/)
  refused(() => readListParameters('q[x]=1', 'cursor'), /"q\[x\]"/)
  refused(() => readListParameters('items=1&items=2', 'cursor'), /items is given more than once/)
  refused(() => readNoParameters('a=1'), /accepts no parameters/)
  refused(() => readListParameters('items=%E0%A4%A', 'cursor'), /percent-encoded/)
})

test('P07: page numbers that cannot be are refused', () => {
  for (const page of ['0', '-1', '1.5', 'abc', '9007199254740992', '9007199254740991']) {
    refused(() => readListParameters(`page=${page}&items=2`, 'page'), /^page must be/)
  }
  assert.equal(readListParameters('page=3', 'page').page, 3)
})

test('P10: one instant in all its spellings', () => {
  const expected = Date.UTC(2024, 0, 1) * 1000
  const since = (text: string) => readListParameters(text, 'cursor').since
  assert.equal(since('q[fetch_modified_since]=2024-01-01T00:00:00Z'), expected)
  assert.equal(since('q%5Bfetch_modified_since%5D=2024-01-01T00%3A00%3A00.000Z'), expected)
  assert.equal(since('q[fetch_modified_since]=2024-01-01T02:00:00%2B02:00'), expected)
  assert.equal(since('q[fetch_modified_since]=2023-12-31T18:30:00-05:30'), expected)
  assert.equal(since('q[fetch_modified_since]=2024-01-01T00:00:00.123456999Z'), expected + 123456)
})

test('P11, P13, P15: a date-time that does not exist, has no zone or lies before 1970 is refused', () => {
  const wrong = [
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T25:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T12:60:00Z',
    '2024-01-01T12:00:60Z',
    '2024-01-01T12:00:00',
    '2024-01-01',
    '2024-01-01t00:00:00Z',
    '2024-01-01T00:00:00z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00.1234567890Z',
    '1969-12-31T23:59:59Z',
    'now',
    'infinity',
    '1704067200',
    '',
    '2024-01-01T00:00:00 America/New_York',
    '2024-01-01T00:00:00%2B24:00',
  ]
  for (const text of wrong)
    refused(() => readListParameters(`q[fetch_modified_since]=${text}`, 'cursor'), /must be an RFC 3339/)
  refused(() => readListParameters('q[fetch_modified_since]=2024-01-01T00:00:00+02:00', 'cursor'), /%2B/)
  assert.equal(parseInstant('2024-02-29T00:00:00Z'), Date.UTC(2024, 1, 29) * 1000)
  assert.equal(parseInstant('1970-01-01T00:00:00Z'), 0)
})

test('P17: every other shape of q is refused at once', () => {
  const many = `q${'[a]'.repeat(1000)}=1`
  for (const query of [
    'q=1',
    'q[]=1',
    'q[fetch_modified_since][a]=1',
    'q[fetch_modified_since]=2024-01-01T00:00:00Z&q%5Bfetch_modified_since%5D=2024-01-01T00:00:00Z',
    many,
  ]) {
    const begun = performance.now()
    refused(() => readListParameters(query, 'cursor'), /Unknown parameter|more than once/)
    assert.ok(performance.now() - begun < 5)
  }
})

test('A08, A09: the parameters of /locations', () => {
  for (const id of ['abc', '', '12345678901234567890', '-1', '01']) {
    refused(() => readLocationsParameters(`organization_id=${id}`), /^organization_id must be/)
  }
  refused(() => readLocationsParameters('organization_id=1&organization_id=1'), /more than once/)
  const flag = (text: string) => readLocationsParameters(`with_attribution_script_install${text}`).withAttributionScript
  assert.deepEqual(['', '=', '=true', '=1', '=false', '=0'].map(flag), [true, true, true, true, false, false])
  refused(() => flag('=yes'), /with_attribution_script_install must be/)
})
