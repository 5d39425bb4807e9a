import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../mapping/schema-kind.ts'
import { type ColumnRule, converter, plainRule } from './convert.ts'

const convertedValue = (
  kind: Kind,
  text: string | string[],
  rule: Partial<ColumnRule> = {},
  timeZone: string | null = 'America/Chicago',
) => {
  const converted = converter(kind, { ...plainRule, ...rule })([text], timeZone)
  return 'value' in converted ? converted.value : 'refused'
}

test('amounts, as offices write them', () => {
  const money = { kind: 'money', isNullable: true } as const
  for (const [text, value] of Object.entries({
    '12': '12.00',
    '12.5': '12.50',
    '1,234.50': '1234.50',
    '$1,234.50': '1234.50',
    '-$12.00': '-12.00',
    '(12.00)': '-12.00',
    '12.3400': '12.34',
    '.5': '0.50',
    '0012': '12.00',
    '-0.00': '0.00',
    '': null,
    '12.345': 'refused',
    '1,23': 'refused',
    '1.234,50': 'refused',
    '12-': '-12.00',
    '-12-': 'refused',
    '(12.00)-': 'refused',
    '$-45.00': '-45.00',
    '45.00 €': '45.00',
    '\u221212': '-12.00',
    '+12': '12.00',
    '12.50 CR': 'refused',
    '1.234E+03': 'refused',
    '5.': 'refused',
    '1e3': 'refused',
    $: 'refused',
    '99999999999999': 'refused',
  })) {
    assert.equal(convertedValue(money, text), value, text)
  }
  assert.equal(convertedValue(money, '1.234,50', { decimal: ',' }), '1234.50')
  assert.deepEqual(
    [convertedValue(money, '5', { negate: true }), convertedValue(money, '-5', { negate: true })],
    ['-5.00', '5.00'],
  )
})

test('numbers of a spreadsheet are days since 1899, with its 29 February 1900', () => {
  const [date, wall] = [
    { kind: 'date', isNullable: true },
    { kind: 'wall_time', isNullable: true },
  ] as const
  for (const [text, value] of Object.entries({
    '1': '1900-01-01',
    '59': '1900-02-28',
    '60': 'refused',
    '61': '1900-03-01',
    '3687': '1910-02-03',
    '29221.0': '1980-01-01',
    '38749': '2006-02-01',
    '46356': '2026-11-30',
    '2958465': '9999-12-31',
    '2958466': 'refused',
    '0': 'refused',
    '-1': 'refused',
    '46356.': 'refused',
    '30.11.2026': 'refused',
    '': null,
  }))
    assert.equal(convertedValue(date, text, { format: 'excel' }), value, text)
  for (const [text, value] of Object.entries({
    '46356': '2026-11-30T00:00:00',
    '46356.395833333336': '2026-11-30T09:30:00',
    '46356,5': '2026-11-30T12:00:00',
    '46356.999999999': '2026-12-01T00:00:00',
    '0.5': 'refused',
  }))
    assert.equal(convertedValue(wall, text, { format: 'excel' }), value, text)
  assert.deepEqual(converter(date, { ...plainRule, format: 'excel' })(['30.11.2026'], null), {
    fault: 'must be a date that exists, as the number of a spreadsheet, like 46356',
  })
})

test('dates and times, by format, on the location’s wall clock', () => {
  const [date, instant, wall] = [
    { kind: 'date', isNullable: true },
    { kind: 'instant', isNullable: true },
    { kind: 'wall_time', isNullable: true },
  ] as const
  assert.equal(convertedValue(date, '2/29/2024', { format: 'M/D/YYYY' }), '2024-02-29')
  assert.equal(convertedValue(date, '2/30/2024', { format: 'M/D/YYYY' }), 'refused')
  assert.equal(convertedValue(date, '2024-02-29 00:00:00'), '2024-02-29')
  assert.equal(convertedValue(date, '29.02.2024', { format: 'DD.MM.YYYY' }), '2024-02-29')
  assert.equal(convertedValue(date, '29x02x2024', { format: 'DD.MM.YYYY' }), 'refused')
  assert.equal(convertedValue(date, '00/00/0000', { format: 'MM/DD/YYYY', empty: ['00/00/0000'] }), null)
  assert.equal(convertedValue(instant, '2026-07-01T09:30:00'), '2026-07-01T14:30:00.000Z')
  assert.equal(convertedValue(instant, '2026-07-01T09:30:00+02:00'), '2026-07-01T07:30:00.000Z')
  assert.equal(convertedValue(instant, '2026-07-01 09:30:15.123Z'), '2026-07-01T09:30:15.000Z')
  assert.equal(convertedValue(instant, '7/1/2026 12:05 AM', { format: 'M/D/YYYY h:mm A' }), '2026-07-01T05:05:00.000Z')
  assert.equal(
    convertedValue(instant, '7/1/2026 12:05 p.m.', { format: 'M/D/YYYY h:mm A' }),
    '2026-07-01T17:05:00.000Z',
  )
  assert.equal(convertedValue(instant, '2026-07-01T24:00:00'), 'refused')
  assert.equal(convertedValue(instant, '2026-07-01T09:30:00', {}, null), 'refused')
  assert.equal(convertedValue(wall, '2026-07-01 09:30'), '2026-07-01T09:30:00')
  assert.equal(convertedValue(wall, '2026-07-01T14:30:00Z'), '2026-07-01T09:30:00')
})

test('a value that does not fit is refused with the rule', () => {
  const [instant, wall] = [
    { kind: 'instant', isNullable: true },
    { kind: 'wall_time', isNullable: true },
  ] as const
  const faultOf = (kind: Kind, text: string, timeZone: string | null = 'America/Chicago') => {
    const converted = converter(kind, plainRule)([text], timeZone)
    return 'fault' in converted ? converted.fault : 'good'
  }
  assert.equal(faultOf(instant, 'x'), 'must be a date and time that exist, like YYYY-MM-DDTHH:mm:ss')
  assert.equal(faultOf(instant, '1700-01-01T09:30:00'), 'must be a date and time that exist between 1880 and 2199')
  assert.equal(
    faultOf(instant, '2026-07-01T09:30:00', null),
    'needs the "time_zone" of its location, for its time has no offset',
  )
  assert.equal(
    faultOf(wall, '2026-07-01T09:30:00Z', null),
    'needs the "time_zone" of its location, for its time has an offset',
  )
  const chosen = converter(instant, { ...plainRule, values: new Map([['A', '2026-07-01T14:30:00.000Z']]) })(['B'], null)
  assert.deepEqual(chosen, { fault: 'must be one of the texts in "values": A' })
  assert.equal(
    faultOf({ kind: 'boolean', isNullable: false }, 'maybe'),
    'must be yes or no, true or false, 1 or 0; map others with "values"',
  )
  assert.equal(
    faultOf({ kind: 'object', isNullable: true, members: new Map() }, 'x'),
    'must be mapped member by member',
  )
})

test('yes and no, whole numbers, lists and texts', () => {
  const boolean = { kind: 'boolean', isNullable: false } as const
  assert.deepEqual(
    ['Y', 'no', '1', 'TRUE', '', 'maybe'].map((text) => convertedValue(boolean, text)),
    [true, false, true, true, false, 'refused'],
  )
  const integer = { kind: 'integer', isNullable: false, least: 1, most: 40 } as const
  assert.deepEqual(
    ['7', '7.0', '41', '7.5', '', 'x'].map((text) => convertedValue(integer, text)),
    [7, 7, 'refused', 'refused', 'refused', 'refused'],
  )
  assert.equal(convertedValue(integer, '', { default: 1 }), 1)
  const list = { kind: 'list', isNullable: false } as const
  assert.deepEqual(convertedValue(list, ' 3; 4 ;', { separator: ';' }), ['3', '4'])
  assert.deepEqual(convertedValue(list, ['3\u0000', '4']), ['3', '4'])
  const text = { kind: 'text', isNullable: true, lengthMax: 5, lengthMin: 0 } as const
  assert.deepEqual(
    ['  ab ', '', 'abcdef', 'a\u0000b'].map((each) => convertedValue(text, each)),
    ['ab', null, 'refused', 'ab'],
  )
})

test('amounts in cents, with words for their sign, and owed and paid in two columns', () => {
  const money = { kind: 'money', isNullable: true } as const
  const cents = { scale: 2 }
  assert.deepEqual(
    ['12345', '5', '-5', '5-', '123.45', '', '0'].map((text) => convertedValue(money, text, cents)),
    ['123.45', '0.05', '-0.05', '-0.05', 'refused', null, '0.00'],
  )
  assert.equal(convertedValue(money, '12345', { scale: 1 }), '1234.50')
  const words = { minus: ['CR'], plus: ['DR'] }
  assert.deepEqual(
    ['12.50 CR', '12.50cr', 'CR 12.50', '12.50 DR', '12.50', '-12.50 CR', 'CR'].map((text) =>
      convertedValue(money, text, words),
    ),
    ['-12.50', '-12.50', '-12.50', '12.50', '12.50', 'refused', 'refused'],
  )
  const both = (debit: string, credit: string, more: Partial<ColumnRule> = {}) => {
    const rule = { ...plainRule, columns: ['Soll', 'Haben'], isDebitAndCredit: true, decimal: ',' as const, ...more }
    const converted = converter(money, rule)([debit, credit], null)
    return 'value' in converted ? converted.value : converted.fault
  }
  assert.deepEqual(
    [
      both('1.234,50', ''),
      both('', '36,05'),
      both('100,00', '0,01'),
      both('', ''),
      both('0,05', '0,05'),
      both('', '5', { negate: true }),
    ],
    ['1234.50', '-36.05', '99.99', null, '0.00', '5.00'],
  )
  assert.match(String(both('x', '1')), /must be an amount/)
  assert.match(String(both('1', 'x')), /must be an amount/)
})

test('an instant in a date column is the day at the location, unless its offset means nothing', () => {
  const date = { kind: 'date', isNullable: true } as const
  assert.equal(convertedValue(date, '1980-03-04T14:00:00Z', {}, 'Australia/Sydney'), '1980-03-05')
  // Summer time had ended two days before, and Windows did not know.
  assert.equal(convertedValue(date, '1980-03-04T13:00:00Z', {}, 'Australia/Sydney'), '1980-03-05')
  assert.equal(convertedValue(date, '1980-03-04T13:00:01Z', {}, 'Australia/Sydney'), '1980-03-04')
  assert.equal(convertedValue(date, '1980-03-05T00:00:00Z'), '1980-03-04')
  assert.equal(convertedValue(date, '1980-03-05T00:00:00Z', { ignoreOffset: true }), '1980-03-05')
  assert.equal(convertedValue(date, '1980-03-05T00:00:00Z', {}, null), 'refused')
  assert.equal(convertedValue(date, '03/05/1980 +02:00', { format: 'MM/DD/YYYY Z' }), '1980-03-04')
})

test('dates with the names of months, and years of two digits', () => {
  const date = { kind: 'date', isNullable: true } as const
  const said = (texts: string[], rule: Partial<ColumnRule>) => texts.map((text) => convertedValue(date, text, rule))
  assert.deepEqual(
    said(['4 Mar 1980', '4 march 1980', '4 Sept 1980', '4 Ma 1980', '4 Foo 1980', '31 Jun 1980'], {
      format: 'D MMM YYYY',
    }),
    ['1980-03-04', '1980-03-04', '1980-09-04', 'refused', 'refused', 'refused'],
  )
  assert.deepEqual(said(['4. März 1980', '04. Okt. 1980', '4. Mai 1980'], { format: 'D. MMM YYYY', language: 'de' }), [
    '1980-03-04',
    '1980-10-04',
    '1980-05-04',
  ])
  assert.deepEqual(said(['03/04/26', '03/04/27', '03/04/00', '03/04/1980'], { format: 'MM/DD/YY', pivot: 26 }), [
    '2026-03-04',
    '1927-03-04',
    '2000-03-04',
    'refused',
  ])
})

test('a text from several columns, or a part of one', () => {
  const text = { kind: 'text', isNullable: true, lengthMax: 50, lengthMin: 0 } as const
  const instant = { kind: 'instant', isNullable: true } as const
  const of = (kind: Kind, cells: (string | null)[], rule: Partial<ColumnRule>) => {
    const converted = converter(kind, { ...plainRule, ...rule })(cells, 'America/Chicago')
    return 'value' in converted ? converted.value : converted.fault
  }
  const format = { format: 'M/D/YYYY h:mm A' }
  assert.equal(of(instant, ['11/30/2026', '9:30 AM'], format), '2026-11-30T15:30:00.000Z')
  assert.match(String(of(instant, ['11/30/2026', ''], format)), /^must be a date and time that exist/)
  assert.equal(of(instant, ['', null], format), null)
  assert.equal(of(text, [' Ada', null, 'Quill '], { join: '-' }), 'Ada-Quill')
  const name = (part: number) => of(text, ['Quill, Ada Mary'], { split: { at: ',', part } })
  assert.deepEqual([name(1), name(2), name(3), name(-1)], ['Quill', 'Ada Mary', null, 'Ada Mary'])
})

test('a number of units is as many minutes', () => {
  const minutes = { kind: 'integer', isNullable: true, least: 0, most: 1000 } as const
  assert.deepEqual(
    ['4', '4.0', '101', '4.5'].map((text) => convertedValue(minutes, text, { multiply: 10 })),
    [40, 40, 'refused', 'refused'],
  )
})

test('a code stands for what a look-up file says', () => {
  const text = { kind: 'text', isNullable: true, lengthMax: 50, lengthMin: 0 } as const
  const money = { kind: 'money', isNullable: true } as const
  const names = new Map([['7', 'Dr. Sample']])
  const lookup = { name: 'providers', find: (code: string) => names.get(code) }
  const of = (code: string, more: Partial<ColumnRule> = {}) => {
    const converted = converter(text, { ...plainRule, lookup, ...more })([code], null)
    return 'value' in converted ? converted.value : converted.fault
  }
  assert.deepEqual(
    [of('7'), of(''), of('8'), of('8', { otherwise: 'Unknown' })],
    ['Dr. Sample', null, 'must be a code of the look-up file "providers"', 'Unknown'],
  )
  assert.deepEqual(converter(money, { ...plainRule, scale: 2 })(['1.50'], null), {
    fault: 'must be digits alone, the last 2 of which are decimals',
  })
})
