import assert from 'node:assert/strict'
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { UsageError } from '@bridgework/command-line'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { readConfig } from '../config-file.ts'
import { ingestClient } from '../ingest-client.ts'
import { openDentalConnector } from '../open-dental/connector.ts'
import { testFamily } from '../open-dental/testing/test-family.ts'
import { runAgentCommand, temporaryFolder, writeTestConfig } from '../testing/test-agent.ts'
import { startTestService } from '../testing/test-service.ts'
import { type ConfigureDeps, configure } from './configure.ts'

const mariaDb = await startTestMariaDb({ after })

/** An enrolled agent whose database has a new password, with a file that has it. */
async function someEnrolled(t: TestContext) {
  const server = await startTestService(t)
  const practice = await testFamily(mariaDb)
  const folder = temporaryFolder(t)
  const config = writeTestConfig(folder, server, practice.settings, { time_zone: 'America/Chicago' })
  const { user } = practice.settings
  await mariaDb.execute(`alter user ${user}@localhost identified by 'new one'`)
  const password = join(folder, 'password')
  writeFileSync(password, 'new one\n', { mode: 0o600 })
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAgentCommand([...args, '--config', config])
    return { code, text: stdout + stderr }
  }
  return { server, config, password, command, settings: () => JSON.parse(readFileSync(config, 'utf8')) }
}

test('a new password is tried and written without a new code, and the agent goes on with its key', async (t) => {
  const { server, command, config, password, settings } = await someEnrolled(t)
  const before = settings()
  assert.equal((await command('run', '--once')).code, 1)
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(config, 12_345, 12_346)

  const done = await command('configure', '--db-password-file', password)
  assert.equal(done.code, 0, done.text)
  assert.match(done.text, /The settings are written.*good .*Next, restart the agent/s)
  assert.ok(!done.text.includes('new one'))
  const { password: written, ...database } = settings().database
  assert.deepEqual([written, database.user, settings().agent_key], ['new one', before.database.user, before.agent_key])
  const { uid, gid, mode } = statSync(config)
  assert.equal(mode & 0o777, 0o600)
  if (isRoot) assert.deepEqual([uid, gid], [12_345, 12_346])
  assert.equal((await command('run', '--once')).code, 0)
  const { rows } = await server.service.pool.query('select id from agent')
  assert.equal(rows.length, 1)
})

test('settings that do not work are not written, and the reason is said', async (t) => {
  const { command, config, password } = await someEnrolled(t)
  const before = readFileSync(config, 'utf8')
  const wrong: [string[], RegExp, number][] = [
    [['--interval', '30'], /(password|Access denied)/, 1],
    [
      ['--db-password-file', password, '--server', 'http://127.0.0.1:1'],
      /\n {2}.*\nNothing was changed\. To write these settings all the same, add --untried\./,
      1,
    ],
    [['--db-password-file', password, '--db-host', 'localhost', '--db-port', '1'], /cannot be reached/, 1],
    [['--proxy', 'nonsense'], /proxy must be an address/, 2],
    [['--server', 'http://example.com'], /https/, 2],
    [[], /Say what to change/, 2],
  ]
  for (const [args, message, code] of wrong) {
    const ended = await command('configure', ...args)
    assert.equal(ended.code, code, ended.text)
    assert.match(ended.text, message)
    assert.equal(readFileSync(config, 'utf8'), before, args.join(' '))
  }
})

test('an address, a proxy and a file of certificates are changed and taken back, untried where a person says so', async (t) => {
  const { command, password, settings } = await someEnrolled(t)
  const untried = await command('configure', '--untried', '--proxy', 'http://proxy.example:3128', '--db-port', '3307')
  assert.equal(untried.code, 1, 'check says that the database does not answer')
  assert.deepEqual([settings().proxy, settings().database.port], ['http://proxy.example:3128', 3307])
  const back = await command('configure', '--proxy', 'none', '--db-port', '3306', '--db-password-file', password)
  assert.equal(back.code, 0, back.text)
  assert.deepEqual([settings().proxy, settings().ca_file, settings().database.port], [null, null, 3306])
})

test('a person is asked what changes and for the new value alone', async (t) => {
  const { config, settings, server } = await someEnrolled(t)
  const printed: string[] = []
  const asked: string[] = []
  const answers: string[] = []
  const proxies: (string | null)[] = []
  const deps = (): ConfigureDeps => ({
    configPath: config,
    before: readConfig(config),
    print: (line) => printed.push(line),
    ask: async (question) => {
      asked.push(question)
      return answers.shift() ?? assert.fail('asked too often')
    },
    askPassword: async (question) => {
      asked.push(question)
      return 'new one'
    },
    passwordFromEnvironment: undefined,
    connect: (draft) => {
      proxies.push(draft.proxy)
      const { source } = draft
      assert.ok(source.connector === 'open-dental')
      return { client: ingestClient(draft), connector: openDentalConnector(source.database, draft.timeZone) }
    },
    check: async () => 0,
    startService: () => 'Started.',
  })
  answers.push('1')
  assert.equal(await configure(new Map(), deps()), 0)
  assert.equal(settings().database.password, 'new one')
  assert.deepEqual(printed.slice(0, 7), [
    'What changes?',
    '  1: the password of the database',
    '  2: the address of the database',
    '  3: the port of the database',
    '  4: the proxy',
    '  5: the file of certificates',
    '  6: the address of Bridgework',
  ])
  answers.push('6', `${server.url}/`)
  assert.equal(await configure(new Map(), deps()), 0)
  assert.equal(settings().server_url, server.url)
  assert.equal(printed.at(-1), 'Started.')
  answers.push('4', 'http://proxy.example:3128')
  assert.equal(await configure(new Map(), deps()), 0)
  assert.deepEqual(proxies, [null, null, 'http://proxy.example:3128'], 'tried with the new proxy')
  assert.equal(settings().proxy, 'http://proxy.example:3128')
  answers.push('5', 'none')
  assert.equal(await configure(new Map(), deps()), 0)
  answers.push('2', 'nowhere.invalid')
  assert.equal(await configure(new Map(), deps()), 1, 'no database answers there')
  assert.match(printed.at(-1) ?? '', /Nothing was changed/)
  answers.push('3', '3306')
  assert.equal(await configure(new Map(), deps()), 0)
  assert.deepEqual(
    asked.filter((question) => question !== '1 to 6: '),
    [
      `New password of the database user "${settings().database.user}": `,
      'Address, as https://bridgework.example.com: ',
      'Proxy, as http://proxy:3128 ("none" for none): ',
      'File of certificates, PEM ("none" for none): ',
      'Computer with the database (name or address): ',
      'Port of the database: ',
    ],
  )
  answers.push('9')
  await assert.rejects(configure(new Map(), deps()), UsageError)
})

test('an agent that reads files has no password of a database to change', async (t) => {
  const { config } = await someEnrolled(t)
  const before: ConfigureDeps['before'] = {
    ...readConfig(config),
    source: { connector: 'files', files: { folder: '/exports', mapping: '/exports/mapping.toml' } },
  }
  const deps: ConfigureDeps = {
    ...{ configPath: config, before, print: () => {}, ask: async () => '1', askPassword: async () => 'x' },
    passwordFromEnvironment: undefined,
    connect: () => assert.fail('it was tried'),
    check: async () => 0,
    startService: () => null,
  }
  await assert.rejects(configure(new Map(), deps), /This agent reads files and has no database\./)
})
