import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { csvLine } from '@bridgework/contract/portal'
import type { Context } from '../context.ts'
import { cellOf, openSink } from './pull-format.ts'

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

test('X04: a page is written as it is before the memory of its lines is used again, however slow the reader', async () => {
  let written = ''
  const slow = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      void sleep(5).then(() => {
        written += chunk.toString()
        done()
      })
    },
  })
  const options = { dataset: 'insurance_plans', fields: [], isForSpreadsheet: false } as const
  // Of a stream, a sink uses `write` alone.
  const sink = await openSink('ndjson', options, undefined, slow as unknown as Context['stdout'])
  assert.ok(sink.takes === 'bytes')
  const pages = Array.from({ length: 5 }, (_, page) => [`{"id":"${page}1"}`, `{"id":"${page}2"}`])
  for (const page of pages)
    await sink.write(
      '7',
      page.map((record) => Buffer.from(record)),
    )
  assert.equal(
    written,
    pages.flatMap((page) => page.map((record) => `{"location_id":"7",${record.slice(1)}\n`)).join(''),
  )
})
