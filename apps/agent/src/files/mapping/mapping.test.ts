import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { oneDataset } from '../testing/test-folder.ts'
import { readMapping } from './mapping.ts'
import { readMappingFile } from './mapping-file.ts'

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
    [
      oneDataset('insurance_plans', { ...plan, delimiter: 'a' }),
      /\.delimiter: must be one to three characters, like "," or ";" or a tab, and no letter or digit\.$/,
    ],
    [oneDataset('insurance_plans', plan, { version: 3 }), /^version: must be 1 or 2\.$/],
    [
      oneDataset('insurance_plans', { ...plan, key: [5] }),
      /\.key: must be columns, or texts like \{ constant = "pay" \}\.$/,
    ],
    [
      oneDataset('insurance_plans', { files: [] }),
      /\.files: must be a list of tables: write \[\[datasets\.<name>\.files\]\] above each\.$/,
    ],
    [oneDataset('insurance_plans', { ...plan, files: [plan] }), /insurance_plans\.file: cannot stand beside files\.$/],
    [
      oneDataset('insurance_plans', { files: [{ ...plan, colour: 1 }] }),
      /^datasets\.insurance_plans\.files\[0\]\.colour: unknown setting/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, where: { column: 'A' } }),
      /\.where\.is: must be given, or is_not: one of them\.$/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, attributes: { plan_name: { column: 'A', lookup: 'names' } } }),
      /\.plan_name\.lookup: must be one of the tables below "lookups"\.$/,
    ],
    [
      oneDataset('appointments', {
        ...visit,
        attributes: { ...visit.attributes, patient_source_id: { key: ['A'], column: 'B' } },
      }),
      /\.patient_source_id\.column: cannot stand beside key\.$/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, file: '*/p.csv' }),
      /\.file: may have \* and a date in the name of the file alone, not in that of a folder\.$/,
    ],
    [oneDataset('insurance_plans', { ...plan, file: '{YYYYMMDD}{YYYYMMDD}.csv' }), /\.file: may have one date\.$/],
    [
      oneDataset('insurance_plans', { ...plan, file: 'p{YYYY}.csv' }),
      /\.file: has a date that must name YYYY, MM \(or M\) and DD \(or D\)\.$/,
    ],
    [
      oneDataset('insurance_plans', { ...plan, encoding: 'cp037' }),
      /\.encoding: must be a label of the Encoding Standard, like utf-8, utf-16le or windows-1252, or cp437 or cp850\.$/,
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
      /\.starts_at\.format: has a year of two digits: say with "pivot" which is the last one of this century, or write YYYY\.$/,
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
        ['note', { multiply: 10 }, /\.note\.multiply: is only for whole numbers\.$/],
        ['note', { pivot: 30 }, /\.note\.pivot: is only for dates and times\.$/],
        ['note', { column: [] }, /\.note\.column: must name a column, or several\.$/],
        ['note', { split: ',' }, /\.note\.split: needs "part" beside it: 1 for the first part, -1 for the last\.$/],
        ['starts_at', { language: 'x-' }, /\.starts_at\.language: must be a language like en or de\.$/],
        [
          'scheduled_production',
          { debit: 'D' },
          /\.scheduled_production\.column: cannot stand beside debit and credit\.$/,
        ],
        ['scheduled_production', { scale: 3 }, /\.scheduled_production\.scale: must be a whole number from 0 to 2\.$/],
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
