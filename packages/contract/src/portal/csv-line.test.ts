import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLine } from './csv-line.ts'

test('R10: no cell begins like a formula, also not behind blanks and characters that are not seen', () => {
  for (const begin of [
    '=',
    '+',
    '-',
    '@',
    '＝',
    '＋',
    '－',
    '＠',
    '\t',
    '\r',
    '\n',
    ' ',
    '\u00a0',
    '\ufeff',
    '\u200b',
    '\0',
  ]) {
    for (const cell of [`${begin}1+1`, `${begin}=1+1`]) {
      assert.match(csvLine([cell]), /^("?)'/, JSON.stringify(cell))
    }
  }
})

test('R10: no part of a cell begins like a formula for a spreadsheet that splits lines at another separator', () => {
  for (const separator of [';', '\t', '\r', '\n', '\r\n']) {
    for (const between of ['', ' ', '\u00a0', '"', '" "']) {
      for (const sign of ['=', '+', '-', '@', '＝', '＠']) {
        const line = csvLine(['a', `b${separator}${between}${sign}1+1`])
        // As such a spreadsheet reads it: quotes count at the beginning of a part alone.
        const parts = line.split(/[;\t\r\n]/).map((part) => part.replaceAll(/^["\s]*/g, ''))
        assert.deepEqual(
          parts.filter((part) => /^[=+\-@＝＠]/.test(part)),
          [],
          JSON.stringify(line),
        )
        assert.ok(line.startsWith('a,"b'), 'and it is one cell where commas separate')
      }
    }
  }
  assert.equal(csvLine(['call;=1+1']), `"call;'=1+1"\r\n`)
})

test('a cell that nothing would run stays as it is', () => {
  assert.equal(csvLine(['a', 'b,c', 'd"e', 'f\r\ng', 7]), 'a,"b,c","d""e","f\r\ng",7\r\n')
  assert.equal(csvLine(['x=1, y=-2', "O'Hara", 'a; b', '']), `"x=1, y=-2",O'Hara,"a; b",\r\n`)
})

test('a hostile cell takes no longer than its length', () => {
  const beganAt = performance.now()
  for (const text of [';'.repeat(200_000), `;${' '.repeat(200_000)}`, '\n'.repeat(200_000), ';"'.repeat(100_000)])
    csvLine([text])
  assert.ok(performance.now() - beganAt < 1_000)
})
