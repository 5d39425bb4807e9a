import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { oneDataset } from '../files/testing/test-folder.ts'
import { temporaryFolder } from '../testing/test-agent.ts'
import { sqliteDatabase } from './testing/test-database.ts'
import { someSqlAgent } from './testing/test-source.ts'

const plan = { select: 'select * from plan', key: 'no', attributes: { plan_name: 'name' } }
const stamped = { ...plan, changed: { column: 'changed', kind: 'utc_time' } }

/** An agent at a file of SQLite with one table of plans. */
async function somePlans(t: TestContext, dataset: object = stamped, top: object = {}) {
  const database = sqliteDatabase(t, temporaryFolder(t))
  await database.execute('create table plan (no integer, name text, changed text)')
  const agent = await someSqlAgent(t, database.settings, oneDataset('insurance_plans', dataset, top))
  return {
    ...agent,
    execute: database.execute,
    names: () =>
      Object.fromEntries([...agent.visible('main', 'insurance_plans')].map(([key, record]) => [key, record.plan_name])),
    rowsRead: () => agent.named('dataset.finished').map(({ rows }) => rows),
  }
}

test('a row that changed is read alone, one that is deleted is hidden, and nothing is read when nothing changed', async (t) => {
  const plans = await somePlans(t)
  await plans.execute("insert into plan values (1, 'One', '2026-01-01 10:00:00'), (2, 'Two', '2026-01-02 10:00:00')")
  assert.equal(await plans.run(), 'complete', JSON.stringify(plans.events))
  assert.deepEqual(plans.names(), { 1: 'One', 2: 'Two' })

  assert.equal(await plans.run(), 'complete')
  assert.deepEqual([plans.named('dataset.reading')[0]?.fully, plans.named('dataset.finished')[0]?.uploaded], [null, 0])

  await plans.execute("update plan set name = 'Renamed', changed = '2026-01-03 10:00:00' where no = 1")
  await plans.execute("insert into plan values (3, 'Old stamp', '2020-01-01 10:00:00')")
  await plans.execute('delete from plan where no = 2')
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.names(), { 1: 'Renamed', 3: 'Old stamp' }, 'a row that came with an old time is found too')
})

test('a time that lies ahead hides no change after it', async (t) => {
  const plans = await somePlans(t)
  await plans.execute("insert into plan values (1, 'One', '2026-01-01 10:00:00'), (2, 'Ahead', '2999-01-01 10:00:00')")
  assert.equal(await plans.run(), 'complete')
  await plans.execute("update plan set name = 'Changed', changed = '2026-01-01 11:00:00' where no = 1")
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.names(), { 1: 'Changed', 2: 'Ahead' })
})

test('a counter that did not change reads nothing, and one that did reads everything', async (t) => {
  const plans = await somePlans(t, {
    ...plan,
    changed: { counter: 'select count(*) as n, max(changed) as at from plan' },
  })
  await plans.execute("insert into plan values (1, 'One', '1'), (2, 'Two', '2')")
  assert.equal(await plans.run(), 'complete')
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.rowsRead(), [0])
  await plans.execute('delete from plan where no = 1')
  assert.equal(await plans.run(), 'complete')
  assert.equal(plans.named('dataset.reading')[0]?.fully, 'source_changed')
  assert.deepEqual(plans.names(), { 2: 'Two' })
})

test('what shows no change is read again when its time has come', async (t) => {
  const plans = await somePlans(t, plan, { read_every_minutes: 5 })
  await plans.execute("insert into plan values (1, 'One', '1')")
  assert.equal(await plans.run(), 'complete')
  await plans.execute("update plan set name = 'Changed'")
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.names(), { 1: 'One' })
  plans.clock.ms += 5 * 60_000
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.names(), { 1: 'Changed' })
})

test('a row that the mapping does not fit is left out, said without its values, and sent once it is right', async (t) => {
  const dataset = { ...stamped, attributes: { plan_name: 'name', renewal_month: 'month' } }
  const plans = await somePlans(t, dataset)
  await plans.execute('alter table plan add column month text')
  await plans.execute("insert into plan values (1, 'One', '2026-01-01', '10'), (2, 'Two', '2026-01-01', 'secret')")
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.names(), { 1: 'One' })
  const said = plans.named('dataset.advice')[0]?.what ?? ''
  assert.match(said, /^1 rows were skipped\. insurance_plans, column "month": must be a whole number from 1 to 12/)
  assert.doesNotMatch(JSON.stringify(plans.events), /secret/)

  await plans.execute("update plan set month = '11', changed = '2026-01-02' where no = 2")
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.names(), { 1: 'One', 2: 'Two' })

  plans.setMapping(oneDataset('insurance_plans', { ...dataset, on_bad_line: 'refuse_file' }))
  await plans.execute("update plan set month = 'secret' where no = 2")
  assert.equal(await plans.run(), 'incomplete')
  const [failed] = plans.named('dataset.failed')
  assert.match(failed?.what ?? '', /^The agent stopped at a row that the mapping does not fit\./)
  assert.match(failed?.todo ?? '', /^Correct the row or the mapping\. To send the other rows, leave out on_bad_line/)
  assert.deepEqual(plans.names(), { 1: 'One', 2: 'Two' }, 'nothing is removed')
})

test('while the database is not quiet nothing is read, and afterwards everything is', async (t) => {
  const plans = await somePlans(t, stamped, { quiet: 'select not exists (select 1 from maintenance) as quiet;' })
  await plans.execute('create table maintenance (x); insert into maintenance values (1)')
  await plans.execute("insert into plan values (1, 'One', '2026-01-01')")
  assert.equal(await plans.run(), 'put_off')
  assert.match(
    plans.named('cycle.put_off')[0]?.what ?? JSON.stringify(plans.events),
    /The database is not quiet, by the statement "quiet"/,
  )
  assert.equal(
    plans.named('cycle.put_off')[0]?.todo,
    'Nothing to do: the agent goes on when the statement gives 1 or true.',
  )
  await plans.execute('delete from maintenance')
  assert.equal(await plans.run(), 'complete')
  assert.deepEqual(plans.names(), { 1: 'One' })
})

test('a statement that cannot be run stops its dataset alone, in the database’s words for names and syntax', async (t) => {
  const database = sqliteDatabase(t, temporaryFolder(t))
  await database.execute("create table plan (no integer, name text); insert into plan values (1, 'One')")
  const mapping = oneDataset('insurance_plans', plan)
  const fees = {
    select: 'select * from fee',
    key: 'no',
    attributes: { name: 'name', schedule_type: { constant: 'standard' } },
  }
  const agent = await someSqlAgent(t, database.settings, {
    ...mapping,
    datasets: { ...mapping.datasets, fee_schedules: fees },
  })
  assert.equal(await agent.run(), 'incomplete')
  const [failed] = agent.named('dataset.failed')
  assert.equal(
    failed?.what,
    'The database does not understand the statement of fee_schedules (SQLite error 1: no such table: fee).',
  )
  assert.equal(failed?.todo, 'Correct the mapping, then run "bridgework-agent check".')
  assert.equal(agent.visible('main', 'insurance_plans').size, 1)

  agent.setMapping(oneDataset('insurance_plans', { ...plan, attributes: { plan_name: 'Name' } }))
  assert.equal(await agent.run(), 'incomplete')
  assert.equal(
    agent.named('dataset.failed')[0]?.what,
    'The statement of insurance_plans gives no column "Name"; it gives: no, name.',
  )
  assert.equal(
    agent.named('dataset.failed')[0]?.todo,
    'Correct the mapping: names of columns are those of the result, with the same capitals.',
  )
  agent.setMapping(oneDataset('insurance_plans', { ...plan, changed: { column: 'name', kind: 'row_version' } }))
  assert.equal(await agent.run(), 'incomplete')
  assert.match(
    agent.named('dataset.failed')[0]?.what ?? '',
    /^The column "name" that shows changes of insurance_plans does not hold whole numbers or row versions\./,
  )
  assert.match(agent.named('dataset.failed')[0]?.todo ?? '', /or leave it out: then everything is read each time/)
})

test('a record of one location that goes there and stays at another is hidden at the first alone', async (t) => {
  const database = sqliteDatabase(t, temporaryFolder(t))
  await database.execute('create table plan (no text, office text, name text, v integer)')
  await database.execute("insert into plan values ('1-2', 'a', 'One', 1), ('1-2', 'b', 'One', 1), ('x', 'b', 'X', 2)")
  const dataset = {
    select: 'select * from plan',
    key: ['no', { constant: 'p' }],
    location_column: 'office',
    changed: { column: 'v', kind: 'row_version' },
    attributes: { plan_name: 'name' },
  }
  const locations = { a: { name: 'A', time_zone: 'UTC' }, b: { name: 'B', time_zone: 'UTC' } }
  const agent = await someSqlAgent(t, database.settings, { locations, datasets: { insurance_plans: dataset } })
  assert.equal(await agent.run(), 'complete', JSON.stringify(agent.events))
  assert.deepEqual([...agent.visible('a', 'insurance_plans').keys()], ['1~-2-p'])
  await database.execute("delete from plan where office = 'a'")
  assert.equal(await agent.run(), 'complete')
  await agent.server.confirmRemovals()
  assert.equal(await agent.run(), 'complete')
  assert.deepEqual([...agent.visible('a', 'insurance_plans').keys()], [])
  assert.deepEqual([...agent.visible('b', 'insurance_plans').keys()].toSorted(), ['1~-2-p', 'x-p'])
})

test('check says what the database gives, and what the mapping makes of it', async (t) => {
  const plans = await somePlans(t, plan)
  await plans.execute("insert into plan values (1, 'One', '1'), (2, 'Two', '2'), (2, 'Twice', '2')")
  const { findings } = await plans.connector().check()
  const text = findings.map(({ outcome, what, todo }) => `${outcome}: ${what} ${todo ?? ''}`).join('\n')
  assert.match(text, /good: The mapping is valid: 1 datasets of 1 locations/)
  assert.match(text, /good: The database answers: SQLite 3[.\d]+\. Its user "" can only read/)
  assert.match(text, /good: insurance_plans: 2 records\./)
  assert.match(
    text,
    /advice: insurance_plans: insurance_plans, column "no": is the key of an earlier line\. The agent skips these rows/,
  )
  assert.match(
    text,
    /advice: insurance_plans: no setting says how a change is seen, so everything is read every 15 minutes\. Give it "changed" if the table has/,
  )
  assert.deepEqual(findings.find(({ what }) => what.startsWith('insurance_plans: 2'))?.details?.[0], {
    what: 'plan_name from "name": never empty',
    samples: '"One", "Two"',
  })
  plans.setMapping(oneDataset('insurance_plans', { ...plan, on_bad_line: 'refuse_file' }))
  const held = (await plans.connector().check()).findings.filter(({ outcome }) => outcome === 'wrong')
  assert.deepEqual(
    held.map(({ todo }) => todo),
    ['Correct the rows or the mapping. Until then the agent stops at the first of these rows.'],
  )
  plans.setMapping(oneDataset('insurance_plans', { ...plan, file: 'plans.csv', changed: { column: 'x' } }))
  const [fault, missing] = (await plans.connector().check()).findings
  assert.match(
    fault?.what ?? '',
    /datasets\.insurance_plans\.file: unknown setting\..* Known settings: select, keys, changed/,
  )
  assert.match(missing?.what ?? '', /changed\.kind: is missing: local_time, utc_time or row_version/)
})
