import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { datasetNames } from '../dataset-resource.ts'
import { openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { openMirror } from '../sync/testing/test-typed-rows.ts'
import { aPlan, aRecord, someClient } from '../testing/test-client.ts'
import { tryLock } from '../tokens/file-lock.ts'
import { begin, command, someCommand, someFolder } from './testing/test-command.ts'

test('login checks a key pair and keeps it, and the other commands use it', async (t) => {
  const { world, vendor, location } = await someClient(t)
  const home = someFolder(t)
  const terminal = (argv: string[], input = '') => command(argv, { HOME: home }, input)

  const wrong = await terminal(['login', '--base-url', world.url, '--client-id', vendor.clientId], 'bws_wrong\n')
  assert.equal(wrong.code, 3)
  assert.match(wrong.err, /Invalid client credentials/)
  assert.equal((await terminal(['locations'])).code, 3)

  const right = await terminal(
    ['login', '--base-url', world.url, '--client-id', vendor.clientId],
    `${vendor.clientSecret}\n`,
  )
  assert.equal(right.code, 0, right.err)
  assert.match(right.err, /may read 1 locations/)
  const file = join(home, '.config/bridgework/credentials.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!(right.out + right.err).includes(vendor.clientSecret))

  const listed = await terminal(['locations'])
  assert.match(listed.out, new RegExp(`^ID .*\\n${location.id} `))
  const [line] = (await terminal(['locations', '--json'])).out.trim().split('\n')
  assert.equal(JSON.parse(line ?? '').id, location.id)
  assert.equal((await terminal(['login', '--file', file, '--json'])).code, 0)
})

test('pull writes NDJSON, CSV and Parquet with the same records', async (t) => {
  const { env, location } = await someCommand(t)
  await location.upload('appointments', {
    a1: aRecord('appointments', { appointment_type: 'a "quoted", type\nin two lines', provider_name: '' }),
    a2: aRecord('appointments', { starts_at: null, appointment_type: null }),
  })
  const folder = someFolder(t)
  const fileOf = (name: string) => join(folder, name)

  const { out, code } = await command(['pull', 'appointments'], env)
  const records = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(code, 0)
  assert.deepEqual(
    records.map(({ location_id, attributes }) => [location_id, attributes.source_id]),
    [
      [location.id, 'a1'],
      [location.id, 'a2'],
    ],
  )
  for (const name of ['a.ndjson', 'a.csv', 'a.parquet']) {
    const answer = await command(['pull', 'appointments', '--output', fileOf(name), '--json'], env)
    assert.equal(answer.code, 0, answer.err)
    assert.equal(JSON.parse(answer.out).records, 2)
    assert.equal(statSync(fileOf(name)).mode & 0o777, 0o600)
  }
  assert.equal(readFileSync(fileOf('a.ndjson'), 'utf8'), out)
  const csv = readFileSync(fileOf('a.csv'), 'utf8')
  assert.match(csv, /^location_id,id,patient_id,provider_name,/)
  assert.ok(csv.includes('"a ""quoted"", type\nin two lines"'))
  assert.match(csv.split('\r\n')[1] ?? '', /^\d+,\d+,,"",/)
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(fileOf('a.parquet')) })
  const typed = records.map(({ location_id, id, attributes }) => {
    const dates = ['starts_at', 'ends_at', 'arrived_at', 'seated_at', 'dismissed_at', 'created_at', 'updated_at'].map(
      (name) => [name, attributes[name] === null ? null : new Date(attributes[name])],
    )
    return {
      ...{ location_id: BigInt(location_id), id: BigInt(id) },
      ...attributes,
      ...Object.fromEntries(dates),
      local_starts_at: new Date(`${attributes.local_starts_at}Z`),
      duration_minutes: BigInt(attributes.duration_minutes),
      scheduled_production: Number(attributes.scheduled_production),
      patient_id: attributes.patient_id === null ? null : BigInt(attributes.patient_id),
      treatment_ids: attributes.treatment_ids.map(BigInt),
    }
  })
  assert.deepEqual(rows, typed)
  assert.deepEqual(readdirSync(folder).toSorted(), ['a.csv', 'a.ndjson', 'a.parquet'])
})

test('pull takes fields and filters, and leaves no half a file', async (t) => {
  const { env, location, client } = await someCommand(t)
  await location.upload('patients', { p1: aRecord('patients'), p2: aRecord('patients') })
  await location.upload('treatments', {
    t1: aRecord('treatments', { patient_source_id: 'p1' }),
    t2: aRecord('treatments', { patient_source_id: 'p2' }),
  })
  const one = await client.patients.first({ locationId: location.id })

  const { out } = await command(
    ['pull', 'treatments', '--patient', one?.id ?? '', '--fields', 'source_id,status', '--location', location.id],
    env,
  )
  assert.deepEqual(JSON.parse(out).attributes, { status: 'scheduled', source_id: 't1' })

  const folder = someFolder(t)
  const denied = await command(['pull', 'treatments', '--location', '1', '--output', join(folder, 'x.csv')], env)
  assert.equal(denied.code, 4)
  assert.deepEqual(readdirSync(folder), [])
  assert.equal((await command(['pull', 'treatments', '--since', 'yesterday'], env)).code, 2)
})

test('mirror copies to each kind of target, brings it up to date, and verifies it', async (t) => {
  const { env, location, client } = await someCommand(t, { insurancePlans: 4 })
  const folder = someFolder(t)
  const url = await someTarget(t, 'postgres')
  for (const [to, open] of [
    [`sqlite:${join(folder, 'copy.sqlite')}`, () => openStore('sqlite', join(folder, 'copy.sqlite'))],
    [join(folder, 'copy'), () => openStore('ndjson', join(folder, 'copy'))],
    [url, () => openStore('postgres', url)],
  ] as const) {
    const first = JSON.parse((await command(['mirror', '--to', to, '--json'], env)).out)
    assert.deepEqual([first.current, first.failed], [datasetNames.length, []])
    await location.upload('insurance_plans', { p1: aPlan({ plan_name: `For ${new URL(to, 'file://').protocol}` }) })
    const second = await command(['mirror', '--to', to, '--verify'], env)
    assert.equal(second.code, 0)
    assert.match(second.err, /1 records written/)
    assert.match(second.err, /7 datasets equal the service/)
    const store = await open()
    const names = []
    for await (const { attributes } of store.read({ locationId: location.id, dataset: 'insurance_plans' })) {
      names.push(attributes.plan_name)
    }
    await store.close()
    assert.ok(names.includes(`For ${new URL(to, 'file://').protocol}`))
  }
  const partly = await command(
    ['mirror', '--to', join(folder, 'copy'), '--location', `1,${location.id}`, '--dataset', 'patients'],
    env,
  )
  assert.equal(partly.code, 5)
  assert.match(partly.err, /patients was not granted/)
  const misspelt = await command(['mirror', '--to', join(folder, 'copy'), '--location', '999'], env)
  assert.deepEqual([misspelt.code, misspelt.err.match(/999: \w+ was not granted/g)?.length], [4, 7])
  assert.equal((await command(['mirror', '--to', 'mysql://x'], env)).code, 2)
  assert.equal((await command(['mirror', '--to', folder, '--every', '1s'], env)).code, 2)
  assert.ok(await client.insurancePlans.first({ locationId: location.id }))
})

test('a pull says where the next one begins, and what a spreadsheet would calculate is kept from it', async (t) => {
  const { env, world, location } = await someCommand(t)
  await location.upload('appointments', {
    a1: aRecord('appointments', { appointment_type: '=HYPERLINK("http://x")', provider_name: '-1.50' }),
  })
  const folder = someFolder(t)
  const file = join(folder, 'a.csv')

  const pulled = await command(
    ['pull', 'appointments', '--output', file, '--location', `${location.id},${location.id}`],
    env,
  )
  assert.equal(readFileSync(file, 'utf8').match(/HYPERLINK/g)?.length, 1)
  assert.match(readFileSync(file, 'utf8'), /,"=HYPERLINK/)
  const [, watermark = ''] = /--since (\S+)/.exec(pulled.err) ?? []
  await location.upload('appointments', { a2: aRecord('appointments', { appointment_type: '@SUM(1)' }) })
  const later = await command(['pull', 'appointments', '--format', 'csv', '--spreadsheet', '--since', watermark], env)
  assert.match(later.out, /^location_id.*\r\n.*,'@SUM\(1\),.*\r\n$/)
  const guarded = await command(['pull', 'appointments', '--format', 'csv', '--spreadsheet'], env)
  assert.match(guarded.out, /,-1\.50,.*,"'=HYPERLINK\(""http:\/\/x""\)"/)

  // A vendor that lost all grants keeps yesterday's file.
  const alone = await world.addVendor([])
  const ofAlone = { ...env, BRIDGEWORK_CLIENT_ID: alone.clientId, BRIDGEWORK_CLIENT_SECRET: alone.clientSecret }
  const nothing = await command(['pull', 'appointments', '--output', file], ofAlone)
  assert.deepEqual([nothing.code, readFileSync(file, 'utf8').includes('HYPERLINK')], [4, true])
  const other = await tryLock(`${file}.part.lock`)
  const second = await command(['pull', 'appointments', '--output', file], env)
  assert.deepEqual([second.code, /Another process is writing/.test(second.err)], [1, true])
  await other?.release()
  const misspelt = await command(['pull', 'appointments', '--output', join(folder, 'fodler/a.csv')], env)
  assert.deepEqual([misspelt.code, readdirSync(folder)], [1, ['a.csv']])
  const empty = await command(['mirror', '--to', join(folder, 'copy')], ofAlone)
  assert.deepEqual([empty.code, /Ask the practice for access/.test(empty.err)], [4, true])
})

test('mirror with --every goes on until it is interrupted', async (t) => {
  const { env } = await someCommand(t, { insurancePlans: 1 })
  const mirror = begin(['mirror', '--to', join(someFolder(t), 'copy'), '--every', '10s'], env)
  await mirror.says(/datasets are current/)
  mirror.interrupt()
  assert.equal(await mirror.ended, 130)
})

test('watch prints what changes, and after a restart what changed meanwhile', async (t) => {
  const { env, location } = await someCommand(t, { insurancePlans: 3 })
  const state = join(someFolder(t), 'state.json')
  const argv = ['watch', '--json', '--every', '1s', '--dataset', 'insurance_plans', '--state', state]
  const changesIn = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{"change"'))
      .map((line) => JSON.parse(line))
      .map((line) => [line.change, line.location_id, line.dataset, line.type, line.attributes?.source_id])
  const ofPlan = (change: string, plan: string) => [change, location.id, 'insurance_plans', 'insurance_plan', plan]

  const first = begin(argv, env)
  await first.says(/Watching 1 datasets/)
  await location.upload('insurance_plans', { p1: null })
  await first.says(/"change":"removed"/)
  // The second watch of the same kind would lose what the first one prints.
  assert.match((await command(argv, env)).err, /Another watch uses /)
  first.interrupt()
  assert.equal(await first.ended, 130)
  assert.equal(statSync(state).mode & 0o777, 0o600)
  assert.deepEqual(changesIn(first.text()), [ofPlan('removed', 'p1')])

  await location.upload('insurance_plans', { p2: aPlan({ plan_name: 'Meanwhile' }) })
  const second = begin(argv, env)
  await second.says(/"change":"changed"/)
  await location.upload('insurance_plans', { p3: null })
  await second.says(/"change":"removed"/)
  second.interrupt()
  await second.ended
  // What was printed before its end may be printed once more, and nothing else.
  assert.deepEqual(
    changesIn(second.text()).filter(([, , , , plan]) => plan !== 'p1'),
    [ofPlan('changed', 'p2'), ofPlan('removed', 'p3')],
  )

  const anew = begin([...argv, '--anew'], env)
  await anew.says(/Watching 1 datasets/)
  await location.upload('insurance_plans', { p4: aPlan() })
  await anew.says(/"change":"changed"/)
  anew.interrupt()
  await anew.ended
  assert.deepEqual(changesIn(anew.text()), [ofPlan('changed', 'p4')])
  const elsewhere = { ...env, BRIDGEWORK_BASE_URL: `${env.BRIDGEWORK_BASE_URL}/elsewhere` }
  assert.match((await command(argv, elsewhere)).err, /start again with --anew/)
  writeFileSync(state, 'something else')
  assert.match((await command(argv, env)).err, /is not a state file of watch/)
})

test('watch tells of a location that is granted or revoked, also while it was not running, and begins with a granted one there', async (t) => {
  const { env, world, vendor, location } = await someCommand(t, { insurancePlans: 2 })
  const argv = ['watch', '--every', '1s', '--dataset', 'insurance_plans']
  const later = await world.addLocation({ insurancePlans: 2 })

  const first = begin(argv, env)
  await first.says(/Watching 1 datasets/)
  await world.grant(vendor.companyId, later)
  await first.says(new RegExp(`granted  location ${later.id}  insurance_plans\n`))
  await later.upload('insurance_plans', { p1: null })
  await first.says(new RegExp(`removed  location ${later.id}  insurance_plans \\d+\n`))
  await world.revoke(vendor.companyId, location)
  await first.says(new RegExp(`revoked  location ${location.id}  insurance_plans\n`))
  // Two rounds later it has been said once.
  await later.upload('insurance_plans', { p2: null })
  await first.says(/removed [\s\S]*removed .*\n/)
  first.interrupt()
  await first.ended
  assert.equal(first.text().match(/revoked/g)?.length, 1)
  assert.equal(first.text().match(/removed/g)?.length, 2, 'a granted location’s records are no changes')

  await world.grant(vendor.companyId, location)
  await world.revoke(vendor.companyId, later)
  const second = begin(argv, env)
  await second.says(new RegExp(`granted  location ${location.id}  insurance_plans\n`))
  await second.says(new RegExp(`revoked  location ${later.id}  insurance_plans\n`))
  second.interrupt()
  await second.ended
})

test('watch passes over what is not switched on in production yet, without a word', async (t) => {
  const { env, location } = await someCommand(t, { isPreviewOff: true })
  const watch = begin(['watch', '--every', '1s'], env)
  await watch.says(/Watching 6 datasets/)
  for (const key of ['p1', 'p2']) {
    await location.upload('patients', { [key]: aRecord('patients') })
    await watch.says(new RegExp(`(changed  location ${location.id}  patients[^$]*){${key.slice(1)}}`))
  }
  watch.interrupt()
  await watch.ended
  assert.doesNotMatch(watch.text(), /insurance_plans|granted/)
})

test('doctor says what is well and what to do', async (t) => {
  const { env, world, vendor } = await someCommand(t)
  const well = await command(['doctor'], env)
  assert.equal(well.code, 0, well.out)
  for (const check of ['base URL', 'clock', 'token', 'agreement', 'grants', 'limits']) {
    assert.match(well.out, new RegExp(`ok +${check}`))
  }
  assert.match(well.out, /is pending/)
  assert.ok(!well.out.includes(vendor.clientSecret))

  const problems = async (changed: Record<string, string>) => {
    const { code, out } = await command(['doctor', '--json'], { ...env, ...changed })
    assert.equal(code, 5)
    const findings = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    return findings.filter(({ result }) => result === 'problem').map(({ check }) => check)
  }
  const elsewhere = createServer((_, response) => response.end('<html>hello</html>'))
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  t.after(() => elsewhere.close())
  const { port } = elsewhere.address() as AddressInfo
  assert.deepEqual(await problems({ BRIDGEWORK_BASE_URL: `http://127.0.0.1:${port}` }), ['base URL'])
  assert.deepEqual(await problems({ BRIDGEWORK_BASE_URL: 'http://127.0.0.1:1' }), ['base URL'])
  assert.deepEqual(await problems({ BRIDGEWORK_CLIENT_SECRET: 'bws_wrong' }), ['token'])
  assert.deepEqual(await problems({ BRIDGEWORK_CLIENT_ID: '' }), ['key pair'])
  const alone = await world.addVendor([])
  const ofAlone = { BRIDGEWORK_CLIENT_ID: alone.clientId, BRIDGEWORK_CLIENT_SECRET: alone.clientSecret }
  assert.deepEqual(await problems(ofAlone), ['grants'])
})

test('mirror says that it converts the mirror of another version, once', async (t) => {
  const { env } = await someCommand(t, { insurancePlans: 2 })
  const file = join(someFolder(t), 'copy.sqlite')
  await command(['mirror', '--to', `sqlite:${file}`], env)
  const mirror = await openMirror('sqlite', file)
  await mirror.exec(`update layout set name = 'older'`)
  await mirror.close()
  const said = /Converting the mirror of another version of the client, once: 2 records/
  assert.match((await command(['mirror', '--to', `sqlite:${file}`], env)).err, said)
  assert.doesNotMatch((await command(['mirror', '--to', `sqlite:${file}`], env)).err, said)
})

test('what is written wrongly is said, with the right way', async () => {
  for (const [argv, text] of [
    [['pul'], /Unknown command "pul"/],
    [['pull'], /Missing argument: the dataset\. Datasets: fee_schedules/],
    [['pull', 'teeth'], /Unknown dataset "teeth"/],
    [
      ['pull', 'patients', '--fields', 'shoe_size'],
      /Unknown attribute "shoe_size" of patients. Attributes: title, (\w+, )*first_name/,
    ],
    [['pull', 'patients', '--format', 'xls'], /Formats: ndjson, csv, parquet/],
    [['pull', 'patients', 'now'], /Unexpected argument "now"\./],
    [['pull', 'patients', '--spreadsheet'], /--format csv/],
    [['locations', '--jsno'], /Unknown option '--jsno'.*--json/],
    [['mirror'], /--to sqlite:/],
    [['completion', 'tcsh'], /bash, zsh, fish/],
  ] as const) {
    const { code, err, out } = await command([...argv], { HOME: '/nonexistent' })
    assert.equal(code, 2, err)
    assert.match(err, text)
    assert.equal(out, '')
  }
  const help = await command(['--help'], {})
  for (const name of ['login', 'locations', 'pull', 'mirror', 'watch', 'doctor', 'completion']) {
    assert.match(help.out, new RegExp(`^ {2}${name} `, 'm'))
    const own = await command([name, '--help'], {})
    assert.equal(own.code, 0)
    assert.equal(own.out, (await command(['help', name], {})).out)
  }
  for (const shell of ['bash', 'zsh', 'fish']) {
    assert.match((await command(['completion', shell], {})).out, /insurance_plans/)
  }
})
