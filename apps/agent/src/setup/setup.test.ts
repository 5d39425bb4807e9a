import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { UsageError } from '@bridgework/command-line'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { freePort } from '../../../server/src/testing/test-port.ts'
import { passwordFile } from '../enroll/enroll.ts'
import { testPractice } from '../open-dental/testing/test-practice.ts'
import { runAgentCommand, temporaryFolder } from '../testing/test-agent.ts'
import { startTestService } from '../testing/test-service.ts'
import { findDatabaseServer } from './find-open-dental.ts'
import { type SetupDeps, setUp } from './setup.ts'
import { middleTierSettings, openDentalSettings } from './testing/test-open-dental.ts'
import { restartWindowsService } from './windows-service.ts'

const port = await freePort()
const mariaDb = await startTestMariaDb({ after }, { port })
await mariaDb.execute("create user admin@'%' identified by 'may all'; grant all on *.* to admin@'%' with grant option")

/** A computer with Open Dental, whose settings name this practice's database. */
async function office(t: TestContext) {
  const folder = temporaryFolder(t)
  const practice = await testPractice(mariaDb)
  const openDental = join(folder, 'Open Dental')
  mkdirSync(openDental)
  const settings = openDentalSettings({ host: `127.0.0.1:${port}`, name: practice.name, user: 'admin' })
  writeFileSync(join(openDental, 'FreeDentalConfig.xml'), settings)
  const adminPassword = join(folder, 'admin-password')
  writeFileSync(adminPassword, 'may all\r\n', { mode: 0o600 })
  return { folder, practice, openDental, adminPassword, config: join(folder, 'config.json') }
}

/** Users that are named as ours are. */
async function readers(): Promise<unknown[]> {
  return (await mariaDb.execute("select user from mysql.user where user like 'bridgework%'")).map(({ User }) => User)
}

describe('setup', () => {
  test('from options alone it finds Open Dental, creates the user that reads, enrols and checks', async (t) => {
    const { openDental, practice, adminPassword, config } = await office(t)
    const server = await startTestService(t)
    const common = ['--server', server.url, '--open-dental', openDental, '--config', config]
    const administrator = ['--db-admin', 'admin', '--db-admin-password-file', adminPassword]

    // A code that is refused leaves no user behind.
    const refused = await runAgentCommand(['setup', ...common, '--code', 'bwe_wrong', ...administrator])
    assert.deepEqual([refused.code, await readers(), existsSync(config)], [1, [], false], refused.stdout)

    const code = await server.enrolmentCode()
    const done = await runAgentCommand(['setup', ...common, '--code', code, ...administrator])
    assert.equal(done.code, 0, done.stdout + done.stderr)
    assert.match(done.stdout, /Found Open Dental: .*FreeDentalConfig\.xml\nMariaDB [\d.]+ answers at 127\.0\.0\.1:/)
    assert.match(done.stdout, /Created the database user 'bridgework'@.*can only read "practice_/)
    assert.match(done.stdout, /good +The database user can read only\./)
    const written = JSON.parse(readFileSync(config, 'utf8'))
    assert.deepEqual([written.database.name, written.database.port, written.status_port], [practice.name, port, 4780])
    assert.ok(!`${done.stdout}${JSON.stringify(written)}`.includes('may all'), 'the administrator’s password is kept')
    assert.ok(!done.stdout.includes(written.database.password))

    // Again: nothing is asked, nothing is created, and it is checked.
    const again = await runAgentCommand(['setup', '--config', config])
    assert.match(
      again.stdout,
      /^This computer is enrolled already\. To enrol it again, add --replace and a new code\.\nChecking what the agent will read\. .*good .*The database user can read only/s,
    )
    // The user is there: it is not changed, and the way out is named.
    const replaced = ['setup', ...common, '--replace', '--code', await server.enrolmentCode(), ...administrator]
    const exists = await runAgentCommand(replaced)
    assert.deepEqual([exists.code, (await readers()).length], [1, 1])
    assert.match(
      exists.stdout,
      /^The database has a user 'bridgework'@'.*' already\.\n {2}Give its password, or another name, or remove it first if nothing uses it: drop user/m,
    )
    await mariaDb.execute(/drop user [^;]+/.exec(exists.stdout)?.[0] ?? 'no statement')
  })

  test('a person is asked for what is missing, and asked again after a mistake', async (t) => {
    const { openDental, practice } = await office(t)
    const enrolled: [ReadonlyMap<string, unknown>, string][] = []
    const answers = [
      'http://example.com',
      'https://bridgework.example.com',
      'my code',
      'bwe_abc',
      'no host here:1',
      `127.0.0.1:${port}`,
      '4',
      '2',
      '',
    ]
    const asked: string[] = []
    const printed: string[] = []
    const deps: SetupDeps = {
      print: (line) => printed.push(line),
      ask: async (question) => {
        asked.push(question)
        return answers.shift() ?? assert.fail(`asked too often: ${question}`)
      },
      askPassword: async () => assert.fail('no password is needed'),
      readPassword: passwordFile,
      passwordFromEnvironment: undefined,
      folders: [],
      findDatabaseServer: async (host, at) => (at === port ? await findDatabaseServer(host, at) : null),
      isEnrolled: false,
      enroll: async (options, password) => enrolled.push([options, password]) - 1,
      check: async () => 1,
      startService: () => 'Started.',
    }
    assert.equal(await setUp(new Map([['db-name', practice.name]]), deps), 1, 'what check found')

    const [options, password = ''] = enrolled[0] ?? assert.fail('not enrolled')
    assert.deepEqual(Object.fromEntries(options), {
      server: 'https://bridgework.example.com',
      code: 'bwe_abc',
      'db-host': '127.0.0.1',
      'db-port': String(port),
      'db-name': practice.name,
      'db-user': 'bridgework',
      'db-tls': 'off',
      'status-port': '4780',
    })
    const text = printed.join('\n')
    assert.match(text, /^No Open Dental was found|\nNo Open Dental was found/)
    assert.match(
      text,
      /No database server answers at 127\.0\.0\.1:3306, 3307, 3308\.\n {2}Check that the database server runs and that no firewall/,
    )
    assert.match(text, /^A code begins with bwe_\. You get it in the portal, or from the operator\.$/m)
    assert.match(text, /^The agent needs a database user that can only read:$/m)
    assert.match(text, /1: create it now, with the password of a database administrator \(used once, not kept\)$/m)
    assert.match(text, /2: show the statements that create it, for the administrator$/m)
    const twice = (question: string) => [question, question]
    assert.deepEqual(asked, [
      ...twice('Address of Bridgework, as https://bridgework.example.com: '),
      ...twice('Enrolment code (it begins with bwe_): '),
      ...twice('Computer with the database (name or address, or name:port): '),
      ...twice('Choose 1, 2 or 3: '),
      'Press Enter when the administrator has run them. ',
    ])
    assert.ok(text.includes(`create user 'bridgework'@'localhost' identified by '${password}';`))
    assert.match(text, /grant select on `practice\\_\d+`\.\* to/)
    await mariaDb.execute(`${text.match(/^ {2}(create user|grant) .*;$/gm)?.join('')}drop user bridgework@localhost`)
    assert.match(text, /Solve what is marked WRONG above.*\nStarted\.$/s)
    assert.deepEqual(answers, [])

    // Two installations: the person chooses one. Without a terminal it says which options choose.
    const other = join(openDental, 'Open Dental 2')
    mkdirSync(other)
    writeFileSync(join(other, 'FreeDentalConfig.xml'), openDentalSettings({ host: 'SERVER01', name: 'second' }))
    const given = new Map([
      ['server', 'https://a.example'],
      ['code', 'bwe_a'],
      ['db-user', 'reader'],
    ] as const)
    const numbers = ['3', '1']
    const several = {
      ...deps,
      folders: [openDental],
      passwordFromEnvironment: 'secret',
      ask: async () => numbers.shift() ?? '',
    }
    assert.equal(await setUp(given, several), 1)
    assert.ok(printed.includes('Enter a number from 1 to 2.'))
    assert.equal(enrolled[1]?.[0].get('db-name'), practice.name)
    assert.equal(enrolled[1]?.[1], 'secret')
    await assert.rejects(setUp(given, { ...several, ask: null }), (error: unknown) => {
      return error instanceof UsageError && /--db-host and --db-name/.test(error.message)
    })
  })

  test('the connection to a database on another computer is encrypted as a person or an option says', async () => {
    const enrolled: ReadonlyMap<string, unknown>[] = []
    const answers = ['yes', 'required']
    const asked: string[] = []
    const printed: string[] = []
    const deps: SetupDeps = {
      print: (line) => printed.push(line),
      ask: async (question) => {
        asked.push(question)
        return answers.shift() ?? assert.fail('asked too often')
      },
      askPassword: null,
      readPassword: passwordFile,
      passwordFromEnvironment: 'secret',
      folders: [],
      findDatabaseServer: async () => ({ version: 'MariaDB 11.8.3' }),
      isEnrolled: false,
      enroll: async (options) => enrolled.push(options) * 0,
      check: async () => 0,
      startService: () => null,
    }
    const given = (more: [string, string][], host = 'db.example') =>
      new Map([
        ['server', 'https://a.example'],
        ['code', 'bwe_a'],
        ['db-user', 'reader'],
        ['db-host', host],
        ...more,
      ] as [string, string][])
    assert.equal(await setUp(given([]), deps), 0)
    assert.deepEqual([answers, enrolled[0]?.get('db-tls')], [[], 'required'])
    const question = 'The database is on another computer. Encrypt the connection ("verified", "required" or "off")? '
    assert.deepEqual(asked, [question, question])
    assert.equal(printed.at(-1), 'Next, start the service, or run: bridgework-agent run')
    assert.ok(printed.includes('database.tls must be "off", "required" or "verified".'))

    const caFile: [string, string] = ['db-tls-ca-file', '/etc/ca.pem']
    assert.equal(await setUp(given([caFile]), { ...deps, ask: null }), 0)
    assert.deepEqual([enrolled[1]?.get('db-tls'), enrolled[1]?.get('db-tls-ca-file')], ['verified', '/etc/ca.pem'])
    await assert.rejects(setUp(given([caFile], '192.0.2.7'), { ...deps, ask: null }), /database\.host must be a name/)
    assert.equal(enrolled.length, 2)
  })

  test('without a person and without an option it says what is missing and uses no code', async (t) => {
    const { config, openDental } = await office(t)
    const lacking: [string[], RegExp][] = [
      [[], /--server is missing\. See "bridgework-agent setup --help"\./],
      [['--server', 'http://127.0.0.1:1'], /--code is missing/],
      [
        ['--server', 'http://127.0.0.1:1', '--code', 'bwe_a'],
        /Give a database user that can only read with --db-user, or an administrator that creates one with --db-admin\./,
      ],
    ]
    for (const [args, message] of lacking) {
      const ended = await runAgentCommand(['setup', ...args, '--open-dental', openDental, '--config', config])
      assert.equal(ended.code, 2)
      assert.match(ended.stderr, message)
    }
    const nowhere = ['--server', 'http://127.0.0.1:1', '--code', 'bwe_a', '--db-host', '127.0.0.1', '--db-port', '1']
    const ended = await runAgentCommand(['setup', ...nowhere, '--config', config])
    assert.deepEqual([ended.code, existsSync(config)], [1, false])
    assert.match(ended.stdout, /No database server answers at 127\.0\.0\.1:1\.\n.* in between\. Or give --db-host\./)
  })
})

describe('the user that reads', () => {
  /** A person on another computer than the database's, who gives these answers. */
  function person(t: TestContext, answers: string[]) {
    const folder = temporaryFolder(t)
    const asked: string[] = []
    const printed: string[] = []
    const answer = async (question: string) => {
      asked.push(question)
      return answers.shift() ?? assert.fail(`asked too often: ${question}`)
    }
    const deps: SetupDeps = {
      print: (line) => printed.push(line),
      ask: answer,
      askPassword: answer,
      readPassword: passwordFile,
      passwordFromEnvironment: undefined,
      folders: [folder],
      findDatabaseServer: async () => ({ refuses: true }),
      isEnrolled: false,
      enroll: async () => 7,
      check: async () => 0,
      startService: () => null,
    }
    return { folder, deps, asked, printed }
  }
  const common: [string, string][] = [
    ['server', 'https://a.example'],
    ['code', 'bwe_a'],
  ]

  test('it is created now, by an administrator who may, and removed again when the agent is not enrolled', async (t) => {
    const { practice } = await office(t)
    const at: [string, string][] = [
      ['db-host', '127.0.0.1'],
      ['db-port', String(port)],
      ['db-name', practice.name],
    ]
    const able = person(t, ['1', 'admin', 'may all'])
    assert.equal(await setUp(new Map([...common, ...at]), able.deps), 7)
    assert.deepEqual(able.asked.slice(1), [
      'Administrator of the database (empty: root): ',
      'Password of "admin" (not kept): ',
    ])
    assert.match(able.printed.join('\n'), /^Created the database user 'bridgework'@/m)
    assert.deepEqual(await readers(), [])

    await mariaDb.execute(`create user clerk@'%' identified by 'x'; grant select on ${practice.name}.* to clerk@'%'`)
    const unable = person(t, ['1', 'clerk', 'x'])
    assert.equal(await setUp(new Map([...common, ...at]), unable.deps), 1)
    assert.match(
      unable.printed.at(-1) ?? '',
      /^The user "clerk" may not create users in this database\.\n {2}Name an administrator of the database \(often "root"\)/,
    )
  })

  test('where Open Dental uses a middle tier, the address of the database is asked for', async (t) => {
    const { folder, deps, asked, printed } = person(t, ['2', ''])
    writeFileSync(join(folder, 'FreeDentalConfig.xml'), middleTierSettings)
    const given = new Map<string, string>([...common, ['db-host', 'db.example'], ['db-tls', 'off']])
    assert.equal(await setUp(given, deps), 7)
    const text = printed.join('\n')
    assert.match(
      text,
      /FreeDentalConfig\.xml: this Open Dental uses a middle tier, http:\/\/server01\/.*, and not the database itself\.$/m,
    )
    assert.match(text, /^A database server answers at db\.example:3306, but refuses this computer\.$/m)
    assert.match(text, /Run this on the computer that has the database, or enter the address of the database\./)
    assert.match(text, /In the statements, replace % by the address of this computer\./)
    assert.equal(asked.at(-1), 'Press Enter when the administrator has run them. ')
  })
})

test('the Windows service is started anew where it is installed, and a refusal is said', () => {
  const ran: string[] = []
  const run = (codes: Record<string, number | null>) => (program: string, args: readonly string[]) => {
    const command = [program, ...args].join(' ')
    ran.push(command)
    return codes[`${program} ${args[0]}`] ?? 0
  }
  assert.equal(
    restartWindowsService(run({ 'net.exe stop': 2 })),
    'The service "Bridgework agent" runs. It starts with Windows.',
  )
  assert.deepEqual(ran, [
    'sc.exe query BridgeworkAgent',
    'net.exe stop BridgeworkAgent',
    'net.exe start BridgeworkAgent',
  ])
  assert.equal(
    restartWindowsService(run({ 'net.exe start': 2 })),
    'The service "Bridgework agent" did not start. Open "Services" and start it there; its log says why.',
  )
  assert.equal(restartWindowsService(run({ 'sc.exe query': 1060 })), null)
})
