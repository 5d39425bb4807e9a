import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { createPractice, demoShape, simulatedDatasets, truthOf } from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { parse } from 'smol-toml'
import { Compile } from 'typebox/schema'
import { createEmptyDatabase, superuserUrl } from '../../../../server/src/platform/database/testing/test-database.ts'
import { served } from '../../demo/testing/test-agent.ts'
import { readMapping } from '../../files/mapping/mapping.ts'
import { mappingSchema } from '../../files/mapping/mapping-schema.ts'
import { map } from '../../files/propose/map.ts'
import { runAgentCommand, temporaryFolder } from '../../testing/test-agent.ts'
import { mariaDatabase, postgresDatabase, sqliteDatabase, type TestSqlDatabase } from '../testing/test-database.ts'
import { lacksOdbc, odbcProgram, throughOdbc } from '../testing/test-odbc.ts'
import { writeOtherSchema } from '../testing/test-other-schema.ts'
import { someSqlAgent } from '../testing/test-source.ts'
import { proposeOfDatabase } from './propose-database.ts'

const mariaDb = await startTestMariaDb({ after })
const fits = Compile(mappingSchema('sql'))

const practice = createPractice({
  ...demoShape('another schema'),
  locations: [12, 6].map((n) => ({ insurancePlans: n, feeSchedules: 2, patients: n })),
  years: 0.4,
})

async function postgres(t: TestContext): Promise<TestSqlDatabase> {
  const { url } = await createEmptyDatabase(t)
  return await postgresDatabase(t, superuserUrl(new URL(url).pathname.slice(1)))
}

async function proposed(t: TestContext, { settings }: TestSqlDatabase, isTerminal = false) {
  const output = join(temporaryFolder(t), 'mapping.toml')
  const lines: string[] = []
  const options = new Map([
    ['connector', 'sql'],
    ['output', output],
    ['name', 'Example Dental'],
  ])
  const code = await map(options, {
    print: (line) => lines.push(line),
    isTerminal,
    timeZone: 'America/Denver',
    proposeOfDatabase: () => proposeOfDatabase(settings),
  })
  const text = code === 0 ? readFileSync(output, 'utf8') : ''
  const document = parse(text)
  if (code === 0) {
    assert.deepEqual(readMapping(document, () => null, 'sql').faults, [])
    assert.ok(fits.Check(document), JSON.stringify(fits.Errors(document)))
  }
  return { code, text, document, said: lines.join('\n'), questions: text.match(/^# \? .*$/gm) ?? [] }
}

test('a database of another schema is mapped from zero: what is asked, what a person corrects, and every record arrives', async (t) => {
  const database = await postgres(t)
  await writeOtherSchema(database, practice)
  const { document, questions, text } = await proposed(t, database)
  assert.equal(questions.length, 9, questions.join('\n'))
  for (const line of [
    '# ? Of which practice management system is the database? Vendors see its name.\npractice_management_system = { name = "SQL database" }',
    '# ? Does the column "voided" mark rows that do not count? Then add a condition.\nselect = ',
    '# ? Does this number grow over the whole table with every change? Otherwise leave "changed" out.\nchanged = { column = "version"',
    '# ? Does every change of a row set this column, and is it in local time (otherwise "utc_time")? If only new rows do, leave "changed" out.',
  ])
    assert.ok(text.includes(line), line)
  const agent = await someSqlAgent(t, database.settings, document)
  assert.deepEqual(await differing(agent, document), ['appointments.starts_at'])

  // The one thing by hand: no column says that the second office is in another zone than this computer.
  const { locations } = document as { locations: Record<string, { name: string; time_zone: string }> }
  for (const [key, { name, timeZone }] of practice.locations) {
    assert.equal(locations[key]?.name, name)
    if (locations[key] !== undefined) locations[key].time_zone = timeZone
  }
  agent.setMapping(document)
  assert.deepEqual(await differing(agent, document), [])
})

/** The attributes whose served values are not those of the practice, after another cycle. Texts named raw are the database's own. */
async function differing(agent: Awaited<ReturnType<typeof someSqlAgent>>, document: object): Promise<string[]> {
  const events = () => JSON.stringify(agent.events.filter(({ event }) => /failed|advice/.test(event)))
  assert.equal(await agent.run(), 'complete', events())
  const visible = await served(agent.server)
  const { datasets } = document as { datasets: Record<string, { attributes: object }> }
  const names = new Set<string>()
  assert.deepEqual(Object.keys(datasets), [
    'insurance_plans',
    'patients',
    'appointments',
    'treatments',
    'ledger_transactions',
  ])
  for (const dataset of simulatedDatasets) {
    const attributes = Object.keys(datasets[dataset]?.attributes ?? {}).filter((name) => !name.endsWith('_raw'))
    if (attributes.length === 0) continue
    const [found, expected] = [new Set<string>(), new Set<string>()]
    for (const [location, records] of truthOf(practice).get(dataset) ?? []) {
      const right = new Map(records.map((record) => [record.source_id, record.attributes as Record<string, unknown>]))
      for (const key of right.keys()) expected.add(key)
      for (const { source_id, attributes: own } of visible(dataset, location, records)) {
        found.add(source_id)
        for (const name of attributes)
          if (JSON.stringify(own[name]) !== JSON.stringify(right.get(source_id)?.[name]))
            names.add(`${dataset}.${name}`)
      }
    }
    // The other database knows one office of each patient.
    assert.deepEqual(found, expected, dataset)
  }
  return [...names]
}

test('map shows rows on a terminal alone, and the mapping holds no patient’s value', async (t) => {
  const database = sqliteDatabase(t, temporaryFolder(t))
  await writeOtherSchema(database, practice)
  const [here, elsewhere] = [await proposed(t, database, true), await proposed(t, database)]
  const truth = truthOf(practice).get('patients') ?? new Map()
  const names = [...truth.values()].flat().map(({ attributes }) => String(attributes.last_name))
  assert.ok(names.some((name) => here.said.includes(name)))
  assert.deepEqual(
    names.filter((name) => (elsewhere.said + elsewhere.text + here.text).includes(name)),
    [],
  )
})

test('each engine’s description of its tables gives the same proposal', async (t) => {
  const databases = [await postgres(t), await mariaDatabase(mariaDb), sqliteDatabase(t, temporaryFolder(t))]
  const program = lacksOdbc === false ? odbcProgram() : null
  const keysOf = async (database: TestSqlDatabase) => {
    const { document } = await proposed(t, database)
    const { datasets } = document as { datasets: Record<string, { key: unknown; attributes: object }> }
    return Object.entries(datasets).map(([name, { key, attributes }]) => [
      name,
      key,
      Object.keys(attributes).toSorted(),
    ])
  }
  for (const database of databases) await writeOtherSchema(database, practice)
  const [expected, ...others] = await Promise.all(databases.map(keysOf))
  for (const other of others) assert.deepEqual(other, expected)
  if (program === null) return t.diagnostic(`without ODBC: this machine lacks ${lacksOdbc}`)
  for (const database of databases)
    assert.deepEqual(await keysOf(throughOdbc(database, program)), expected, database.engine)
})

test('a database without a table of patients, visits or payments gets no mapping', async (t) => {
  const database = sqliteDatabase(t, temporaryFolder(t))
  await database.execute('create table weather (day text, rain real)')
  const { code, said } = await proposed(t, database)
  const given = ['--connector', 'sql', '--db-engine', 'sqlite', '--db-name', database.settings.name]
  const command = await runAgentCommand(['map', ...given], { cwd: temporaryFolder(t) })
  assert.deepEqual([command.code, command.stdout.trim(), command.stderr], [1, said, ''])
  assert.deepEqual(
    [code, said],
    [1, 'No table looks like one of patients, visits or payments. Write the mapping by hand.'],
  )
})
