import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../testing/test-agent.ts'
import { type ColumnRule, converter } from './convert.ts'
import { readMapping } from './mapping.ts'
import { readMappingFile } from './mapping-file.ts'
import type { Kind } from './schema-kind.ts'
import { oneDataset } from './testing/test-folder.ts'

const plan = { file: 'p.csv', key: 'No', attributes: { plan_name: 'Name' } }
const visit = { file: 'a.csv', key: 'No', attributes: { status: { constant: 'scheduled' } } }

test('every fault of a mapping is named with its path, and what is known instead', () => {
  const cases: readonly (readonly [document: unknown, expected: RegExp])[] = [
    [[], /^The mapping: must be a table\.$/],
    [{}, /^locations: must name at least one location/],
    [{}, /^datasets: must name at least one dataset\.$/],
    [
      oneDataset('pateints', plan),
      /^datasets\.pateints: unknown dataset\. .*patients.* Known datasets: fee_schedules, /,
    ],
    [
      oneDataset('insurance_plans', { ...plan, fiel: 'x' }),
      /^datasets\.insurance_plans\.fiel: unknown setting\. .* Known settings: .*file/,
    ],
    [oneDataset('insurance_plans', { key: 'No', attributes: {} }), /^datasets\.insurance_plans\.file: is missing\.$/],
    [oneDataset('insurance_plans', { ...plan, key: [] }), /\.key: must name the column/],
    [oneDataset('insurance_plans', { ...plan, file: '../p.csv' }), /\.file: must be inside the folder/],
    [oneDataset('insurance_plans', { ...plan, file: '/etc/passwd' }), /\.file: must be inside the folder/],
    [oneDataset('insurance_plans', { ...plan, delimiter: ';;' }), /\.delimiter: must be one character/],
    [
      oneDataset('insurance_plans', { ...plan, encoding: 'latin1' }),
      /\.encoding: must be one of utf-8, windows-1252\.$/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, attributes: {} }),
      /\.attributes\.plan_name: is missing; every record needs it\.$/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, attributes: { plan_nam: 'x', plan_name: 'y' } }),
      /\.plan_nam: unknown attribute\. .* Known attributes: .*plan_name/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, attributes: { plan_name: 5 } }),
      /\.plan_name: must be a column or a table\.$/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, attributes: { plan_name: { colum: 'x' } } }),
      /\.plan_name\.colum: unknown setting/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, attributes: { plan_name: 'x', renewal_month: { constant: 13 } } }),
      /\.renewal_month\.constant: must be a whole number from 1 to 12\.$/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, attributes: { plan_name: 'x', renewal_month: { constant: [] } } }),
      /\.renewal_month\.constant: must be a text, a number, true or false\.$/,
    ],
    [
      oneDataset('patients', { ...plan, attributes: { balance: 'Owes' } }),
      /\.attributes\.balance: must be a table of members\.$/,
    ],
    [
      oneDataset('appointments', { ...visit, attributes: { status: { column: 'S', values: { X: 'gone' } } } }),
      /\.status\.values\.X: must be one of scheduled/,
    ],
    [
      oneDataset('appointments', { ...visit, attributes: { status: { column: 'S', otherwise: 'scheduled' } } }),
      /\.status\.otherwise: needs "values" beside it\.$/,
    ],
    [
      oneDataset('appointments', {
        ...visit,
        attributes: { ...visit.attributes, starts_at: { column: 'S', format: 'MM/DD/YY' } },
      }),
      /\.starts_at\.format: has a year of two digits/,
    ],
    [
      oneDataset('appointments', {
        ...visit,
        attributes: { ...visit.attributes, starts_at: { column: 'S', format: 'hh:mm' } },
      }),
      /\.starts_at\.format: must name YYYY, MM \(or M\) and DD \(or D\)\.$/,
    ],
    ...(
      [
        ['starts_at', { format: 'YYYY-MM-DD-MM' }, /\.starts_at\.format: names a part twice\.$/],
        ['starts_at', { format: 'YYYY-MM-DD hh:mm' }, /\.starts_at\.format: needs A \(AM or PM\) beside hh or h\.$/],
        ['note', { decimal: ',' }, /\.note\.decimal: is only for amounts\.$/],
        ['note', { negate: true }, /\.note\.negate: is only for amounts\.$/],
        ['note', { separator: ';' }, /\.note\.separator: is only for lists\.$/],
        ['note', { empty: 5 }, /\.note\.empty: must be a list of texts\.$/],
      ] as const
    ).map(
      ([name, rule, expected]) =>
        [
          oneDataset('appointments', {
            ...visit,
            attributes: { ...visit.attributes, [name]: { column: 'S', ...rule } },
          }),
          expected,
        ] as const,
    ),
    [
      oneDataset('appointments', {
        ...visit,
        attributes: { ...visit.attributes, note: { column: 'S', format: 'YYYY' } },
      }),
      /\.note\.format: is only for dates and times\.$/,
    ],
    [
      oneDataset('insurance_plans', plan, { locations: { a: { name: 'A', time_zone: 'EST' } } }),
      /^locations\.a\.time_zone: must be a zone like America\/Chicago\.$/,
    ],
    [oneDataset('insurance_plans', plan, { locations: { a: {} } }), /^locations\.a\.name: is missing\.$/],
    [
      oneDataset('insurance_plans', plan, { locations: { a: { name: 'A' }, b: { name: 'B' } } }),
      /\.file: must say of which location/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, file: '{location}.csv', all_locations: true }),
      /\.file: names its locations in two ways/,
    ],
    [
      oneDataset(
        'appointments',
        { ...visit, attributes: { ...visit.attributes, starts_at: { column: 'S', format: 'YYYY-MM-DD HH:mm' } } },
        { locations: { a: { name: 'A' } } },
      ),
      /\.attributes: has times without an offset, so every location needs a time_zone/,
    ],
    [oneDataset('insurance_plans', plan, { ready_when: 'soon' }), /^ready_when: must be one of settled, marked\.$/],
    [oneDataset('insurance_plans', plan, { settle_seconds: -1 }), /^settle_seconds: must be a whole number/],
  ]
  for (const [document, expected] of cases) {
    const { faults } = readMapping(document, () => null)
    assert.ok(
      faults.some((fault) => expected.test(fault)),
      `${expected}: ${faults.join('\n')}`,
    )
  }
  assert.deepEqual(readMapping(oneDataset('insurance_plans', plan), () => null).faults, [])
})

test('a mapping file that is not TOML or JSON is refused by line and column', (t) => {
  const folder = temporaryFolder(t)
  const faultsOf = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    const read = readMappingFile(join(folder, name), () => null)
    return 'faults' in read ? read.faults.join('\n') : 'good'
  }
  assert.match(faultsOf('m.toml', 'a = 1\nb = = 2\n'), /m\.toml: line 2, column \d+: is not valid TOML/)
  assert.match(faultsOf('m.json', '{"a": }'), /m\.json: is not valid JSON/)
  assert.match(faultsOf('n.toml', 'settle_seconds = "x"\n'), /n\.toml: settle_seconds: must be a whole number/)
  const gone = readMappingFile(join(folder, 'none.toml'), () => null)
  assert.match('faults' in gone ? gone.faults.join() : '', /^The mapping .*none\.toml cannot be read \(ENOENT\)\.$/)
})

const column: ColumnRule = {
  column: 'C',
  values: null,
  otherwise: undefined,
  default: undefined,
  empty: [],
  format: null,
  decimal: '.',
  negate: false,
  separator: ',',
}
const convertedValue = (
  kind: Kind,
  text: string | string[],
  rule: Partial<ColumnRule> = {},
  timeZone: string | null = 'America/Chicago',
) => {
  const converted = converter(kind, { ...column, ...rule })(text, timeZone)
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
    '12-': 'refused',
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
  assert.equal(convertedValue(wall, '2026-07-01T09:30:00Z'), 'refused')
})

test('a value that does not fit is refused with the rule', () => {
  const [instant, wall] = [
    { kind: 'instant', isNullable: true },
    { kind: 'wall_time', isNullable: true },
  ] as const
  const faultOf = (kind: Kind, text: string, timeZone: string | null = 'America/Chicago') => {
    const converted = converter(kind, column)(text, timeZone)
    return 'fault' in converted ? converted.fault : 'good'
  }
  assert.equal(faultOf(instant, 'x'), 'must be a date and time that exist, like YYYY-MM-DDTHH:mm:ss')
  assert.equal(faultOf(instant, '1700-01-01T09:30:00'), 'must be a date and time that exist between 1880 and 2199')
  assert.equal(
    faultOf(instant, '2026-07-01T09:30:00', null),
    'needs the "time_zone" of its location, for its time has no offset',
  )
  assert.equal(faultOf(wall, '2026-07-01T09:30:00Z'), 'must be a time on the wall clock, without an offset')
  const chosen = converter(instant, { ...column, values: new Map([['A', '2026-07-01T14:30:00.000Z']]) })('B', null)
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
