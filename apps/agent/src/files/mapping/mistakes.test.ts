import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runAgentCommand, temporaryFolder } from '../../testing/test-agent.ts'
import { startTestService } from '../../testing/test-service.ts'
import { oneDataset, someFolder } from '../testing/test-folder.ts'

const secret = 'Geheimrat'
const header = 'Pat,Name,Born,Status,Owes,Office\n'
const good = `1,${secret},1984-02-29,active,1.00,main\n`
const mapping = oneDataset(
  'patients',
  {
    file: 'patients.csv',
    key: 'Pat',
    location_column: 'Office',
    attributes: { last_name: 'Name', date_of_birth: 'Born', status: 'Status', balance: { total: 'Owes' } },
  },
  { locations: { main: { name: 'Main', time_zone: 'America/Chicago', names_in_files: [secret] } } },
)

const mistakes: readonly (readonly [content: string | Buffer, expected: RegExp])[] = [
  ['', /^patients\.csv, line 1: is empty, without even a header\.$/],
  [
    'Pat,Name,Born,Status,Owes\n',
    /line 1, column "Office": is not in the header, which has: Pat, Name, Born, Status, Owes\./,
  ],
  ['Pat,Name,Born,Status,Owes,Office,Name\n', /line 1, column "Name": is in the header twice\./],
  [
    header.replaceAll(',', ';') + good.replaceAll(',', ';'),
    /line 1, column "Pat": is not in the header, which has: Pat;Name/,
  ],
  [`${header}${good}1,${secret}\n`, /line 3: has 2 fields, and the header has 6\./],
  [`${header}${good}1,${secret},,active,,main\n`, /line 3, column "Pat": is the key of an earlier line\./],
  [`${header},${secret},,active,,main\n`, /line 2, column "Pat": is part of the key and must not be empty\./],
  [
    `${header}2,${secret},29.02.1984,active,,main\n`,
    /line 2, column "Born": must be a date that exists, like YYYY-MM-DD\./,
  ],
  [`${header}2,${secret},2023-02-29,active,,main\n`, /line 2, column "Born": must be a date that exists/],
  [
    `${header}2,${secret},,${secret},,main\n`,
    /line 2, column "Status": must be one of active, inactive, .*map others with "values"\./,
  ],
  [`${header}2,${secret},,,,main\n`, /line 2, column "Status": must not be empty; set a "default"/],
  [
    `${header}2,${secret},,active,12.345,main\n`,
    /line 2, column "Owes": must be an amount with at most two decimals, like 1,234\.50\./,
  ],
  [`${header}2,${secret},,active,${secret},main\n`, /line 2, column "Owes": must be an amount/],
  [`${header}2,${secret},,active,1,elsewhere\n`, /line 2, column "Office": must name a location of the mapping/],
  [`${header}2,${secret.repeat(60)},,active,1,main\n`, /line 2, column "Name": must have at most 500 characters\./],
  [
    `${header}"2\t",${secret},,active,1,main\n"3\n4",${secret},,active,1,main\n`,
    /line 3, column "Pat": is the key: at most 255 characters, without control characters\./,
  ],
  [
    `${header}${good}"2,${secret},,active,1,main\n3,x,,active,1,main\n`,
    /line 3: has a quotation mark that is never closed\./,
  ],
  [
    `${header}"2"x,${secret},,active,1,main\n`,
    /line 2: has something between a closing quotation mark and the next delimiter/,
  ],
  [
    `${header}2,a"${secret},,active,1,main\n`,
    /line 2: has a quotation mark within a field that does not begin with one; if they are text, set quotes = "text"\./,
  ],
  [
    Buffer.from(`${header}${good}2,Ren\xe9e ${secret},,active,1,main\n`, 'latin1'),
    /line 3: is not valid utf-8; set its encoding: "windows-1252" in America and Western Europe, "windows-1250" in Central Europe\.$/,
  ],
  [
    `${header}2,${secret.repeat(500_000)},,active,1,main\n`,
    /line 2: is longer than 4 MB; check for a quotation mark that is never closed\.$/,
  ],
  [
    `1,${secret},1984-02-29,active,1.00,main\n`,
    /line 1, column "Pat": is not in the first row; if the file has no header, name its columns with "header"\.$/,
  ],
  [
    `${header}${good}`.replaceAll('\n', '\r\n') +
      `"2","${secret}\r\nstill ${secret}",,active,1,main\r\n3,x,,x,1,main\r\n`,
    /line 5, column "Status"/,
  ],
]

test('a file with a mistake of any kind is named by line, column and rule, and nothing of it is sent', async (t) => {
  const world = await someFolder(t, mapping)
  for (const [content, expected] of mistakes) {
    world.write('patients.csv', content)
    assert.equal(await world.run(), 'incomplete', String(expected))
    const { what } = world.named('dataset.failed')[0] ?? { what: '' }
    assert.match(what.replace('The agent sent nothing from the file. ', ''), expected)
    assert.ok(!what.includes(secret), what)
    assert.equal(world.visible('main', 'patients').size, 0)
  }
  assert.deepEqual([world.server.cycles(), (await world.server.counts()).inserted], [[], 0])
  world.write('patients.csv', `\ufeff${header}\r\n${good}\r\n2,"say ""hi""\nthere",,active,,${secret}`)
  assert.equal(await world.run(), 'complete')
  assert.equal(world.visible('main', 'patients').get('2')?.last_name, 'say "hi"\nthere')
})

test('of many mistakes the first ones are named, and the rest are counted', async (t) => {
  const world = await someFolder(t, mapping)
  world.write('patients.csv', header + Array.from({ length: 1500 }, (_, index) => `${index},x,,y,,main\n`).join(''))
  await world.run()
  const { what } = world.named('dataset.failed')[0] ?? { what: '' }
  assert.equal(what.match(/patients\.csv, line/g)?.length, 10)
  assert.match(what, /And at least 990 more\./)
})

test('NDJSON: mistakes in lines and values', async (t) => {
  const world = await someFolder(
    t,
    oneDataset('insurance_plans', {
      file: 'p.ndjson',
      key: 'id',
      attributes: { plan_name: 'plan.name', renewal_month: 'month', fee_schedule_source_id: 'fees' },
    }),
  )
  for (const [line, expected] of [
    ['{"id":', /line 2: is not valid JSON/],
    ['[1]', /line 2: must be a JSON object/],
    ['{"plan":{"name":"x"}}', /line 2, column "id": is part of the key and must not be empty/],
    ['{"id":2,"plan":{"name":["x"]}}', /line 2, column "plan\.name": must be a plain value, not a list or an object\./],
    ['{"id":2,"fees":"a\\tb"}', /line 2: does not fit the attribute fee_schedule_source_id\./],
    ['{"id":2,"month":1.5}', /line 2, column "month": must be a whole number/],
  ] as const) {
    world.write('p.ndjson', `{"id":1,"plan":{"name":"One"},"month":7}\n${line}\n`)
    assert.equal(await world.run(), 'incomplete')
    assert.match(world.named('dataset.failed')[0]?.what ?? '', expected)
  }
  world.write('p.ndjson', '{"id":1,"plan":{"name":"One"},"month":7}')
  await world.run()
  assert.equal(world.visible('main', 'insurance_plans').get('1')?.renewal_month, 7)
})

test('enroll, check and run: a mistake is explained before anything is sent, and mended while the agent runs on', async (t) => {
  const server = await startTestService(t)
  const folder = temporaryFolder(t)
  const [exports, config, map] = [join(folder, 'exports'), join(folder, 'config.json'), join(folder, 'mapping.json')]
  mkdirSync(exports)
  const file = (content: string) => writeFileSync(join(exports, 'patients.csv'), content)
  const agent = (...args: string[]) => runAgentCommand([...args, '--config', config])
  writeFileSync(map, JSON.stringify({ ...mapping, settle_seconds: 0 }))
  const enrol = ['enroll', '--server', server.url, '--code', await server.enrolmentCode(), '--connector', 'files']

  const incomplete = await agent(...enrol, '--folder', exports)
  assert.deepEqual([incomplete.code, /--mapping is missing/.test(incomplete.stderr)], [2, true])
  const mixed = await agent(...enrol, '--folder', exports, '--mapping', map, '--db-user', 'x')
  assert.match(mixed.stderr, /--db-user cannot be used with --connector files/)
  const enrolled = await agent(...enrol, '--folder', exports, '--mapping', map)
  assert.deepEqual([enrolled.code, enrolled.stderr], [0, ''])

  assert.match(
    (await agent('check')).stdout,
    /WRONG +patients: The file patients\.csv does not exist\.\n +Export it there, or correct the mapping\.\n/,
  )
  file(`${header}${good}2,${secret},,${secret},,main\n`)
  const wrong = await agent('check')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stdout, /WRONG +patients: patients\.csv, line 3, column "Status": must be one of/)
  assert.match(wrong.stdout, /Correct the export or the mapping\. Until then the agent sends nothing from this file\./)
  const failed = await agent('run', '--once')
  assert.deepEqual(
    [failed.code, /FAILED: patients: The agent sent nothing from the file/.test(failed.stdout)],
    [1, true],
  )
  file(`${header}${good}`)
  const right = await agent('check')
  assert.deepEqual(
    [right.code, /good +patients: 1 records in patients\.csv\./.test(right.stdout)],
    [0, true],
    right.stdout,
  )
  assert.match(right.stdout, /good +The mapping is valid: 1 datasets of 1 locations\./)
  const ran = await agent('run', '--once')
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  assert.equal((await server.visible('main', 'patients')).get('1')?.date_of_birth, '1984-02-29')
  for (const { stdout, stderr } of [wrong, failed, right, ran]) assert.ok(!(stdout + stderr).includes(secret))
})

test('check says of a folder, a location and a file that is being written what to do', async (t) => {
  const plans = { file: 'plans.csv', key: 'No', attributes: { plan_name: 'Name', renewal_month: 'Month' } }
  const world = await someFolder(t, oneDataset('insurance_plans', { ...plans, on_bad_line: 'skip_line' }))
  const said = async () =>
    (await world.connector().check()).findings
      .filter(({ outcome }) => outcome !== 'good')
      .map(({ outcome, what, todo }) => `${outcome}: ${what} / ${todo}`)
  world.write('plans.csv', 'No,Name,Month\n1,A,1\n')
  world.whileSettling(() => world.write('plans.csv', 'No,Name,Month\n1,A,1\n2,B,2\n'))
  assert.deepEqual(await said(), [
    'advice: insurance_plans: plans.csv is still being written. / Check again when the export is finished.',
  ])
  world.whileSettling(() => {})
  world.write('plans.csv', `No,Name,Month\n${Array.from({ length: 30 }, (_, index) => `${index},A,13`).join('\n')}\n`)
  const lines = await said()
  assert.equal(lines.length, 21)
  assert.match(lines[0] ?? '', /^advice: insurance_plans: plans\.csv, line 2, .* \/ The agent skips this line\.$/)
  assert.equal(lines[20], 'advice: insurance_plans: 10 more lines have errors. / The agent skips this line.')

  world.write('plans.csv', 'No,Name,Month\n1,A,1\n')
  world.setMapping(oneDataset('insurance_plans', plans, { locations: { main: { name: 'Main' } } }))
  assert.deepEqual(await said(), [
    'wrong: locations.main has no time zone. / Give it a time_zone in the mapping, as America/Chicago.',
  ])
  // Files that not even root can read.
  world.clock.ms = Date.now() + 60_000
  rmSync(join(world.settings.folder, 'plans.csv'))
  for (const file of ['plans.csv', 'plans.ndjson']) {
    world.setMapping(oneDataset('insurance_plans', { ...plans, file }))
    symlinkSync('/proc/self/mem', join(world.settings.folder, file))
    assert.deepEqual(await said(), [
      `wrong: insurance_plans: ${file} cannot be read (EIO). / Give the account of the agent the right to read the folder.`,
    ])
    rmSync(join(world.settings.folder, file))
  }
  rmSync(world.settings.folder, { recursive: true })
  const [first = ''] = await said()
  assert.match(
    first,
    /^wrong: The folder .*exports does not exist\. \/ Correct the folder with "bridgework-agent enroll --replace --folder <path>"\.$/,
  )
})
