import assert from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { testPractice } from './open-dental/testing/test-practice.ts'
import { openState } from './state/state.ts'
import { runAgentCommand, spawnAgent, temporaryFolder, writeTestConfig } from './testing/test-agent.ts'
import { startTestService } from './testing/test-service.ts'

const mariaDb = await startTestMariaDb({ after })

test('enroll, check and run --once bring a practice to the server', async (t) => {
  const server = await startTestService(t)
  const practice = await testPractice(mariaDb)
  const folder = temporaryFolder(t)
  const config = join(folder, 'new', 'config.json')
  const { socket, user, password, name } = practice.settings
  const enrolled = await runAgentCommand(
    [
      'enroll',
      '--server',
      server.url,
      '--code',
      await server.enrolmentCode(),
      '--db-socket',
      socket ?? '',
      '--db-user',
      user,
      '--db-name',
      name,
      '--config',
      config,
    ],
    { env: { BRIDGEWORK_AGENT_DB_PASSWORD: password } },
  )
  assert.deepEqual([enrolled.code, enrolled.stderr], [0, ''])
  assert.match(enrolled.stdout, /^The agent is enrolled\. Only you can read its settings file: .*config\.json$/m)
  assert.match(enrolled.stdout, /^Next, run: bridgework-agent check$/m)
  assert.equal(statSync(config).mode & 0o777, 0o600)
  assert.ok(!enrolled.stdout.includes(server.agentKey) && !enrolled.stdout.includes(password))

  const checked = await runAgentCommand(['check'], { env: { BRIDGEWORK_AGENT_CONFIG: config } })
  assert.equal(checked.code, 0, checked.stdout)
  assert.doesNotMatch(checked.stdout, /WRONG/)

  const ran = await runAgentCommand(['run', '--once', '--config', config])
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  assert.equal((await server.visible('1', 'insurance_plans')).size, 3)
  assert.equal((await server.visible('2', 'fee_schedules')).size, 2)
  assert.equal(statSync(join(folder, 'new', 'state.sqlite')).mode & 0o777, 0o600)

  await practice.update('employer', 'EmployerNum', 1, { EmpName: 'Acme Ltd' })
  const again = await runAgentCommand(['run', '--once', '--json', '--config', config])
  assert.equal(again.code, 0)
  assert.equal((await server.visible('2', 'insurance_plans')).get('2')?.plan_name, 'Acme Ltd')
  for (const line of again.stdout.trimEnd().split('\n')) assert.ok(JSON.parse(line).at)
  for (const value of ['Acme', 'Example Dental', 'Gold', 'Harbor', server.agentKey, password]) {
    assert.ok(!(ran.stdout + ran.stderr + again.stdout + again.stderr).includes(value), value)
  }
})

test('an enrolment that fails leaves no settings, and one that would overwrite some asks for --replace', async (t) => {
  const server = await startTestService(t)
  const folder = temporaryFolder(t)
  const config = join(folder, 'config.json')
  const args = (code: string) => [
    'enroll',
    '--server',
    server.url,
    '--code',
    code,
    '--db-user',
    'reader',
    '--config',
    config,
  ]
  const env = { BRIDGEWORK_AGENT_DB_PASSWORD: 'p', BRIDGEWORK_AGENT_DATA_DIR: '/data' }
  const code = await server.enrolmentCode()
  const wrong = await runAgentCommand(args('bwe_wrong'), { env })
  assert.equal(wrong.code, 1)
  assert.match(wrong.stdout, /Ask for a new enrolment code\. A code works once and expires\./)
  assert.ok(!existsSync(config))

  assert.equal((await runAgentCommand(args(code), { env })).code, 0)
  const before = readFileSync(config, 'utf8')
  assert.equal(JSON.parse(before).state_path, '/data/state.sqlite')
  const twice = await runAgentCommand(args(code), { env })
  assert.equal(twice.code, 2)
  assert.match(twice.stderr, /The settings file .* exists already\. To enrol this agent again, add --replace\./)
  const refused = await runAgentCommand(['enroll', '--code', code, '--replace', '--config', config])
  assert.equal(refused.code, 1)
  assert.equal(readFileSync(config, 'utf8'), before)
})

test('before the code is used up, enroll refuses what cannot work', async (t) => {
  const server = await startTestService(t)
  const config = join(temporaryFolder(t), 'config.json')
  const refused: [string[], RegExp][] = [
    [['--server', 'http://bridgework.example.com', '--code', 'bwe_once', '--db-user', 'x'], /must begin with https/],
    [
      ['--server', server.url, '--code', 'nonsense', '--db-user', 'x'],
      /An enrolment code begins with bwe_\. Create one in the portal/,
    ],
    [['--server', server.url, '--code', 'bwe_once'], /--db-user is missing\. See "bridgework-agent enroll --help"\./],
    [
      ['--server', server.url, '--code', 'bwe_once', '--db-user', 'x'],
      /Set the database password with --db-password-file or/,
    ],
    [
      ['--server', server.url, '--code', 'bwe_once', '--db-user', 'x', '--db-host', 'a', '--db-socket', '/s'],
      /Use --db-socket or --db-host, not both\./,
    ],
    [
      ['--server', server.url, '--code', 'bwe_once', '--db-user', 'x', '--db-password-file', '/nowhere'],
      /The password file \/nowhere cannot be read\./,
    ],
    [
      ['--server', server.url, '--code', 'bwe_once', '--db-user', 'x', '--db-port', '3o6'],
      /--db-port must be a whole number/,
    ],
    [
      ['--server', server.url, '--code', 'bwe_once', '--db-user', 'x', '--db-prot', '3306'],
      /Unknown option "--db-prot"\. Did you mean "--db-port"\?/,
    ],
    [
      ['--server', server.url, '--code', 'bwe_once', '--db-user', 'x', '--connector', 'dentrix'],
      /connector must be "open-dental"|--db-password/,
    ],
    [['--server', server.url, '--code', 'bwe_once', '--db-user', 'x', '--db-user', 'y'], /--db-user is given twice/],
    [['--server', server.url, '--code'], /--code needs a value/],
    [['--server', '--code', 'bwe_once', '--db-user', 'x'], /--server needs a value/],
    [['--server', server.url, '--code='], /--code needs a value/],
  ]
  for (const [args, expected] of refused) {
    const ended = await runAgentCommand(['enroll', ...args, '--config', config])
    assert.equal(ended.code, 2, args.join(' '))
    assert.match(ended.stderr, expected)
  }
  assert.deepEqual(server.requests, [])
  assert.ok(!existsSync(config))
})

test('enroll --db-tls sets the encryption of the database connection, and --replace keeps it', async (t) => {
  const server = await startTestService(t)
  const config = join(temporaryFolder(t), 'config.json')
  const env = { BRIDGEWORK_AGENT_DB_PASSWORD: 'p' }
  const enrolled = async (...more: string[]) => {
    const code = await server.enrolmentCode()
    const args = ['enroll', '--server', server.url, '--code', code, '--config', config, ...more]
    const ended = await runAgentCommand(args, { env })
    assert.equal(ended.code, 0, ended.stdout + ended.stderr)
    const { tls, tls_ca_file, host } = JSON.parse(readFileSync(config, 'utf8')).database
    return { tls, tls_ca_file, host }
  }
  const verified = { tls: 'verified', tls_ca_file: '/etc/ca.pem', host: 'db.example' }
  const database = ['--db-user', 'reader', '--db-host', 'db.example']
  assert.deepEqual(await enrolled(...database, '--db-tls-ca-file', '/etc/ca.pem'), verified)
  assert.deepEqual(await enrolled('--replace'), verified)
  assert.equal((await enrolled('--replace', '--db-tls', 'required')).tls, 'required')
  const code = await server.enrolmentCode()
  const args = ['enroll', '--server', server.url, '--code', code, '--config', config, '--replace', '--db-tls', 'yes']
  assert.match((await runAgentCommand(args, { env })).stderr, /database\.tls must be "off", "required" or "verified"/)
})

test('misspelt commands, options, settings and variables are refused with exit code 2', async (t) => {
  const server = await startTestService(t)
  const practice = await testPractice(mariaDb)
  const config = writeTestConfig(temporaryFolder(t), server, practice.settings, { intervall_seconds: 5 })
  const refused: [string[], Record<string, string>, RegExp][] = [
    [['rnu'], {}, /Unknown command "rnu"\. Did you mean "run"\?\n\nUsage: bridgework-agent /],
    [['run', '--onec'], {}, /Unknown option "--onec"\. Did you mean "--once"\?/],
    [['run', 'once'], {}, /Unexpected argument "once"\./],
    [['check', '--once'], {}, /Unknown option "--once"\./],
    [['run', '--once=yes'], {}, /Unknown option "--once=yes"\./],
    [['run', '--config', config], {}, /Unknown setting intervall_seconds\. Did you mean "interval_seconds"\?/],
    [
      ['run', '--config', '/nowhere/config.json'],
      {},
      /The settings file \/nowhere\/config\.json does not exist\. Run "bridgework-agent enroll --server <url> --code/,
    ],
    [
      ['run'],
      { BRIDGEWORK_AGENT_CONFG: config },
      /Unknown variable BRIDGEWORK_AGENT_CONFG\. Did you mean "BRIDGEWORK_AGENT_CONFIG"\?/,
    ],
  ]
  for (const [args, env, expected] of refused) {
    const ended = await runAgentCommand(args, { env })
    assert.equal(ended.code, 2, args.join(' '))
    assert.match(ended.stderr, expected)
  }
})

test('help names every command and its options, also without a word, and --version the version', async () => {
  const all = await runAgentCommand([])
  assert.deepEqual([all.code, all.stderr], [0, ''])
  assert.match(all.stdout, /^Usage: bridgework-agent .*enroll.*run.*check.*BRIDGEWORK_AGENT_CONFIG.*Exit codes/s)
  for (const help of [['--help'], ['help']]) assert.equal((await runAgentCommand(help)).stdout, all.stdout)
  const run = await runAgentCommand(['run', '--once', '--help'])
  assert.equal(run.code, 0)
  assert.match(run.stdout, /^Usage: bridgework-agent run .*--once.*--full.*--json.*--config <path>/s)
  assert.match((await runAgentCommand(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
})

test('settings that others can read are refused', async (t) => {
  const server = await startTestService(t)
  const config = writeTestConfig(temporaryFolder(t), server, (await testPractice(mariaDb)).settings)
  chmodSync(config, 0o640)
  const ended = await runAgentCommand(['run', '--once', '--config', config])
  assert.equal(ended.code, 2)
  assert.match(ended.stderr, /can be read by others.*chmod 600/s)
  assert.deepEqual(server.requests, [])
})

test('run --once says in its exit code that it failed, and that the key was refused', async (t) => {
  const server = await startTestService(t)
  const practice = await testPractice(mariaDb)
  const folder = temporaryFolder(t)
  await practice.setPreference('UpdateInProgressOnComputerName', 'FRONTDESK')
  const updating = await runAgentCommand([
    'run',
    '--once',
    '--config',
    writeTestConfig(folder, server, practice.settings),
  ])
  assert.equal(updating.code, 1)
  assert.match(updating.stdout, /being updated/)

  const wrongKey = writeTestConfig(folder, { ...server, agentKey: 'bwa_other' }, practice.settings)
  await practice.setPreference('UpdateInProgressOnComputerName', '')
  const refused = await runAgentCommand(['run', '--once', '--config', wrongKey])
  assert.equal(refused.code, 3)
  assert.match(refused.stdout, /Ask for a new enrolment code/)
})

test('a running agent stops on SIGTERM, and a second one with the same state is refused', async (t) => {
  const server = await startTestService(t)
  const practice = await testPractice(mariaDb)
  const config = writeTestConfig(temporaryFolder(t), server, practice.settings)
  const agent = spawnAgent(['run', '--json', '--config', config])
  await new Promise<void>((resolve) => {
    agent.process.stdout?.on('data', (text: string) => {
      if (text.includes('cycle.finished')) resolve()
    })
  })
  const second = await runAgentCommand(['run', '--once', '--config', config])
  assert.equal(second.code, 1)
  assert.match(second.stderr, /Another agent is running/)
  agent.process.kill('SIGTERM')
  const ended = await agent.ended
  assert.equal(ended.code, 0)
  assert.match(ended.stdout, /agent\.stopped/)
})

test('state of another server, organization or enrolment is dropped', (t) => {
  const path = join(temporaryFolder(t), 'deep', 'state.sqlite')
  const identity = { serverUrl: 'https://a.example', agentId: '1', organizationId: '2' }
  const first = openState(path, identity, () => 1000)
  first.completeUpload(first.beginUpload('5', 'insurance_plans', new Uint8Array()), [
    { sourceId: '1', hash: 'h', listHash: '', bearsOn: [] },
  ])
  first.finishDataset('insurance_plans', 'c', 1)
  first.close()
  const same = openState(path, identity, () => 1000)
  assert.deepEqual(
    [same.wasReset, same.hashOf('5', 'insurance_plans', '1'), same.nextUploadNumber()],
    [false, 'h', 1001],
  )
  same.close()
  const other = openState(path, { ...identity, agentId: '9' }, () => 1000)
  assert.deepEqual([other.wasReset, other.hashOf('5', 'insurance_plans', '1')], [true, null])
  assert.deepEqual(other.datasetProgress('insurance_plans'), { cursor: null, fullReadAtMs: 0 })
  assert.equal(other.nextUploadNumber(), 1001)
  other.close()
})

test('a state file that is not one is refused without being touched', async (t) => {
  const server = await startTestService(t)
  const folder = temporaryFolder(t)
  const config = writeTestConfig(folder, server, (await testPractice(mariaDb)).settings)
  writeFileSync(join(folder, 'state.sqlite'), 'something else, long enough to be looked at '.repeat(50))
  const ended = await runAgentCommand(['run', '--once', '--config', config])
  assert.equal(ended.code, 1)
  assert.match(ended.stderr, /is not a state file of this agent/)
})

test('a damaged state is set aside and said, and the agent goes on with what the service has', async (t) => {
  const server = await startTestService(t)
  const folder = temporaryFolder(t)
  const config = writeTestConfig(folder, server, (await testPractice(mariaDb)).settings)
  const state = join(folder, 'state.sqlite')
  assert.equal((await runAgentCommand(['run', '--once', '--config', config])).code, 0)
  const before = await server.visible('1', 'insurance_plans')
  writeFileSync(state, Buffer.alloc(statSync(state).size))
  const ran = await runAgentCommand(['run', '--once', '--config', config])
  assert.deepEqual([ran.code, ran.stderr], [0, ''], ran.stdout)
  assert.match(ran.stdout, /The state file was damaged\. It is at .*state\.sqlite\.damaged now/)
  assert.deepEqual(await server.visible('1', 'insurance_plans'), before)
  assert.equal(statSync(`${state}.damaged`).mode & 0o777, 0o600)

  assert.doesNotMatch((await runAgentCommand(['run', '--once', '--config', config])).stdout, /damaged/)
})
