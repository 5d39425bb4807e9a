import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPractice, demoShape, livingPractice, simulatedDatasets } from '@bridgework/practice-simulator'
import { served, withoutNotes } from '../demo/testing/test-agent.ts'
import { type ExportShape, exportOf } from './testing/test-exports.ts'
import { oneDataset, someFolder } from './testing/test-folder.ts'

const germanDay = (day: string) => day.split('-').toReversed().join('.')
const germanMoney = (amount: string) => {
  const [, sign = '', whole = '', cents = ''] = /^(-?)(\d+)\.(\d\d)$/.exec(amount) ?? []
  return `${sign}${whole.replaceAll(/\B(?=(\d{3})+$)/g, '.')},${cents}`
}

const clean: ExportShape = {
  extension: 'csv',
  delimiter: ',',
  lineEnd: '\n',
  encode: (text) => Buffer.from(text),
  nothing: '',
  settings: {},
  money: { text: (amount) => amount, rule: {} },
  day: { text: (day) => day, rule: {} },
  wallTime: { texts: (local) => [local], rule: {} },
  minutesPerUnit: 1,
  amount: null,
  ledgers: [],
}

const shapes: Readonly<Record<string, ExportShape>> = {
  'clean CSV': clean,
  'German files with semicolons, debit and credit': {
    ...clean,
    delimiter: ';',
    lineEnd: '\r\n',
    encode: (text) => {
      const bytes = Buffer.from(text, 'latin1')
      assert.equal(bytes.toString('latin1'), text)
      return bytes
    },
    settings: { delimiter: ';', encoding: 'windows-1252' },
    money: { text: germanMoney, rule: { decimal: ',' } },
    day: { text: germanDay, rule: { format: 'DD.MM.YYYY' } },
    wallTime: {
      texts: (local) => [germanDay(local.slice(0, 10)), local.slice(11)],
      rule: { format: 'DD.MM.YYYY HH:mm:ss' },
    },
    amount: {
      columns: ['Soll', 'Haben'],
      texts: (amount) => (amount.startsWith('-') ? ['', germanMoney(amount.slice(1))] : [germanMoney(amount), '']),
      rule: { debit: 'Soll', credit: 'Haben', decimal: ',' },
    },
  },
  'tab files in UTF-16 with cents, units and three ledgers': {
    ...clean,
    extension: 'txt',
    delimiter: '\t',
    lineEnd: '\r\n',
    encode: (text) => Buffer.from(text, 'utf16le'),
    nothing: 'NULL',
    settings: { delimiter: '\t', null_words: ['NULL'] },
    money: { text: (amount) => amount.replace('.', ''), rule: { scale: 2 } },
    day: { text: (day) => day.replaceAll('-', ''), rule: { format: 'YYYYMMDD' } },
    minutesPerUnit: 5,
    ledgers: [
      { name: 'charges', types: ['charge'], negate: false },
      { name: 'payments', types: ['patient_payment', 'insurance_payment'], negate: true },
      { name: 'others', types: ['adjustment', 'write_off', 'refund', 'transfer', 'payment_plan'], negate: false },
    ],
  },
}

for (const [name, shape] of Object.entries(shapes)) {
  test(`a practice that lives, exported as ${name}: every record arrives equal, with changes and removals`, async (t) => {
    const locations = [16, 8].map((n) => ({ insurancePlans: n, feeSchedules: 3, patients: n }))
    const living = livingPractice(createPractice({ ...demoShape(`export ${name}`), locations, years: 0.5 }))
    const world = await someFolder(t, oneDataset('patients', {}))
    const gone = new Set<string>()
    let before = new Set<string>()
    for (let round = 0; round < 6; round++) {
      const { files, mapping } = exportOf(living.practice, shape)
      world.setMapping(mapping)
      for (const [file, content] of files) world.write(file, content)
      assert.equal(await world.run(), 'complete', JSON.stringify(world.named('dataset.failed')))
      await world.server.confirmRemovals()
      const visible = await served(world.server)
      const truth = living.truth()
      const present = new Set<string>()
      for (const dataset of simulatedDatasets) {
        for (const [location, records] of truth.get(dataset) ?? []) {
          const expected = withoutNotes(dataset, records)
          assert.deepEqual(visible(dataset, location, expected), expected, `${dataset} of location ${location}`)
          for (const { source_id } of records) present.add(`${dataset}/${location}/${source_id}`)
        }
      }
      const filled = new Set([...present].map((key) => key.split('/')[0]))
      assert.deepEqual(filled, new Set(simulatedDatasets), 'something of each dataset')
      for (const key of before) if (!present.has(key)) gone.add(key)
      before = present
      for (let event = 0; event < 40; event++) living.moveOn()
    }
    assert.ok(gone.size > 0, 'something was removed')
  })
}
