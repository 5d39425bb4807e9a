import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneDataset, someFolder } from '../testing/test-folder.ts'

type World = Awaited<ReturnType<typeof someFolder>>
const visible = (world: World, dataset: Parameters<World['visible']>[1]) => [...world.visible('main', dataset)]
const failure = (world: World) => world.named('dataset.failed')[0]?.what ?? ''

test('a dataset of several files: each has its columns and constants, all together are the complete list', async (t) => {
  const world = await someFolder(
    t,
    oneDataset('ledger_transactions', {
      attributes: { guarantor_source_id: 'Pat', transaction_on: { column: 'Date', format: 'M/D/YYYY' } },
      files: [
        {
          file: 'charges.csv',
          key: [{ constant: 'C' }, 'No'],
          attributes: { transaction_type: { constant: 'charge' }, amount: 'Fee' },
        },
        {
          file: 'payments.csv',
          key: [{ constant: 'P' }, 'PayNo'],
          delimiter: ';',
          attributes: {
            transaction_type: { constant: 'patient_payment' },
            amount: { column: 'Paid', decimal: ',', negate: true },
            transaction_on: { column: 'Paid on', format: 'DD.MM.YYYY' },
          },
        },
      ],
    }),
  )
  world.write('charges.csv', 'No,Pat,Date,Fee\n1,7,3/4/2026,100.00\n2,7,3/5/2026,50.00\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(
    failure(world),
    /^The file payments\.csv does not exist in /,
    'a ledger without its payments is not sent',
  )
  world.write('payments.csv', 'PayNo;Pat;Paid on;Paid\n1;7;06.03.2026;60,00\n')
  assert.equal(await world.run(), 'complete')
  const said = () =>
    visible(world, 'ledger_transactions').map(([key, { transaction_type, amount, transaction_on }]) => [
      key,
      transaction_type,
      amount,
      transaction_on,
    ])
  assert.deepEqual(said(), [
    ['C-1', 'charge', '100.00', '2026-03-04'],
    ['C-2', 'charge', '50.00', '2026-03-05'],
    ['P-1', 'patient_payment', '-60.00', '2026-03-06'],
  ])
  world.write('charges.csv', 'No,Pat,Date,Fee\n1,7,3/4/2026,100.00\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    said().map(([key]) => key),
    ['C-1', 'P-1'],
    'what is gone from one file is gone',
  )
  const cycle = await world.connector().beginCycle()
  const left = cycle.notProvided?.('ledger_transactions') ?? []
  assert.deepEqual([left.includes('amount'), left.includes('description')], [false, true])
})

test('a key of NDJSON keeps all digits of a large number, and is never a list or an object', async (t) => {
  const mapping = { file: 'plans.ndjson', key: 'id', attributes: { plan_name: 'name' } }
  const world = await someFolder(t, oneDataset('insurance_plans', mapping))
  world.write('plans.ndjson', '{"id":9007199254740993,"name":"One"}\n{"id":9007199254740992,"name":"Two"}\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    visible(world, 'insurance_plans').map(([key]) => key),
    ['9007199254740993', '9007199254740992'],
  )
  world.write('plans.ndjson', '{"id":{"no":1},"name":"One"}\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /line 1, column "id": is part of the key and must be a plain value\./)
})

test('all files of a pattern together, and the same key in two of them', async (t) => {
  const mapping = { file: 'plans_*.csv', which: 'all', key: 'No', attributes: { plan_name: 'Name' } }
  const world = await someFolder(t, oneDataset('insurance_plans', mapping))
  world.write('plans_1.csv', 'No,Name\n1,One\n')
  world.write('plans_2.csv', 'No,Name\n2,Two\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    visible(world, 'insurance_plans').map(([key]) => key),
    ['1', '2'],
  )
  world.write('plans_3.csv', 'No,Name\n2,Again\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /plans_3\.csv, line 2, column "No": is the key of an earlier line\./)
  world.setMapping(oneDataset('insurance_plans', { ...mapping, repeated_key: 'first' }))
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    visible(world, 'insurance_plans').map(([, { plan_name }]) => plan_name),
    ['One', 'Two'],
  )
})

test('one file for several datasets: rows of one kind, and a patient in many rows', async (t) => {
  const world = await someFolder(t, {
    ...oneDataset('patients', {
      file: 'all.csv',
      key: 'Pat',
      repeated_key: 'first',
      where: { column: 'Pat', is_not: [''] },
      attributes: { last_name: 'Last', status: { constant: 'active' } },
    }),
    datasets: {
      patients: {
        file: 'all.csv',
        key: 'Pat',
        repeated_key: 'first',
        where: { column: 'Pat', is_not: [''] },
        attributes: { last_name: 'Last', status: { constant: 'active' } },
      },
      appointments: {
        file: 'all.csv',
        key: 'No',
        where: [
          { column: 'Kind', is: ['A', 'B'] },
          { column: 'Pat', is_not: ['9'] },
        ],
        attributes: { patient_source_id: 'Pat', status: { constant: 'scheduled' }, note: 'Kind' },
      },
    },
  })
  world.write('all.csv', 'No,Kind,Pat,Last\n1,A,7,Quill\n2,B,7,Quill\n3,X,8,Rook\n4,A,,\n5,A,9,Moss\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    visible(world, 'patients').map(([key, { last_name }]) => [key, last_name]),
    [
      ['7', 'Quill'],
      ['8', 'Rook'],
      ['9', 'Moss'],
    ],
  )
  assert.deepEqual(
    visible(world, 'appointments').map(([key, { patient_source_id }]) => [key, patient_source_id]),
    [
      ['1', '7'],
      ['2', '7'],
      ['4', null],
    ],
  )
})

test('titles, repeated headers, totals and a footer are not read as records', async (t) => {
  const plans = { file: 'plans.csv', key: 'No', attributes: { plan_name: 'Name' } }
  const world = await someFolder(
    t,
    oneDataset('insurance_plans', { ...plans, skip_starting: ['Total', 'Page '], footer_rows: 2 }),
  )
  const report = [
    'Report "Plans" of Outside Dental',
    '',
    'Printed,11/30/2026,,',
    'No,Name',
    '1,One',
    ',',
    'Page 1',
    'No,Name',
    '2,Two',
    'Total: 2',
    'End of "report"',
    'x,y,z',
    '',
  ].join('\n')
  world.write('plans.csv', report)
  assert.equal(await world.run(), 'complete', failure(world))
  assert.deepEqual(
    visible(world, 'insurance_plans').map(([key]) => key),
    ['1', '2'],
  )
  world.setMapping(oneDataset('insurance_plans', { ...plans, skip_lines: 2 }))
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /line 3, column "No": is not in the first row; if the file has no header/)
  world.write('plans.csv', 'No,Title\n')
  assert.equal(await world.run(), 'incomplete')
  world.setMapping(oneDataset('insurance_plans', plans))
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /line 1, column "Name": is not in the header, which has: No, Title\./)
})

test('a file without a header, with rows that end early, and words for nothing', async (t) => {
  const plans = {
    file: 'plans.txt',
    header: ['No', 'Name', 'Group', 'Month'],
    delimiter: '|',
    short_rows: 'fill',
    key: 'No',
    attributes: { plan_name: 'Name', group_number: 'Group', renewal_month: 'Month' },
  }
  const world = await someFolder(t, oneDataset('insurance_plans', plans, { version: 2, null_words: ['NULL', '\\N'] }))
  world.write('plans.txt', '1|One|NULL|4\n2|Two| \\N \n3|Three\n')
  assert.equal(await world.run(), 'complete', failure(world))
  const said = () =>
    visible(world, 'insurance_plans').map(([key, plan]) => [key, plan.plan_name, plan.group_number, plan.renewal_month])
  assert.deepEqual(said(), [
    ['1', 'One', null, 4],
    ['2', 'Two', null, null],
    ['3', 'Three', null, null],
  ])
  world.write('plans.txt', '1|One|NULL|4\nNULL|Two|x|1\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /line 2, column "No": is part of the key and must not be empty\./)
  world.setMapping(
    oneDataset('insurance_plans', { ...plans, null_words: ['-'], short_rows: 'refuse' }, { null_words: ['NULL'] }),
  )
  world.write('plans.txt', '1|One|NULL|-\n2|Two\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /line 2: has 2 fields, and the header has 4\./)
  world.write('plans.txt', '1|One|NULL|-\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(said()[0], ['1', 'One', 'NULL', null], 'a file’s own words count alone')
})

test('codes from a look-up file, which is read again when it changes', async (t) => {
  const world = await someFolder(t, {
    ...oneDataset('appointments', {
      file: 'visits.csv',
      key: 'No',
      attributes: {
        status: { column: 'Status', lookup: 'states', values: { Kept: 'completed', Open: 'scheduled' } },
        status_raw: { column: 'Status', lookup: 'states' },
        provider_name: { column: 'Prov', lookup: 'providers', otherwise: 'Unknown' },
      },
    }),
    lookups: {
      providers: { file: 'providers.csv', key: 'Code', value: 'Name', delimiter: ';' },
      states: { file: 'states.csv', key: 'Id', value: 'Text' },
    },
  })
  world.write('visits.csv', 'No,Status,Prov\n1,1,DS\n2,2,XX\n3,2,\n')
  world.write('states.csv', 'Id,Text\n1,Kept\n2,Open\n', 400 * 24 * 3_600_000)
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /^The file providers\.csv does not exist/)
  world.write('providers.csv', 'Code;Name\nDS;Dr. Sample\n')
  assert.equal(await world.run(), 'complete', failure(world))
  const said = () =>
    visible(world, 'appointments').map(([, visit]) => [visit.status, visit.status_raw, visit.provider_name])
  assert.deepEqual(said(), [
    ['completed', 'Kept', 'Dr. Sample'],
    ['scheduled', 'Open', 'Unknown'],
    ['scheduled', 'Open', null],
  ])
  assert.ok((world.server.cycles()[0]?.read_at ?? '') > '2026-11-19', 'as old as its export, not as its codes')
  world.write('providers.csv', 'Code;Name\nDS;Dr. New\n')
  assert.equal(await world.run(), 'complete')
  assert.equal(said()[0]?.[2], 'Dr. New')

  world.write('states.csv', 'Id,Text\n1,Kept\n1,Open\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /states\.csv, line 3, column "Id": is the code of an earlier line\./)
  world.write('states.csv', 'Id,Text\n1,Kept\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /visits\.csv, line 3, column "Status": must be a code of the look-up file "states"\./)
  world.write('states.csv', `Id,Text\n${Array.from({ length: 100_001 }, (_, index) => `${index},x\n`).join('')}`)
  assert.equal(await world.run(), 'incomplete')
  assert.match(
    failure(world),
    /states\.csv, line 100002, .*has more than 100000 codes; a look-up file is a short list\./,
  )
})

test('a list in a column or in further rows, also in rows without a key', async (t) => {
  const treatments = {
    file: 'work.csv',
    key: 'No',
    attributes: {
      status: { constant: 'completed' },
      quantity: { constant: 1 },
      teeth: { column: 'Tooth', separator: '/' },
    },
  }
  const world = await someFolder(t, oneDataset('treatments', treatments))
  const teeth = () => visible(world, 'treatments').map(([key, treatment]) => [key, treatment.teeth])
  world.write('work.csv', 'No,Tooth\n1,3/4\n2,\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(teeth(), [
    ['1', ['3', '4']],
    ['2', []],
  ])
  const rows = { ...treatments.attributes, teeth: { rows: 'Tooth' } }
  world.setMapping(oneDataset('treatments', { ...treatments, attributes: rows }))
  world.write('work.csv', 'No,Tooth\n1,3\n1,4\n2,\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(teeth(), [
    ['1', ['3', '4']],
    ['2', []],
  ])
  world.setMapping(oneDataset('treatments', { ...treatments, blank_key: 'continues', attributes: rows }))
  world.write('work.csv', 'No,Tooth\n1,3\n,4\n2,5\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(teeth(), [
    ['1', ['3', '4']],
    ['2', ['5']],
  ])
  const repeated = { ...treatments, blank_key: 'continues', repeated_key: 'first', attributes: rows }
  world.setMapping(oneDataset('treatments', repeated))
  world.write('work.csv', 'No,Tooth\n1,3\n,4\n2,5\n1,6\n,7\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(teeth(), [
    ['1', ['3', '4']],
    ['2', ['5']],
  ])
  world.write('work.csv', 'No,Tooth\n,4\n2,5\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /line 2, column "No": is empty, and no record is above it\./)
})

test('a reference to a record whose key is joined', async (t) => {
  const world = await someFolder(t, {
    ...oneDataset('patients', {}),
    datasets: {
      patients: {
        file: 'patients.csv',
        key: ['Office', 'Id'],
        attributes: {
          last_name: 'Last',
          status: { constant: 'active' },
          guarantor_source_id: { key: ['Office', 'Resp'] },
        },
      },
      treatments: {
        file: 'work.csv',
        key: 'No',
        attributes: {
          patient_source_id: { key: [{ constant: '1' }, 'Pat'] },
          status: { constant: 'completed' },
          quantity: { constant: 1 },
        },
      },
    },
  })
  world.write('patients.csv', 'Office,Id,Last,Resp\n1,5-6,Quill,5-6\n1,7,Rook,\n')
  world.write('work.csv', 'No,Pat\n1,5-6\n')
  assert.equal(await world.run(), 'complete', failure(world))
  const [patient] = visible(world, 'patients')
  assert.deepEqual([patient?.[0], patient?.[1].guarantor_source_id], ['1-5~-6', '1-5~-6'])
  assert.equal(world.visible('main', 'patients').get('1-7')?.guarantor_source_id, null)
  assert.equal(world.visible('main', 'treatments').get('1')?.patient_source_id, '1-5~-6')
})

test('of files with different settings the bad lines are skipped in the one and held in the other', async (t) => {
  const plan = { key: 'No', attributes: { plan_name: 'Name' } }
  const world = await someFolder(
    t,
    oneDataset('insurance_plans', {
      files: [
        { file: 'a.csv', on_bad_line: 'skip_line', ...plan },
        { file: 'b.csv', ...plan },
      ],
    }),
  )
  world.write('a.csv', 'No,Name\n1,One\n,x\n')
  world.write('b.csv', 'No,Name\n2,Two\n')
  assert.equal(await world.run(), 'complete')
  assert.match(world.named('dataset.advice')[0]?.what ?? '', /^1 lines were skipped.* a\.csv, line 3/)
  world.write('b.csv', 'No,Name\n2,Two\n,x\n')
  assert.equal(await world.run(), 'incomplete')
  assert.match(failure(world), /b\.csv, line 3/)
  assert.deepEqual(
    visible(world, 'insurance_plans').map(([key]) => key),
    ['1', '2'],
  )
})

test('an object of empty columns is null, unless a default gives them a meaning, and adds nothing to a list', async (t) => {
  const patients = { file: 'patients.csv', key: 'Id' }
  const world = await someFolder(t, oneDataset('patients', {}))
  const balances = async (rule: object) => {
    world.setMapping(
      oneDataset('patients', { ...patients, attributes: { status: { constant: 'active' }, balance: { total: rule } } }),
    )
    assert.equal(await world.run(), 'complete', failure(world))
    return visible(world, 'patients').map(([, { balance }]) => balance)
  }
  world.write('patients.csv', 'Id,Owes\n1,\n2,5\n')
  const balance = (total: string) => ({ total, insurance_estimate: null, as_of: null })
  assert.deepEqual(await balances({ column: 'Owes' }), [null, balance('5.00')])
  assert.deepEqual(await balances({ column: 'Owes', default: '0' }), [balance('0.00'), balance('5.00')])

  const fees = { rows: { procedure_code: 'Code', amount: 'Fee', effective_on: { constant: '2026-01-01' } } }
  const attributes = { name: 'Schedule', schedule_type: { constant: 'standard' }, fees }
  world.setMapping(oneDataset('fee_schedules', { file: 'fees.csv', key: 'Schedule', attributes }))
  world.write('fees.csv', 'Schedule,Code,Fee\nS1,,\nS2,D0120,\n')
  assert.equal(await world.run(), 'complete', failure(world))
  assert.deepEqual(
    visible(world, 'fee_schedules').map(([, schedule]) => (schedule.fees as unknown[]).length),
    [0, 1],
  )
})
