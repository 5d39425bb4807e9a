import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../testing/test-agent.ts'
import { connectorTest } from './connector-test.ts'

const sample = fileURLToPath(new URL('../../examples/connector/connector.py', import.meta.url))

async function said(command: readonly string[]) {
  const lines: string[] = []
  const code = await connectorTest(command, (line) => lines.push(line))
  return { code, text: lines.join('\n') }
}

/** A program that prints these lines. */
function printing(...lines: readonly (object | string)[]): string[] {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  return [process.execPath, '-e', `for (const line of ${JSON.stringify(texts)}) console.log(line)`]
}

const location = { location: { source_id: 'main', name: 'Main', time_zone: 'UTC' } }
const attributes = {
  plan_name: 'One',
  group_number: null,
  carrier_name: null,
  is_hidden: false,
  payer_id: null,
  employer_name: null,
  plan_type: null,
  renewal_month: null,
  fee_schedule_source_id: null,
}
const plan = { dataset: 'insurance_plans', location: 'main', source_id: '1', attributes }
const list = { dataset: 'insurance_plans', location: 'main', complete: ['1'] }

test('the sample in Python prints records that the service would take', async (t) => {
  const file = join(temporaryFolder(t), 'practice.sqlite')
  const database = new DatabaseSync(file)
  database.exec('create table plan (no integer, name text, group_number text, carrier text)')
  database.exec("insert into plan values (1, 'Renée’s plan', null, 'Acme'), (2, null, 'G-2', null)")
  database.close()
  assert.deepEqual(await said(['python3', sample, file]), {
    code: 0,
    text: 'insurance_plans: 2 records fit the contract.\nNothing is wrong. Nothing was sent.',
  })
})

test('whatever the service would refuse or misunderstand is named with its line', async () => {
  const cases: readonly (readonly [readonly (object | string)[], RegExp])[] = [
    [['Reading…', location, plan, list], /Line 1: is not a line of JSON; print anything else to stderr\./],
    [[[1]], /must be a JSON object/],
    [[plan], /"location" must be the key of a location that was printed before/],
    [[{ location: { source_id: 'x' } }], /a location needs "source_id" and "name", both texts/],
    [[{ location: { ...location.location, time_zone: 'CST6' } }], /a location needs a "time_zone" like America/],
    [[location, { ...plan, dataset: 'plans' }], /Line 2: "dataset" must be one of fee_schedules/],
    [[location, { ...plan, source_id: 7 }], /"source_id" must be a text of 1 to 255 characters/],
    [[location, { ...plan, attributes: null }], /"attributes" must be an object/],
    [
      [location, { ...plan, attributes: { ...attributes, renewal_month: 13 } }, list],
      /Line 2: insurance_plans: renewal_month must/,
    ],
    [[location, plan, plan, list], /a key came twice at one location/],
    [[location, list, plan], /a record came after the complete list/],
    [[location, plan], /no complete list was printed for a location, so nothing is ever removed/],
    [[location, plan, { ...list, complete: [] }], /a record is missing in the complete list, so it would be hidden/],
    [[location, plan, { ...list, complete: ['1', '2'] }], /the complete list names a key without a record/],
    [[location, plan, { ...list, complete: [1] }], /"complete" must be a list of keys/],
    [
      [location, { ...plan, attributes: { ...attributes, fee_schedule_source_id: '9' } }, list],
      /names a record of fee_schedules that was not printed for its location, so vendors receive null/,
    ],
    [[], /no location was printed; begin with/],
    [[location], /No record was printed\./],
    [[location, plan, { ...plan, source_id: '' }, { ...plan, source_id: '' }, list], /The same on 1 more lines\./],
  ]
  for (const [lines, text] of cases) {
    const answer = await said(printing(...lines))
    assert.match(answer.text, text)
    assert.equal(answer.code, 1)
  }
})

test('records that differ in each run, a program that fails, and one that is not there are said', async () => {
  const lines = JSON.stringify(
    [location, { ...plan, attributes: { ...attributes, plan_name: 'NOW' } }, list].map((each) => JSON.stringify(each)),
  )
  const changing = await said([
    process.execPath,
    '-e',
    `for (const l of ${lines}) console.log(l.replace('NOW', process.hrtime.bigint()))`,
  ])
  assert.match(changing.text, /insurance_plans: a record differs in a second run\. Keep lists in one order/)
  const failing = await said([process.execPath, '-e', 'process.exit(3)'])
  assert.match(failing.text, /The program ended with exit code 3, so nothing that it printed would count/)
  await assert.rejects(said(['/nowhere/program']), /The program \/nowhere\/program cannot be started \(ENOENT\)/)
  await assert.rejects(said([]), /The command is missing\./)
})
