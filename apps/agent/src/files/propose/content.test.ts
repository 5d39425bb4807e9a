import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountWriting, dateWriting, numberWriting, timeFormat } from './content.ts'

test('the format of dates and times is one that fits every text of a column', () => {
  const ruleOf = (hasTime: boolean, ...texts: string[]) => dateWriting(texts, hasTime)?.rule ?? null
  assert.deepEqual(ruleOf(false, '2026-03-04', '2026-12-31'), {})
  assert.deepEqual(ruleOf(false, '3/4/2026', '12/31/2026'), { format: 'M/D/YYYY' })
  assert.deepEqual(ruleOf(false, '3/4/2026', '31/12/2026'), { format: 'D/M/YYYY' })
  assert.deepEqual(ruleOf(false, '20260304'), { format: 'YYYYMMDD' })
  assert.deepEqual(ruleOf(false, '4-Sep-2026'), { format: 'D-MMM-YYYY' })
  assert.deepEqual(ruleOf(false, '4 Okt 2026', '5 Dez 2026'), { format: 'D MMM YYYY', language: 'de' })
  assert.deepEqual(ruleOf(false, '12/31/1999', '00/00/0000'), { format: 'M/D/YYYY', empty: ['00/00/0000'] })
  assert.deepEqual(ruleOf(true, '12/31/2026 1:10:05 PM'), { format: 'M/D/YYYY h:mm:ss A' })
  assert.deepEqual(ruleOf(true, '31.12.2026 13:10'), { format: 'D.M.YYYY H:mm' })
  assert.deepEqual(
    [ruleOf(false, 'soon', '2026-03-04'), ruleOf(false), ruleOf(false, '0000-00-00')],
    [null, null, null],
  )
  assert.match(dateWriting(['3/4/2026'], false)?.question ?? '', /^Is the month or the day first\?/)
  assert.deepEqual(dateWriting(['12/31/80'], false), {
    rule: { format: 'M/D/YY', pivot: new Date().getFullYear() % 100 },
    question: 'Which years of two digits are of this century? pivot is the last one.',
  })
  assert.deepEqual(
    [
      timeFormat(['9:30 AM', '12:00 p.m.']),
      timeFormat(['9:30:00 AM']),
      timeFormat(['09:30', '13:10']),
      timeFormat(['x']),
      timeFormat([]),
    ],
    ['h:mm A', 'h:mm:ss A', 'H:mm', null, null],
  )
})

test('the format of amounts and numbers fits every text, and what is not certain is a question', () => {
  assert.deepEqual(amountWriting(['1,234.50', '($2.00)']), { rule: {}, question: null })
  assert.deepEqual(amountWriting(['1.234,50', '2']), { rule: { decimal: ',' }, question: null })
  assert.deepEqual(amountWriting(['12.50 CR', '3.00 DR']), { rule: { minus: ['CR'], plus: ['DR'] }, question: null })
  assert.match(amountWriting(['4500', '-120'])?.question ?? '', /^No amount has decimals\./)
  assert.deepEqual([amountWriting(['x']), amountWriting([])], [null, null])
  assert.deepEqual([numberWriting(['30', '60'], 24)?.question, numberWriting(['1.5'], 24)], [null, null])
})
