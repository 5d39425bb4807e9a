import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'smol-toml'
import { Compile } from 'typebox/schema'
import { runAgentCommand, temporaryFolder } from '../../testing/test-agent.ts'
import { readMapping } from '../mapping/mapping.ts'
import { isObject } from '../mapping/mapping-fields.ts'
import { mappingSchema } from '../mapping/mapping-schema.ts'
import { map } from './map.ts'

const examples = fileURLToPath(new URL('../../../examples', import.meta.url))
const fits = Compile(mappingSchema())

async function proposed(t: TestContext, folder: string, isTerminal = true) {
  const output = join(temporaryFolder(t), 'mapping.toml')
  const lines: string[] = []
  const options = new Map([
    ['folder', folder],
    ['output', output],
  ])
  const code = await map(options, {
    print: (line) => lines.push(line),
    isTerminal,
    timeZone: 'America/Chicago',
    proposeOfDatabase: () => Promise.reject(new Error('no database')),
  })
  const text = code === 0 ? readFileSync(output, 'utf8') : ''
  const document = parse(text)
  if (code === 0) {
    assert.deepEqual(readMapping(document, () => null).faults, [])
    assert.ok(fits.Check(document), JSON.stringify(fits.Errors(document)))
  }
  return { code, text, document, said: lines.join('\n'), questions: text.match(/^# \? /gm)?.length ?? 0 }
}

/** Each setting of a file and each attribute with its rule; each of several files also has those that all of them share. */
function settingsOf(document: Record<string, unknown>): Map<string, string> {
  const found = new Map<string, string>()
  const add = (value: unknown, path: string) => {
    if (isObject(value) && isObject(value.attributes) && Array.isArray(value.files)) {
      const { files, attributes, ...shared } = value
      for (const file of files as Record<string, unknown>[]) {
        const own = { ...attributes, ...(file.attributes as object) }
        add({ ...shared, ...file, attributes: own }, `${path}.${String(file.file)}`)
      }
    } else if (isObject(value) && Array.isArray(value.files)) {
      for (const file of value.files as Record<string, unknown>[]) add(file, `${path}.${String(file.file)}`)
    } else if (isObject(value) && !/\.attributes\.\w+$/.test(path))
      for (const [name, inner] of Object.entries(value)) add(inner, `${path}.${name}`)
    else found.set(path, JSON.stringify(value))
  }
  add(document.datasets, 'datasets')
  add(document.lookups ?? {}, 'lookups')
  return found
}

/** What a person changed in the proposal to get the finished mapping, and how much it had right. */
function byHand(proposal: Record<string, unknown>, finished: string) {
  const [guessed, right] = [settingsOf(proposal), settingsOf(parse(finished))]
  const differing = [...new Set([...right.keys(), ...guessed.keys()])].filter(
    (path) => right.get(path) !== guessed.get(path),
  )
  return { right: right.size - differing.filter((path) => right.has(path)).length, of: right.size, differing }
}

const cents = ['charges', 'payments', 'adjustments'].map(
  (name) => `datasets.ledger_transactions.${name}.txt.attributes.amount`,
)
for (const [name, expected] of Object.entries({
  reports: { questions: 4, right: [21, 22], differing: ['datasets.appointments.attributes.duration_minutes'] },
  semicolons: { questions: 6, right: [38, 38], differing: [] },
  tabs: { questions: 9, right: [39, 43], differing: ['datasets.patients.attributes.balance', ...cents] },
})) {
  test(`map proposes a mapping of the example ${name} that needs few changes by hand`, async (t) => {
    const { document, questions } = await proposed(t, join(examples, name))
    const done = byHand(document, readFileSync(join(examples, name, 'mapping.toml'), 'utf8'))
    assert.deepEqual({ questions, right: [done.right, done.of], differing: done.differing }, expected)
  })
}

test('map shows texts of the files only on a terminal, and writes none into the mapping', async (t) => {
  const folder = join(examples, 'reports')
  const [here, elsewhere] = [await proposed(t, folder), await proposed(t, folder, false)]
  assert.match(here.said, /last_name +\{ column = "Name", split = ",", part = 1 \} +"Quill, Ada", "Rook, Ben"/)
  assert.match(elsewhere.said, /last_name +\{ column = "Name", split = ",", part = 1 \}\n/)
  for (const value of ['Quill', 'Rook', '1980', '095', '555-01', 'window seat'])
    assert.ok(!(elsewhere.said + here.text).includes(value), value)
})

test('map asks what the files do not say, in the mapping and on the terminal', async (t) => {
  const folder = temporaryFolder(t)
  const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  write(
    'patients.csv',
    'Id,First,Last,DOB,Status,Office',
    '1,Ada,Quill,03/04/80,A,Main St',
    '1,Ben,Rook,01/02/99,Z,Oak Ave',
  )
  write('ledger.csv', 'TransNo,Type,Amount,Date,Account', '1,C,100.00,3/4/2026,1', '2,P,50.00,3/5/2026,0')
  write('procedures.csv', 'ProcNo,PatNo,Code,Date', '1,1,D1110,2026-03-04')
  write('visits.ndjson', '{"id":"1","patient":{"id":"1"},"start":"2026-03-04T09:00:00","duration":30}', '{"id":"2"}')
  write('plans_2026-11-30.csv', 'PlanNo;Plan;Group', '1;Gold;G1')
  write('referrals.csv', 'RefNo,PatNo,Referred By', '1,1,Dr. Other')
  write('fees.csv', 'ScheduleNo,Schedule', '1,Standard')
  write('letters.txt', 'Dear Sir,', 'this is no table')
  symlinkSync('/proc/self/mem', join(folder, 'locked.csv'))
  symlinkSync('nowhere', join(folder, 'removed.csv'))
  const { code, said, text, document } = await proposed(t, folder)
  assert.equal(code, 0)
  for (const question of [
    'Which column, or which columns together, are different in every row?',
    'Is the month or the day first? Both fit all of these dates.',
    'What does "Z" mean? One of active, inactive, ',
    'No amount is negative. If payments are in this file too, read it twice: with where for each type, and negate = true for payments.',
    'No column says which treatments are planned: are all completed?',
    'No column says how many units there are: is it always one?',
    'No column says which visits were kept or cancelled: are all to come?',
    'Did all of these refer a patient to the practice?',
    'Are these the fees of the practice itself?',
  ]) {
    assert.ok(said.includes(`    ? ${question}`) || text.includes(`# ? ${question}`), question)
  }
  assert.match(
    said,
    /letters\.txt: the agent does not recognize what this file holds\. Map it by hand, or leave it out\./,
  )
  assert.match(
    said,
    /locked\.csv: cannot be read \(EIO\)\. Close the program that uses it, or get the right to read it\./,
  )
  assert.match(
    text,
    /# \? No column names the location\. Does every record belong to all of them\?\nall_locations = true/,
  )
  assert.match(text, /\[locations\.mainst\]\nname = "Main office, Main St"\n.*\nnames_in_files = \["Main St"\]/)
  const { datasets } = document as { datasets: Record<string, Record<string, unknown>> }
  assert.deepEqual(Object.keys(datasets).toSorted(), [
    'appointments',
    'fee_schedules',
    'insurance_plans',
    'ledger_transactions',
    'patient_referrals',
    'patients',
    'treatments',
  ])
  assert.deepEqual(
    [datasets.insurance_plans?.file, datasets.insurance_plans?.delimiter],
    ['plans_{YYYY-MM-DD}.csv', ';'],
  )
  assert.match(text, /\nattributes\.patient_source_id = "patient\.id"\n/)
})

test('no patient’s value is in the mapping of a file without a header, or of one with a line for each patient', async (t) => {
  const folder = temporaryFolder(t)
  const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  write('patients.csv', 'P1,Quill,Ada,Springfield', 'P2,Rook,Ben,Denver')
  write('visits.csv', 'ApptNo,PatNo,Date,Time', '"Stone, Cal",,,', '1,1,3/14/2026,9:30 AM', 'Total 1,,,')
  const { said, text } = await proposed(t, folder, false)
  assert.match(said, /patients\.csv: the agent does not recognize what this file holds/)
  assert.match(text, /\nskip_starting = \["Total"\]\n/)
  for (const value of ['P1', 'Quill', 'Ada', 'Springfield', 'Stone']) assert.ok(!(said + text).includes(value), value)
})

test('map gives locations and look-ups with similar names keys of their own', async (t) => {
  const folder = temporaryFolder(t)
  const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  write('patients.csv', 'PatNo,Last,Office,Provider', '1,Quill,Main St,A', '2,Rook,Main St.,A', '3,Stone,主,A')
  write('visits.csv', 'ApptNo,PatNo,Office,Start,Hygienist', '1,1,Main St,2026-03-04T09:00:00,H1')
  write('codes-a.csv', 'Code,Name', 'A,Dr. Other')
  write('codes a.csv', 'Code,Name', 'H1,Eve')
  const { document } = await proposed(t, folder)
  const { locations, lookups } = document as Record<string, Record<string, unknown>>
  assert.deepEqual(Object.keys(locations ?? {}), ['mainst', 'mainst2', 'location'])
  assert.deepEqual(Object.keys(lookups ?? {}), ['codesa', 'codesa2'])
})

test('the mapping has each question above the line that it is about', async (t) => {
  const [tabs, semicolons] = [
    await proposed(t, join(examples, 'tabs')),
    await proposed(t, join(examples, 'semicolons')),
  ]
  const reports = await proposed(t, join(examples, 'reports'))
  assert.ok(
    tabs.text.startsWith(
      '# Proposed by "bridgework-agent map" from the names and the content of sample files. Answer each line that begins\n# with "# ?", then run "bridgework-agent check". docs/guides/export-files.md explains every setting.\nversion = 2\nnull_words = ["NULL"]\n',
    ),
  )
  for (const line of [
    '# ? Which practice management system wrote the files? Vendors see its name.\npractice_management_system = { name = "Export files" }',
    '# ? The key in brackets must never change. Are name, time zone, country and currency right?\n[locations.main]',
    '# ? No amount has decimals. Are they in cents? Then add scale = 2.\nattributes.balance.total = "Balance"',
    '# ? No amount has decimals. Are they in cents? Then add scale = 2. Payments must be negative: does negate fit?\nattributes.amount = { column = "Amount", negate = true }',
    '# ? Taken from the name of the file: is every row of this type?\nattributes.transaction_type = { constant = "charge" }',
    '[lookups.providers]\nfile = "providers.txt"\ndelimiter = "\\t"\nkey = "Code"\nvalue = "Name"',
    'attributes.provider_name = { column = "Prov", lookup = "providers" }',
  ])
    assert.ok(tabs.text.includes(line), line)
  assert.match(tabs.said, /providers\.txt: a list of codes, as the look-up "providers"/)
  for (const line of [
    '# ? No column says who is active: are all patients of this file?\nattributes.status = { constant = "active" }',
    '# ? The file is not UTF-8. Are the letters in names right in what check shows? If not, name another encoding.\nencoding = "windows-1252"',
  ])
    assert.ok(semicolons.text.includes(line), line)
  for (const line of [
    '# ? Are these units of several minutes? Then add multiply, as multiply = 10.\nattributes.duration_minutes = "Length"',
    '# ? Are rows that begin with these words titles or totals, not records?\nskip_starting = ["Printed", "Total"]',
  ])
    assert.ok(reports.text.includes(line), line)
})

test('map as a command: it requires a folder, overwrites nothing, and writes the schema for editors', async (t) => {
  const folder = temporaryFolder(t)
  const cwd = temporaryFolder(t)
  const run = (...args: string[]) => runAgentCommand(['map', ...args], { cwd })
  const without = await run()
  assert.deepEqual(
    [without.code, /--folder is missing\. See "bridgework-agent map --help"/.test(without.stderr)],
    [2, true],
  )
  const nowhere = await run('--folder', join(folder, 'x'))
  assert.match(nowhere.stderr, /The folder .*x does not exist\./)
  const empty = await run('--folder', folder)
  assert.deepEqual([empty.code, existsSync(join(cwd, 'mapping.toml'))], [1, false])
  assert.match(empty.stdout, /looks like an export\. The agent looks for CSV, text and NDJSON files with a header\./)
  writeFileSync(join(folder, 'plans.csv'), 'PlanNo,Plan,Group\n1,Gold,G1\n')
  const done = await run('--folder', folder, '--name', 'Example Dental', '--time-zone', 'America/Denver')
  assert.deepEqual([done.code, done.stderr], [0, ''])
  assert.match(
    done.stdout,
    /The mapping is written to .*mapping\.toml, with 2 questions in lines that begin with "# \?"\./,
  )
  assert.match(done.stdout, /Answer them, enrol the agent with --connector files, and run "bridgework-agent check"\./)
  assert.ok(!done.stdout.includes('Gold'))
  const again = await run('--folder', folder)
  assert.deepEqual(
    [again.code, /mapping\.toml exists already\. Choose another path, or remove it\./.test(again.stderr)],
    [2, true],
  )
  mkdirSync(join(cwd, 'sub'))
  const schema = await run('--schema', 'sub/schema.json')
  assert.match(schema.stdout, /The schema is written to .*schema\.json\./)
  assert.deepEqual(
    JSON.parse(readFileSync(join(cwd, 'sub/schema.json'), 'utf8')),
    JSON.parse(JSON.stringify(mappingSchema())),
  )
  const bad = await run('--schema', 'nowhere/schema.json')
  assert.match(bad.stderr, /The file nowhere\/schema\.json cannot be written \(ENOENT\)\. Choose another path\./)
})
