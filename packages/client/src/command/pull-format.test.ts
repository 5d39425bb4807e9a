import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLine } from '@bridgework/contract/portal'
import { cellOf } from './pull-format.ts'

test('R10: --spreadsheet runs nothing that the service’s own files would not run, and leaves amounts as they are', () => {
  for (const begin of ['', '\n', '\r', '\t', ' ', '\u00a0', '\ufeff', '\0', 'a;', 'a\t', 'a\n', 'a; ', 'a;"']) {
    for (const sign of ['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
      const text = `${begin}${sign}cmd|' /C calc'!A0`
      const cell = cellOf(text, true)
      assert.equal(`${cell}\r\n`, csvLine([text]))
      assert.match(cell, /'["\s\u00a0\ufeff\0]*[=+\-@＝＋－＠]cmd/, JSON.stringify(cell))
    }
  }
  assert.equal(cellOf({ note: 'a;=1+1' }, true), `"{""note"":""a;'=1+1""}"`)
  for (const amount of ['-1.50', '7', '-3']) assert.equal(cellOf(amount, true), amount)
  assert.equal(cellOf('-1+1', true), "'-1+1")
  assert.equal(cellOf('=1+1', false), '=1+1')
})
