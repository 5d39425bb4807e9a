import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { confirmRestore } from '../confirm-restore.ts'
import { csvOf, namesOf, oneDataset, plans, someFolder } from './testing/test-folder.ts'

const example = fileURLToPath(new URL('../../examples/files', import.meta.url))
const exampleFile = (name: string) => readFileSync(join(example, name))

test('the documented example brings its three files to the server, each record at its locations', async (t) => {
  const world = await someFolder(t, exampleFile('mapping.toml').toString())
  for (const name of ['plans.csv', 'patients.csv', 'appointments.csv']) world.write(name, exampleFile(name))

  await world.server.grantNotes()
  assert.equal(await world.run(), 'complete', JSON.stringify(world.events))
  // Who may read notes of a location is known once it has been sent.
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    await world.server.provided('main'),
    ['appointments', 'insurance_plans', 'patients'],
    'no other dataset is waited for',
  )

  for (const location of ['main', 'oak']) {
    assert.deepEqual(Object.keys(namesOf(world.visible(location, 'insurance_plans'))), ['12', '13'])
    const renee = world.visible(location, 'patients').get('1002')
    assert.deepEqual(
      [renee?.first_name, renee?.date_of_birth, renee?.status, renee?.gender, renee?.balance, renee?.email],
      ['Renée', null, 'inactive', 'unknown', { total: '-36.00', insurance_estimate: null, as_of: null }, null],
    )
  }
  const robin = world.visible('main', 'patients').get('1001')
  assert.deepEqual(
    [robin?.date_of_birth, robin?.balance],
    ['1984-02-29', { total: '1234.50', insurance_estimate: null, as_of: null }],
  )
  const [here, there] = [world.visible('main', 'appointments'), world.visible('oak', 'appointments')]
  assert.deepEqual([[...here.keys()], [...there.keys()]], [['1-501', '1-502'], ['2-501']])
  const visit = here.get('1-501')
  assert.deepEqual(
    [visit?.starts_at, visit?.local_starts_at, visit?.time_zone, visit?.note, visit?.scheduled_production],
    ['2026-07-01T14:30:00.000Z', '2026-07-01T09:30:00', 'America/Chicago', 'Asked for\nthe window seat', '180.00'],
  )
  assert.equal(there.get('2-501')?.starts_at, '2026-12-01T18:15:00.000Z', 'winter time')
  assert.deepEqual([here.get('1-502')?.is_block, here.get('1-502')?.patient_source_id], [true, null])
})

test('an attribute that the mapping leaves out is one that the source does not have', async (t) => {
  const world = await someFolder(t, exampleFile('mapping.toml').toString())
  const cycle = await world.connector().beginCycle()
  const known = cycle.notProvided?.('patients') ?? []
  assert.deepEqual([known.includes('first_name'), known.includes('preferred_language')], [false, true])
  assert.ok(!cycle.notProvided?.('appointments').includes('time_zone'), 'it is the location’s')
  await cycle.end()
})

test('an unchanged file is not read again, a changed one sends what differs, and what is missing is hidden', async (t) => {
  const world = await someFolder(t, plans)
  world.write('plans.csv', csvOf({ 1: 'One', 2: 'Two', 3: 'Three' }))
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'One', 2: 'Two', 3: 'Three' })
  const [first] = world.server.cycles()
  assert.deepEqual([first?.complete, first?.read_at], [true, '2026-11-20T11:59:00.000Z'], 'as old as its file')

  world.restart()
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    world.named('dataset.reading').map(({ rows }) => rows),
    [0],
  )

  world.write('plans.csv', csvOf({ 1: 'One', 3: 'Renamed', 4: 'Four' }))
  assert.equal(await world.run(), 'complete')
  assert.equal(world.named('dataset.reading')[0]?.fully, 'files_changed')
  assert.equal(world.named('dataset.finished')[0]?.uploaded, 2)
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'One', 3: 'Renamed', 4: 'Four' })

  world.write('plans.csv', csvOf({ 1: 'One', 3: 'Renamed', 4: 'Four' }), 30_000)
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    world.named('dataset.reading').map(({ rows }) => rows),
    [0],
    'exported again, and the same',
  )

  world.setMapping(
    oneDataset('insurance_plans', { ...plans.datasets.insurance_plans, attributes: { plan_name: 'No' } }),
  )
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: '1', 3: '3', 4: '4' }, 'another mapping')
})

test('an older export stops the agent before it sends, until a person confirms it', async (t) => {
  const world = await someFolder(t, plans)
  world.write('plans.csv', csvOf({ 1: 'One', 2: 'Two' }))
  assert.equal(await world.run(), 'complete')

  world.write('plans.csv', csvOf({ 1: 'Old' }), 24 * 3_600_000)
  assert.equal(await world.run(), 'failed')
  const [failed] = world.named('cycle.failed')
  assert.equal(failed?.because, 'went_back')
  assert.match(
    failed?.what ?? '',
    /^The exports are older than what this agent has read before: plans\.csv was written at 2026-11-19 12:01:10 UTC, and the one read before at 2026-11-20/,
  )
  world.restart()
  assert.equal(await world.run(), 'failed')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'One', 2: 'Two' })

  const confirmed = { connector: world.connector(), memory: world.deps().state.source, print: () => {} }
  assert.equal(await confirmRestore(confirmed), 0)
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'Old' })
})

test('a file whose time lies ahead, and one that was missing for a while, are no older exports', async (t) => {
  const world = await someFolder(t, plans)
  world.write('plans.csv', csvOf({ 1: 'Ahead' }), -7 * 24 * 3_600_000)
  await world.run()
  world.write('plans.csv', csvOf({ 1: 'Right' }))
  assert.equal(await world.run(), 'complete')
  rmSync(join(world.settings.folder, 'plans.csv'))
  assert.equal(await world.run(), 'complete')
  world.write('plans.csv', csvOf({ 1: 'Old' }), 24 * 3_600_000)
  assert.equal(await world.run(), 'failed')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'Right' })
})

test('a file with one bad line sends nothing of it, and other files go on', async (t) => {
  const both = oneDataset('insurance_plans', {
    ...plans.datasets.insurance_plans,
    attributes: { plan_name: 'Name', renewal_month: 'Month' },
  })
  const mapping = {
    ...both,
    datasets: {
      ...both.datasets,
      fee_schedules: {
        file: 'fees.ndjson',
        key: 'id',
        attributes: { name: 'name', schedule_type: { constant: 'standard' } },
      },
    },
  }
  const world = await someFolder(t, mapping)
  world.write('fees.ndjson', '{"id":1,"name":"Standard"}\r\n\n{"id":"2","name":null}\n')
  world.write('plans.csv', 'No,Name,Month\n1,Geheim,1\n2,Geheim,13\n')
  assert.equal(await world.run(), 'incomplete')
  assert.equal(world.visible('main', 'insurance_plans').size, 0)
  assert.deepEqual(
    [...world.visible('main', 'fee_schedules')].map(([key, { name }]) => [key, name]),
    [
      ['1', 'Standard'],
      ['2', ''],
    ],
  )
  const [failed] = world.named('dataset.failed')
  assert.equal(failed?.because, 'file_invalid')
  assert.match(failed?.what ?? '', /plans\.csv, line 3, column "Month": must be a whole number from 1 to 12\./)
  assert.equal(
    failed?.todo,
    'Correct the export or the mapping; "bridgework-agent check" reads the files and sends nothing.',
  )
  assert.ok(!JSON.stringify(world.events).includes('Geheim'))
  assert.deepEqual(world.server.heartbeats().at(-1)?.problems, [
    { code: 'file_invalid', dataset: 'insurance_plans', file: { name: 'plans.csv', line: 3, column: 'Month' } },
  ])
  assert.ok(!world.server.cycles().some(({ dataset }) => dataset === 'insurance_plans'), 'not reported as read')

  world.write('plans.csv', 'No,Name,Month\n1,A,1\n2,B,12\n')
  assert.equal(await world.run(), 'complete')
  assert.equal(world.visible('main', 'insurance_plans').size, 2)
  world.write('plans.csv', 'No,Name,Month\n1,A,x\n3,C,12\n')
  assert.equal(await world.run(), 'incomplete')
  assert.deepEqual([...world.visible('main', 'insurance_plans').keys()], ['1', '2'], 'the last good export stays valid')
})

test('with skip_line the good lines are sent, the bad ones are reported, and no record is removed', async (t) => {
  const world = await someFolder(
    t,
    oneDataset('insurance_plans', {
      file: 'plans.csv',
      key: 'No',
      on_bad_line: 'skip_line',
      attributes: { plan_name: 'Name', renewal_month: 'Month' },
    }),
  )
  world.write('plans.csv', 'No,Name,Month\n1,A,1\n2,B,2\n3,C,3\n')
  await world.run()
  world.write('plans.csv', 'No,Name,Month\n1,New,1\n2,B,99\n')
  assert.equal(await world.run(), 'complete')
  assert.match(
    world.named('dataset.advice')[0]?.what ?? '',
    /^1 lines were skipped, so no record is removed\. plans\.csv, line 3, column "Month"/,
  )
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'New', 2: 'B', 3: 'C' })
  world.write('plans.csv', 'No,Name,Month\n1,New,1\n2,B,9\n')
  await world.run()
  assert.deepEqual([...world.visible('main', 'insurance_plans').keys()], ['1', '2'])
})

test('a partial export only adds and changes, and a complete one that lost too much waits for a person', async (t) => {
  const world = await someFolder(
    t,
    oneDataset('insurance_plans', { ...plans.datasets.insurance_plans, complete: false }),
  )
  world.write('plans.csv', csvOf({ 1: 'One', 2: 'Two' }))
  await world.run()
  world.write('plans.csv', csvOf({ 2: 'New', 3: 'Three' }))
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'One', 2: 'New', 3: 'Three' })
  assert.deepEqual(world.server.lists(), [])

  world.setMapping(plans)
  world.write('plans.csv', 'No,Name\n')
  await world.run()
  assert.equal(world.named('removal.held').length, 1)
  assert.equal(world.visible('main', 'insurance_plans').size, 3)
})

test('one file for each location, and rows of one record one after the other', async (t) => {
  const world = await someFolder(t, {
    locations: { a: { name: 'A', time_zone: 'UTC' }, b: { name: 'B', time_zone: 'UTC', names_in_files: ['west'] } },
    datasets: {
      fee_schedules: {
        file: '{location}/fees.csv',
        key: 'Schedule',
        attributes: {
          name: 'Schedule',
          schedule_type: { constant: 'standard' },
          fees: { rows: { procedure_code: 'Code', amount: { column: 'Fee', decimal: ',' } } },
        },
      },
    },
  })
  world.write('a/fees.csv', 'Schedule,Code,Fee\nS1,D0120,"62,00"\nS1,D0150,"1.100,5"\nS2,D0120,\n')
  assert.equal(await world.run(), 'incomplete')
  const [missing] = world.named('dataset.failed')
  assert.match(missing?.what ?? '', /^The file b\/fees\.csv does not exist in .*exports\.$/)
  assert.equal(missing?.todo, 'Export it to this folder, or correct the mapping.')
  world.write('west/fees.csv', 'Schedule,Code,Fee\nS1,D0120,"70,00"\n')
  assert.equal(await world.run(), 'complete')
  const fee = (procedure_code: string, amount: string | null) => ({
    procedure_code,
    amount,
    provider_source_id: null,
    effective_on: null,
  })
  assert.deepEqual(world.visible('a', 'fee_schedules').get('S1')?.fees, [
    fee('D0120', '62.00'),
    fee('D0150', '1100.50'),
  ])
  assert.deepEqual(world.visible('a', 'fee_schedules').get('S2')?.fees, [fee('D0120', null)])
  assert.deepEqual(world.visible('b', 'fee_schedules').get('S1')?.fees, [fee('D0120', '70.00')])
  world.write('west/fees.csv', 'Schedule,Code,Fee\nS1,D1,"1,00"\nS2,D1,"1,00"\nS1,D2,"1,00"\n')
  await world.run()
  assert.match(
    world.named('dataset.failed')[0]?.what ?? '',
    /line 4, column "Schedule": is the key of an earlier record: rows of one record must follow/,
  )
})

test('the total of a read of files is the number of their records, or is not said', async (t) => {
  const world = await someFolder(t, plans)
  const rows = Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [index + 1, `Plan ${index + 1}`]))
  world.write('plans.csv', csvOf(rows))
  const progress = () =>
    world.events.flatMap((event) => (event.event === 'dataset.progress' ? [[event.rows, event.rowsTotal]] : []))
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(progress(), [
    [1_000, 2_500],
    [2_000, 2_500],
    [2_500, 2_500],
  ])

  // The daily read of files that this process has not read through.
  world.restart()
  world.clock.ms += 25 * 60 * 60_000
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(progress(), [
    [1_000, null],
    [2_000, null],
    [2_500, null],
  ])
})

test('an export that was not written for days, and lines that are left out, are reasons that the practice sees', async (t) => {
  const mapping = oneDataset('insurance_plans', {
    file: 'plans.csv',
    key: 'No',
    on_bad_line: 'skip_line',
    attributes: { plan_name: 'Name' },
  })
  const world = await someFolder(t, mapping)
  const said = () => world.server.heartbeats().at(-1)?.problems
  const file = { name: 'plans.csv', line: 3, column: 'No' }
  const skipped = { code: 'lines_skipped', dataset: 'insurance_plans', file }
  world.write('plans.csv', csvOf({ 1: 'One' }))
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(said(), [])
  world.clock.ms += 4 * 24 * 60 * 60_000
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(said(), [{ code: 'export_old', dataset: 'insurance_plans' }])
  world.write('plans.csv', `${csvOf({ 1: 'One' })},Without a key\n`)
  assert.equal(await world.run(), 'complete', JSON.stringify(world.events))
  assert.deepEqual(said(), [skipped])
  // Nor in the daily read of a later process, for which the file is unchanged.
  world.write('plans.csv', csvOf({ 1: 'One', 2: 'Two' }))
  assert.equal(await world.run(), 'complete')
  world.write('plans.csv', `${csvOf({ 1: 'One' })},Two\n`)
  assert.equal(await world.run(), 'complete')
  world.restart()
  world.clock.ms += 25 * 60 * 60_000
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(Object.keys(namesOf(world.visible('main', 'insurance_plans'))).toSorted(), ['1', '2'])
  assert.deepEqual(said(), [skipped])
  assert.equal(await world.run(), 'complete')
  assert.equal(world.named('dataset.advice').length, 0, 'the log has it once')
  assert.deepEqual(said(), [skipped])
  world.setMapping('{')
  assert.equal(await world.run(), 'failed')
  assert.equal(world.named('cycle.failed')[0]?.todo, 'Correct the mapping, then run "bridgework-agent check".')
  assert.deepEqual(said(), [{ code: 'mapping_invalid' }])
})
