import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { type Quotes, readCsv } from './csv.ts'

/** What is read of a text that comes in parts of this length. */
async function read(text: string, delimiter = ',', quotes: Quotes = 'standard', partLength = 7) {
  async function* parts() {
    for (let at = 0; at < text.length; at += partLength) yield text.slice(at, at + partLength)
  }
  return await Array.fromAsync(readCsv(parts(), { delimiter, quotes }))
}

/** Fields by line, or the line with its fault's first words. */
async function rowsOf(text: string, ...more: [delimiter?: string, quotes?: Quotes]) {
  const rows = await read(text, ...more)
  return rows.map((row) => ('rule' in row ? `${row.line}: ${row.rule.split(' ').slice(0, 4).join(' ')}` : row.fields))
}

test('what RFC 4180 says is read as csv-parse reads it, however the text is cut into parts', async () => {
  // A series of its own, so that a failure can be repeated.
  let state = 42
  const pick = <T>(from: readonly T[]): T => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return from[state % from.length] as T
  }
  const pieces = ['a', 'ü€', '"', ',', ';', '\n', '', ' b ', "'", '\\', '\t', '0'] as const
  for (let round = 0; round < 300; round++) {
    const delimiter = pick([',', ';', '\t', '||'])
    const field = () => [1, 2, 3].map(() => pick(pieces)).join('')
    const rows = Array.from({ length: 4 }, () => ['k', field(), field()])
    const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
    const needsQuotes = (text: string) => /["\n;\t,|]/.test(text) || text.trim() !== text
    const text = rows
      .map((row) => row.map((each) => (needsQuotes(each) || pick([true, false]) ? quote(each) : each)).join(delimiter))
      .join('\n')
    const expected = parse(text, { delimiter, relax_column_count: true })
    const found = await read(text, delimiter, 'standard', pick([1, 2, 5, 1000]))
    assert.deepEqual(
      found.map((row) => ('rule' in row ? row.rule : row.fields)),
      expected,
      JSON.stringify(text),
    )
    // Line by line, also where a text runs over several.
    const starts = rows.map((_, index) => rows.slice(0, index).flat().join('').split('\n').length + index)
    assert.deepEqual(
      found.map(({ line }) => line),
      starts,
    )
  }
})

test('only the bad line is refused, even with a quotation mark that is never closed', async () => {
  assert.deepEqual(await rowsOf('a,b\n1,x "y",z\n2,"ok"\n'), [['a', 'b'], '2: has a quotation mark', ['2', 'ok']])
  assert.deepEqual(await rowsOf('a,b\n1,"x"y\n2,z\n'), [['a', 'b'], '2: has something between a', ['2', 'z']])
  assert.deepEqual(await rowsOf('a,b\n1,"open\n2,x\n3,"y"\n4,z'), [
    ['a', 'b'],
    '2: has something between a',
    ['2', 'x'],
    ['3', 'y'],
    ['4', 'z'],
  ])
  assert.deepEqual(await rowsOf('1,"open\n2,x\n3,y\n'), ['1: has a quotation mark', ['2', 'x'], ['3', 'y']])
  assert.deepEqual(await rowsOf('1,"two\nlines",x\n2,"and ""more""\n",y\n3,z\n'), [
    ['1', 'two\nlines', 'x'],
    ['2', 'and "more"\n', 'y'],
    ['3', 'z'],
  ])
})

test('a text over 4 MB is given up, and what follows is read', async () => {
  const long = 'x'.repeat(5 * 1024 * 1024)
  const found = await read(`1,a\n2,${long}\n3,b\n`, ',', 'standard', 100_000)
  assert.deepEqual(
    found.map((row) => ('rule' in row ? [row.line, row.rule] : row.fields)),
    [
      ['1', 'a'],
      [2, 'is longer than 4 MB; check for a quotation mark that is never closed'],
      ['3', 'b'],
    ],
  )
  const lines = `${'y'.repeat(99)}\n`.repeat(60_000)
  const open = await read(`1,"a\n${lines}2,b\n`, ',', 'standard', 100_000)
  assert.deepEqual(open[0], { line: 1, rule: 'has a quotation mark that is never closed' })
  assert.deepEqual([open.length, open.at(-1)], [60_002, { line: 60_002, fields: ['2', 'b'] }])
})

test('what spreadsheets and old programs add of their own', async () => {
  assert.deepEqual(await rowsOf('sep=;\nId;No\n1;="007"\n2;"=""008"""\n'), [
    ['Id', 'No'],
    ['1', '007'],
    ['2', '008'],
  ])
  assert.deepEqual(await rowsOf('"sep=\t"\na\tb'), [['a', 'b']])
  assert.deepEqual(await rowsOf('a,sep=;\n'), [['a', 'sep=;']])
  assert.deepEqual(await rowsOf('"a" , "b"\t,c\n'), [['a', 'b', 'c']])
  assert.deepEqual(await rowsOf('a,b\n1,2\n\u001a'), [
    ['a', 'b'],
    ['1', '2'],
  ])
  assert.deepEqual(await rowsOf('a~|~b~|~\n', '~|~'), [['a', 'b', '']])
})

test('quotation marks as text, or after a backslash', async () => {
  assert.deepEqual(await rowsOf('5\'10",x,"y"\n', ',', 'text'), [['5\'10"', 'x', '"y"']])
  assert.deepEqual(await rowsOf('"a \\"b\\" \\\\",c\n', ',', 'backslash'), [['a "b" \\', 'c']])
})
