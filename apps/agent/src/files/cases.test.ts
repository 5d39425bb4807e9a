import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMapping } from './mapping/mapping.ts'
import { oneDataset, someFolder } from './testing/test-folder.ts'

// Small exports as offices have them, each with what must come out. Others are tested beside their subject: settle, keys and profile.

const named = {
  file: 'patients.csv',
  key: 'Id',
  attributes: { first_name: 'First', last_name: 'Last', status: { constant: 'active' } },
}
const nameOf = (record: Record<string, unknown> | undefined) => `${record?.first_name} ${record?.last_name}`

test('files-date-and-time: a day and a time in two columns are one time', async (t) => {
  const time = { column: ['Appt Date', 'Appt Time'], format: 'M/D/YYYY h:mm A' }
  const world = await someFolder(
    t,
    oneDataset('appointments', {
      file: 'appointments.csv',
      key: 'Appt Id',
      attributes: {
        status: { column: 'Status', values: { Confirmed: 'confirmed' }, otherwise: 'scheduled' },
        starts_at: time,
        local_starts_at: time,
        duration_minutes: 'Length',
      },
    }),
  )
  world.write(
    'appointments.csv',
    'Appt Id,Appt Date,Appt Time,Length,Status\n501,11/30/2026,9:30 AM,40,Confirmed\n502,11/30/2026,1:10 PM,60,\n',
  )
  assert.equal(await world.run(), 'complete')
  const visits = world.visible('main', 'appointments')
  assert.deepEqual(
    ['501', '502'].map((key) => [visits.get(key)?.starts_at, visits.get(key)?.local_starts_at]),
    [
      ['2026-11-30T15:30:00.000Z', '2026-11-30T09:30:00'],
      ['2026-11-30T19:10:00.000Z', '2026-11-30T13:10:00'],
    ],
  )
})

test('files-fixed-width: columns have places in the line, and a line that ends too early is refused', async (t) => {
  const positions = { Last: '7-14', Id: '1-4', First: '15-20', Sex: '21' }
  const fixed = { ...named, file: 'patients.txt', encoding: 'cp850', positions, attributes: { ...named.attributes } }
  const settings = { skip_lines: 1, skip_starting: ['Total'] }
  const world = await someFolder(t, oneDataset('patients', { ...fixed, ...settings }))
  const line = (id: string, last: string, first: string, sex: string) =>
    `${id.padEnd(4)}  ${last.padEnd(8)}${first.padEnd(6)}${sex}\r\n`
  const text = (...lines: string[]) =>
    Buffer.from(['List of patients\r\n', ...lines].join('').replaceAll('ü', '\x81'), 'latin1')
  world.write(
    'patients.txt',
    text(line('1', 'Müller"', 'Ada', 'F'), '\r\n', line('22', 'Ro,ok', 'Ben', ''), 'Total 2\r\n'),
  )
  assert.equal(await world.run(), 'incomplete')
  assert.match(
    world.named('dataset.failed')[0]?.what ?? '',
    /patients\.txt, line 4: has 3 fields, and the header has 4\./,
    'blanks at the end were cut off',
  )
  world.setMapping(oneDataset('patients', { ...fixed, ...settings, short_rows: 'fill' }))
  assert.equal(await world.run(), 'complete', JSON.stringify(world.events))
  const patients = world.visible('main', 'patients')
  assert.deepEqual([...patients.keys()], ['1', '22'])
  assert.deepEqual([nameOf(patients.get('1')), nameOf(patients.get('22'))], ['Ada Müller"', 'Ben Ro,ok'])

  const wrong = oneDataset('patients', { ...fixed, delimiter: ';', positions: { ...positions, Id: '4-1' } })
  const { faults } = readMapping(wrong, () => 'UTC')
  assert.deepEqual(faults, [
    'datasets.patients.delimiter: cannot stand beside positions.',
    'datasets.patients.positions.Id: must be the first and the last character of the column, counted from 1, like "9-28".',
  ])
})

test('files-dated-names: of several files with dated names the newest is read, and a pattern that no file fits is an error', async (t) => {
  const world = await someFolder(t, oneDataset('patients', { ...named, file: 'Patients_*.csv' }))
  assert.equal(await world.run(), 'incomplete')
  assert.match(world.named('dataset.failed')[0]?.what ?? '', /^No file fits the name Patients_\*\.csv in .*exports\.$/)
  world.write('Patients_20261124.csv', 'Id,First,Last\n1,Ada,Quill\n', 3_600_000)
  world.write('Patients_20261125.csv', 'Id,First,Last\n1,Ada,Quill\n2,Ben,Rook\n')
  assert.equal(await world.run(), 'complete')
  assert.equal(world.visible('main', 'patients').size, 2)

  // The day before, put back with another content and a newer time, is not read.
  world.write('Patients_20261124.csv', 'Id,First,Last\n3,Cal,Stone\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    world.named('dataset.reading').map(({ rows }) => rows),
    [0],
  )
  world.write('Patients_20261126.csv', 'Id,First,Last\n2,Ben,Reed\n')
  assert.equal(await world.run(), 'complete')
  assert.equal(nameOf(world.visible('main', 'patients').get('2')), 'Ben Reed')
  const { findings } = await world.connector().check()
  assert.ok(findings.some(({ what }) => what === 'patients: 1 records in Patients_20261126.csv.'))
})

test('files-stray-quotes: with skip_line a line with stray quotation marks is left out alone, or quotes are text', async (t) => {
  const mapping = {
    ...named,
    on_bad_line: 'skip_line',
    attributes: { ...named.attributes, preferred_name: 'Nick' },
  }
  const world = await someFolder(t, oneDataset('patients', mapping))
  const lines = [
    'Id,First,Last,Nick',
    '1,Ada,Quill,',
    '2,Ben "Benny",Rook,B',
    '3,"Cal \\"Ace\\"",Stone,',
    '4,"Dee","Moss","D"',
  ]
  world.write('patients.csv', `${lines.join('\n')}\n`)
  assert.equal(await world.run(), 'complete')
  assert.deepEqual([...world.visible('main', 'patients').keys()], ['1', '4'])
  const { what } = world.named('dataset.advice')[0] ?? { what: '' }
  assert.match(
    what,
    /^2 lines were skipped, so no record is removed\. patients\.csv, line 3: .* patients\.csv, line 4: /,
  )

  world.setMapping(oneDataset('patients', { ...mapping, quotes: 'backslash' }))
  assert.equal(await world.run(), 'complete')
  assert.equal(nameOf(world.visible('main', 'patients').get('3')), 'Cal "Ace" Stone')
  assert.match(world.named('dataset.advice')[0]?.what ?? '', /^1 lines were skipped/)
  world.setMapping(oneDataset('patients', { ...mapping, quotes: 'text' }))
  assert.equal(await world.run(), 'complete')
  const quoted = world.visible('main', 'patients')
  assert.deepEqual([nameOf(quoted.get('2')), nameOf(quoted.get('4'))], ['Ben "Benny" Rook', '"Dee" "Moss"'])

  // Held, as the other setting says.
  world.setMapping(oneDataset('patients', { ...mapping, on_bad_line: 'refuse_file' }))
  assert.equal(await world.run(), 'incomplete')
  assert.match(world.named('dataset.failed')[0]?.what ?? '', /line 3: .*line 4: /)
})

test('files-trailing-delimiter: an empty field after the last column is ignored', async (t) => {
  const world = await someFolder(t, oneDataset('patients', named))
  world.write('patients.csv', 'Id,First,Last\n1,Ada,Quill,\n2,Ben,Rook,\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual([...world.visible('main', 'patients').values()].map(nameOf), ['Ada Quill', 'Ben Rook'])
  world.write('patients.csv', 'Id,First,Last,\n1,Ada,Stone,\n2,Ben,Rook\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual([...world.visible('main', 'patients').values()].map(nameOf), ['Ada Stone', 'Ben Rook'])
  world.write('patients.csv', 'Id,First,Last\n1,Ada,Quill,x\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(world.named('dataset.failed')[0]?.what ?? '', /line 2: has 4 fields, and the header has 3\./)
})

test('files-trailing-minus: amounts with their sign behind, before, in words or as parentheses', async (t) => {
  const attributes = { ...named.attributes, balance: { total: { column: 'Balance', minus: ['CR'] } } }
  const world = await someFolder(t, oneDataset('patients', { ...named, on_bad_line: 'skip_line', attributes }))
  const amounts = ['45.00-', '12.50 CR', '-$45.00', '$-45.00', '($45.00)', '45.0000', '1.234E+03']
  world.write(
    'patients.csv',
    `Id,First,Last,Balance\n${amounts.map((each, index) => `${index},A,B,${each}\n`).join('')}`,
  )
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    [...world.visible('main', 'patients').values()].map((patient) => (patient.balance as { total: string }).total),
    ['-45.00', '-12.50', '-45.00', '-45.00', '-45.00', '45.00'],
  )
  assert.match(world.named('dataset.advice')[0]?.what ?? '', /line 8, column "Balance": must be an amount/)
})

test('files-utf16-without-mark: UTF-16 is read with and without a mark, in both orders', async (t) => {
  const world = await someFolder(t, oneDataset('patients', named))
  const little = (text: string) => Buffer.from(text, 'utf16le')
  const big = (text: string) => little(text).swap16()
  for (const [index, encode] of [little, big].entries()) {
    for (const mark of ['', '\ufeff']) {
      const last = `Qüill${index}${mark.length}`
      world.write('patients.csv', encode(`${mark}Id,First,Last\r\n1,Ada,${last}\r\n`))
      assert.equal(await world.run(), 'complete', JSON.stringify(world.events))
      assert.equal(nameOf(world.visible('main', 'patients').get('1')), `Ada ${last}`)
    }
  }
})
