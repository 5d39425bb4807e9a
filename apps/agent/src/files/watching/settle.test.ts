import assert from 'node:assert/strict'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { csvOf, namesOf, oneDataset, plans, someFolder } from '../testing/test-folder.ts'

test('a file that is being written is not read, nor one whose marker is missing or older', async (t) => {
  const world = await someFolder(t, plans)
  const whole = csvOf({ 1: 'Half', 2: 'Whole' })
  world.write('plans.csv', csvOf({ 1: 'Half' }), 3_600_000)
  // An hour old by its own time, and written to between two looks.
  world.whileSettling(() => world.write('plans.csv', whole, 3_600_000))
  assert.equal(await world.run(), 'complete')
  const [busy] = world.named('dataset.put_off')
  const resting = 'Nothing to do: the agent reads it when it no longer changes.'
  assert.deepEqual([busy?.because, busy?.what, busy?.todo], ['file_busy', 'plans.csv is still being written.', resting])
  assert.deepEqual([world.server.cycles(), world.named('dataset.failed')], [[], []])
  world.whileSettling(() => {})
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'Half', 2: 'Whole' })

  world.setMapping({ ...plans, ready_when: 'marked' })
  world.write('plans.csv', csvOf({ 1: 'Whole' }))
  await world.run()
  assert.match(
    world.named('dataset.put_off')[0]?.what ?? '',
    /^The marker file plans\.csv\.done is missing or older than plans\.csv\.$/,
  )
  assert.equal(world.named('dataset.put_off')[0]?.todo, 'The export must write the marker file last.')
  world.write('plans.csv.done', '', 7_200_000)
  await world.run()
  assert.equal(world.named('dataset.put_off').length, 1, 'a marker of an earlier export')
  world.write('plans.csv.done', '', 0)
  await world.run()
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'Whole' })

  rmSync(join(world.settings.folder, 'plans.csv'))
  assert.equal(await world.run(), 'complete')
  assert.match(world.named('dataset.put_off')[0]?.what ?? '', /plans\.csv does not exist any more/)
  assert.equal(world.named('dataset.put_off')[0]?.todo, 'Nothing to do if a new export is running.')
  assert.deepEqual(
    namesOf(world.visible('main', 'insurance_plans')),
    { 1: 'Whole' },
    'and nothing is taken for removed',
  )
})

test('a file that changes while it is read sends nothing further, and is read again', async (t) => {
  const world = await someFolder(t, plans)
  world.write('plans.csv', csvOf(Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [index + 1, 'Plan']))))
  let uploads = 0
  world.server.world.interference = ({ kind }) => {
    if (kind !== 'records') return undefined
    uploads += 1
    if (uploads === 1) world.write('plans.csv', csvOf({ 1: 'Plan', 2: 'New' }), 20_000)
    return undefined
  }
  assert.equal(await world.run(), 'put_off')
  const [changed] = world.named('cycle.put_off')
  assert.deepEqual(
    [changed?.what, changed?.todo],
    ['plans.csv changed while it was read.', 'Nothing to do: the agent reads it again.'],
  )
  assert.equal(uploads, 1)
  assert.equal(await world.run(), 'complete')
  assert.equal(world.visible('main', 'insurance_plans').get('2')?.plan_name, 'New')
})

test('a change in the folder is noticed without waiting, once the file rests', { timeout: 20_000 }, async (t) => {
  const world = await someFolder(t, { ...plans, settle_seconds: 0 })
  world.write('plans.csv', csvOf({ 1: 'One' }))
  await world.run()
  const stop = new AbortController()
  const changed = world.connector().untilChanged?.(stop.signal)
  const path = join(world.settings.folder, 'plans.csv')
  writeFileSync(path, csvOf({ 1: 'Two' }))
  utimesSync(path, new Date(), new Date())
  await changed
  const waiting = world.connector().untilChanged?.(stop.signal)
  stop.abort()
  await waiting
})

const patients = oneDataset('patients', {
  file: 'patients.csv',
  key: 'Id',
  attributes: {
    first_name: 'First',
    last_name: 'Last',
    date_of_birth: { column: 'DOB', format: 'M/D/YYYY' },
    status: { constant: 'active' },
    balance: { total: 'Balance' },
  },
})
const minutesMs = 60_000
const patientRow = (id: number, balance: string) => `${id},Ada${id},Quill${id},1/2/1980,${balance}`
const patientsCsv = (from: number, to: number, balance = '10.00') =>
  `Id,First,Last,DOB,Balance\n${Array.from({ length: to - from + 1 }, (_, index) => `${patientRow(from + index, balance)}\n`).join('')}`

test('files-copied-with-its-time: a copy in progress hides nothing, and a file cut within a line is not read', async (t) => {
  const world = await someFolder(t, patients)
  const balanceOf = (key: string) => world.visible('main', 'patients').get(key)?.balance
  world.write('patients.csv', patientsCsv(1, 100), 30 * minutesMs)
  assert.equal(await world.run(), 'complete')
  assert.equal(world.visible('main', 'patients').size, 100)

  const whole = patientsCsv(1, 100, '1095.00')
  const half = whole.split('\n').slice(0, 87).join('\n')
  world.write('patients.csv', `${half}\n`, 2 * minutesMs)
  world.whileSettling(() => world.write('patients.csv', whole, 2 * minutesMs))
  assert.equal(await world.run(), 'complete')
  assert.equal(world.named('dataset.put_off')[0]?.what, 'patients.csv is still being written.')
  assert.equal(world.visible('main', 'patients').size, 100)
  world.whileSettling(() => {})
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(balanceOf('95'), { total: '1095.00', insurance_estimate: null, as_of: null })

  const cut = patientsCsv(1, 100, '2095.00').split('\n').slice(0, 95).join('\n')
  world.write('patients.csv', `${cut}\n95,Ada95,Quill95,1/2/1980,20`, 1 * minutesMs)
  for (const _ of [1, 2]) {
    assert.equal(await world.run(), 'incomplete')
    assert.match(
      world.named('dataset.failed')[0]?.what ?? '',
      /patients\.csv: has no line end after its last line, as earlier exports had, so it may be cut; if it is complete, set last_line_end = "optional"\.$/,
    )
    assert.equal(world.visible('main', 'patients').size, 100)
    assert.deepEqual(balanceOf('95'), { total: '1095.00', insurance_estimate: null, as_of: null })
    world.restart()
  }
  const optional = { ...patients.datasets.patients, last_line_end: 'optional' }
  world.setMapping(oneDataset('patients', optional))
  assert.equal(await world.run(), 'complete')
  assert.equal(balanceOf('95') !== null && world.visible('main', 'patients').size, 95)
})

test('a file that keeps its size and time while its content changes is still being written', async (t) => {
  const world = await someFolder(t, plans)
  const path = join(world.settings.folder, 'plans.csv')
  const put = (name: string) => {
    writeFileSync(path, csvOf({ 1: name }))
    utimesSync(path, new Date('2026-11-19T00:00:00Z'), new Date('2026-11-19T00:00:00Z'))
  }
  put('\0\0\0')
  world.whileSettling(() => put('One'))
  assert.equal(await world.run(), 'complete')
  assert.equal(world.named('dataset.put_off')[0]?.what, 'plans.csv is still being written.')
  world.whileSettling(() => {})
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'One' })

  // And where it happens later, the daily read of everything finds it, and nothing is taken for removed.
  put('Two')
  world.clock.ms += 25 * 60 * minutesMs
  assert.equal(await world.run(), 'put_off')
  assert.equal(world.named('cycle.put_off')[0]?.what, 'plans.csv changed while it was read.')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'Two' })
})

test('a time of rest longer than the agent waits within a cycle is over in a later cycle, and the agent comes back for it', async (t) => {
  const world = await someFolder(t, { ...plans, settle_seconds: 100 })
  world.write('plans.csv', csvOf({ 1: 'One' }), 3_600_000)
  for (const _ of [1, 2]) {
    assert.equal(await world.run(), 'complete')
    assert.equal(world.named('dataset.put_off').length, 1)
  }
  // Nothing changes in the folder: the file itself is what is waited for.
  world.clock.ms += 60_000
  await world.connector().untilChanged?.(new AbortController().signal)
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(namesOf(world.visible('main', 'insurance_plans')), { 1: 'One' })
})
