import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printFindings } from '../check.ts'
import { oneDataset, someFolder } from './testing/test-folder.ts'

type World = Awaited<ReturnType<typeof someFolder>>

const patients = {
  file: 'patients.csv',
  key: 'Id',
  attributes: { last_name: 'Last', status: { constant: 'active' }, balance: { total: 'Balance' } },
}
const visits = {
  file: 'visits.csv',
  key: 'No',
  attributes: {
    patient_source_id: 'Pat',
    status: 'Status',
    starts_at: { column: 'Start', format: 'M/D/YYYY H:mm' },
    local_starts_at: { column: 'Start', format: 'M/D/YYYY H:mm' },
    duration_minutes: 'Min',
  },
}
const both = (more: object = {}) => ({
  ...oneDataset('patients', patients),
  datasets: { patients, appointments: { ...visits, ...more } },
})

function writeBoth(world: World, patientRows: readonly string[], visitRows: readonly string[]): void {
  const write = (name: string, ...lines: string[]) => world.write(name, `${lines.join('\n')}\n`)
  write('patients.csv', 'Id,Last,Balance', ...patientRows)
  write('visits.csv', 'No,Pat,Status,Start,Min', ...visitRows)
}

/** What is not good, as "outcome: what / todo". */
async function said(world: World): Promise<string[]> {
  // Each check is a process of its own.
  world.restart()
  const { findings } = await world.connector().check()
  return findings.flatMap(({ outcome, what, todo }) => (outcome === 'good' ? [] : [`${outcome}: ${what} / ${todo}`]))
}

async function detailsOf(world: World, dataset: string) {
  const { findings } = await world.connector().check()
  return findings.find(({ what }) => what.startsWith(`${dataset}: `) && what.includes(' records in '))?.details ?? []
}

test('files-leading-zeros: check says how many references find no record', async (t) => {
  const world = await someFolder(t, both())
  const visitRows = ['1,123,scheduled,11/30/2026 9:30,30', '2,124,scheduled,11/30/2026 10:30,30']
  writeBoth(world, ['000123,Quill,1.50', '000124,Rook,'], visitRows)
  const todo =
    'Compare the keys of both files: leading zeros count. Put a key that stands for nothing, like 0, into "empty".'
  assert.deepEqual(await said(world), [`wrong: appointments: 2 of 2 patient_source_id find no patient. / ${todo}`])
  world.write('patients.csv', 'Id,Last,Balance\n123,Quill,1.50\n000124,Rook,\n')
  assert.deepEqual(await said(world), [`advice: appointments: 1 of 2 patient_source_id find no patient. / ${todo}`])
  world.write('patients.csv', 'Id,Last,Balance\n123,Quill,1.50\n124,Rook,\n')
  assert.deepEqual(await said(world), [])
  world.restart()
  const { findings } = await world.connector().check()
  assert.ok(findings.some(({ what }) => what === 'appointments: all 2 patient_source_id find their patient.'))
  world.setMapping(oneDataset('appointments', visits))
  assert.deepEqual(await said(world), [
    'advice: appointments: patient_source_id names records of patients, which the mapping leaves out: vendors receive null. / Map patients if the system can export it.',
    'advice: The mapping does not read these files of the folder: patients.csv. / Map them if they hold records, like payments or adjustments of the ledger.',
  ])
})

test('check asks about amounts in cents, lengths in units, visits at midnight and days that move', async (t) => {
  const world = await someFolder(t, both())
  const visitRows = ['1,1,scheduled,11/30/2026 0:00,4', '2,2,completed,12/1/2026 0:00,8']
  writeBoth(world, ['1,Quill,4500', '2,Rook,-120'], visitRows)
  const midnight = (attribute: string) =>
    `advice: appointments: every visit is at midnight in ${attribute}. Is the time of day in a column of its own? / If it is, join both: column = ["Date", "Time"].`
  assert.deepEqual(await said(world), [
    'advice: patients: no amount of balance.total has decimals. Are they in cents? / If they are, set scale = 2; if they are whole, there is nothing to do.',
    midnight('starts_at'),
    midnight('local_starts_at'),
    'advice: appointments: no visit is longer than 24 minutes. Are the lengths in units of several minutes? / If they are, set multiply to the minutes of one unit.',
  ])

  // As the answers say, check asks nothing more.
  const time = { column: ['Day', 'Time'], format: 'M/D/YYYY H:mm' }
  const attributes = {
    ...visits.attributes,
    starts_at: time,
    local_starts_at: time,
    duration_minutes: { column: 'Min', multiply: 10 },
  }
  const cents = {
    ...patients,
    attributes: { ...patients.attributes, balance: { total: { column: 'Balance', scale: 2 } } },
  }
  world.setMapping({ ...both(), datasets: { patients: cents, appointments: { ...visits, attributes } } })
  world.write(
    'visits.csv',
    'No,Pat,Status,Day,Time,Min\n1,1,scheduled,11/30/2026,0:00,4\n2,2,completed,12/1/2026,9:30,8\n',
  )
  assert.deepEqual(await said(world), [])

  const born = (rule: object) =>
    oneDataset('patients', { ...patients, attributes: { status: { constant: 'active' }, date_of_birth: rule } })
  world.write('patients.csv', 'Id,Last,DOB\n1,Quill,1980-03-04T00:00:00Z\n2,Rook,\n')
  world.write('visits.csv', '')
  world.setMapping(born({ column: 'DOB' }))
  assert.equal(
    (await said(world))[0],
    'advice: patients: 1 of 1 of date_of_birth are another day in the time zone of the location than in the file. / If the file means days and its times have no meaning, set ignore_offset = true.',
  )
  world.setMapping(born({ column: 'DOB', ignore_offset: true }))
  assert.match((await said(world))[0] ?? '', /^advice: The mapping does not read these files/)
})

test('check says that a ledger of one file of three does not add up, and which files are not read', async (t) => {
  const ledger = {
    file: 'charges.csv',
    key: 'No',
    attributes: {
      transaction_type: { column: 'Type', values: { C: 'charge', P: 'patient_payment' } },
      amount: 'Amount',
      guarantor_source_id: 'Pat',
    },
  }
  const world = await someFolder(t, { ...both(), datasets: { patients, ledger_transactions: ledger } })
  world.write('patients.csv', 'Id,Last,Balance\n1,Quill,40.00\n2,Rook,0.00\n')
  world.write('charges.csv', 'No,Pat,Type,Amount\n1,1,C,100.00\n2,2,C,50.00\n')
  world.write('payments.csv', 'No,Pat,Type,Amount\n1,1,P,-60.00\n')
  world.write('old/adjustments.txt', 'x')
  assert.deepEqual(await said(world), [
    'advice: ledger_transactions has charges and no payments. / Look whether the others are in a file of their own, or in other values of the type.',
    'advice: The ledger adds up to the balance of 0 of 2 accounts. / Look for a file of the ledger that is not read, amounts in cents, and payments that need "negate".',
    'advice: The mapping does not read these files of the folder: old/adjustments.txt, payments.csv. / Map them if they hold records, like payments or adjustments of the ledger.',
  ])
  world.write('charges.csv', 'No,Pat,Type,Amount\n1,1,P,100.00\n')
  assert.match((await said(world))[0] ?? '', /ledger_transactions has payments and no charges\./)
  world.write('charges.csv', 'No,Pat,Type,Amount\n1,1,C,100.00\n2,1,P,-60.00\n3,2,C,50.00\n4,2,P,-50.00\n')
  world.restart()
  const { findings } = await world.connector().check()
  assert.ok(findings.some(({ what }) => what === 'The ledger adds up to the balance of 2 of 2 accounts.'))
})

test('the ledger of a family is compared with the balances of all its members', async (t) => {
  const attributes = { last_name: 'Last', status: { constant: 'active' }, balance: { total: 'Balance' } }
  const patients = { file: 'patients.csv', key: 'Id', attributes: { ...attributes, guarantor_source_id: 'Guarantor' } }
  const ledger_transactions = {
    file: 'ledger.csv',
    key: 'No',
    attributes: {
      transaction_type: { column: 'Type', values: { C: 'charge', P: 'patient_payment' } },
      amount: 'Amount',
      patient_source_id: 'Pat',
      guarantor_source_id: 'Guarantor',
    },
  }
  const world = await someFolder(t, { ...both(), datasets: { patients, ledger_transactions } })
  // The mother owes nothing herself, the child 40, and the brother has a credit.
  world.write(
    'patients.csv',
    'Id,Last,Guarantor,Balance\n1,Quill,1,0.00\n2,Quill,1,40.00\n3,Quill,1,-15.00\n4,Rook,,12.50\n',
  )
  world.write(
    'ledger.csv',
    'No,Pat,Guarantor,Type,Amount\n1,2,1,C,100.00\n2,2,1,P,-60.00\n3,3,1,P,-15.00\n4,4,4,C,12.50\n',
  )
  const sums = async () => (await said(world)).filter((line) => line.includes('adds up'))
  assert.deepEqual(await sums(), [])
  const { findings } = await world.connector().check()
  assert.ok(findings.some(({ what }) => what === 'The ledger adds up to the balance of 2 of 2 accounts.'))
  world.write('ledger.csv', 'No,Pat,Guarantor,Type,Amount\n1,2,1,C,100.00\n2,3,1,P,-15.00\n3,4,4,C,12.50\n')
  assert.match((await sums())[0] ?? '', /balance of 1 of 2 accounts\./)
})

test('of several files each is asked about alone: one writes cents, the other does not', async (t) => {
  const entry = (file: string, type: string) => ({
    file,
    key: [{ constant: type }, 'No'],
    attributes: { transaction_type: { constant: type }, amount: 'Amount' },
  })
  const files = [entry('charges.csv', 'charge'), entry('payments.csv', 'patient_payment')]
  const world = await someFolder(t, oneDataset('ledger_transactions', { files }))
  world.write('charges.csv', 'No,Amount\n1,100.50\n')
  world.write('payments.csv', 'No,Amount\n1,-6050\n')
  assert.deepEqual(await said(world), [
    'advice: ledger_transactions in payments.csv: no amount of amount has decimals. Are they in cents? / If they are, set scale = 2; if they are whole, there is nothing to do.',
  ])
  const details = (await detailsOf(world, 'ledger_transactions')).map(({ what }) => what)
  assert.ok(details.includes('amount from "Amount" in payments.csv: never empty'), details.join('\n'))
  assert.ok(details.includes('transaction_type: always "patient_payment" in payments.csv'))
})

test('check shows what vendors would receive, and patients’ values on a terminal alone', async (t) => {
  const world = await someFolder(t, both())
  world.write('patients.csv', 'Id,Last,Balance\n1,Quill\u001b[2J,"1,095.00"\n2,Rook,(36.50)\n3,,\n4,Moss,1\n')
  world.write(
    'visits.csv',
    'No,Pat,Status,Start,Min\n1,1,scheduled,11/30/2026 9:30,30\n2,2,completed,12/1/2026 8:00,60\n',
  )
  const details = await detailsOf(world, 'patients')
  assert.deepEqual(
    details.filter(({ what }) => !what.startsWith('not mapped')),
    [
      { what: 'last_name from "Last": empty in 1 of 4', samples: '"Quill\u001b[2J", "Rook", "Moss"' },
      {
        what: 'balance.total from "Balance": empty in 1 of 4',
        samples: '"1,095.00" → 1095.00, "(36.50)" → -36.50, "1" → 1.00; from -36.50 to 1095.00',
      },
      { what: 'status: always "active"', samples: '' },
    ],
  )
  assert.match(details.at(-1)?.what ?? '', /^not mapped: .*first_name/)
  const visit = await detailsOf(world, 'appointments')
  assert.equal(
    visit.find(({ what }) => what.startsWith('status'))?.what,
    'status from "Status": never empty, scheduled 50%, completed 50%',
  )
  assert.match(visit.find(({ what }) => what.startsWith('duration'))?.samples ?? '', /^"30", "60"; from 30 to 60$/)
  assert.match(
    visit.find(({ what }) => what.startsWith('starts_at'))?.samples ?? '',
    /^"11\/30\/2026 9:30" → 2026-11-30T15:30:00\.000Z/,
  )

  const { findings } = await world.connector().check()
  const printed = (how: { asJson: boolean; isTerminal: boolean }) => {
    const lines: string[] = []
    printFindings(findings, { ...how, print: (line) => lines.push(line) })
    return lines.join('\n')
  }
  const here = printed({ asJson: false, isTerminal: true })
  assert.match(here, /\n {9}- last_name from "Last": empty in 1 of 4; "Quill \[2J", "Rook", "Moss"\n/)
  for (const elsewhere of [
    printed({ asJson: false, isTerminal: false }),
    printed({ asJson: true, isTerminal: true }),
  ]) {
    assert.match(elsewhere, /balance\.total from \\?"Balance\\?": empty in 1 of 4/)
    for (const value of ['Quill', 'Rook', '1095', '36.50', '9:30']) assert.ok(!elsewhere.includes(value), value)
  }
})
