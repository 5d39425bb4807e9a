import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { createEmptyDatabase, superuserUrl } from '../../../../server/src/platform/database/testing/test-database.ts'
import { compileOdbcProgram, lacksForOdbc } from '../../../scripts/odbc-program.mjs'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { placeOfDatabase, type SqlSettings } from '../settings.ts'
import { openReader } from '../source.ts'
import { sqlProblem } from '../sql-problem.ts'
import { mariaDatabase, postgresDatabase, sqliteDatabase, type TestSqlDatabase } from '../testing/test-database.ts'
import { lacksOdbc, odbcProgram, throughOdbc } from '../testing/test-odbc.ts'
import { problemOf, rowsOf } from '../testing/test-session.ts'
import { openSession } from './engine.ts'
import { connectionString, faultOfOdbc, openOdbc } from './odbc.ts'
import { OdbcError, packagedPrograms } from './odbc-program.ts'

const needsOdbc = { skip: lacksOdbc }
const program = lacksOdbc === false ? odbcProgram() : ''
const mariaDb = await startTestMariaDb({ after })

async function databases(t: TestContext): Promise<TestSqlDatabase[]> {
  const { url } = await createEmptyDatabase(t)
  const own = [
    await postgresDatabase(t, superuserUrl(new URL(url).pathname.slice(1))),
    await mariaDatabase(mariaDb),
    sqliteDatabase(t, temporaryFolder(t)),
  ]
  return own.map((database) => throughOdbc(database, program))
}

test(
  'through ODBC, texts of any length and script, decimals, days and bytes come as they stand',
  needsOdbc,
  async (t) => {
    // Parts of a long text end within a pair at one of these places.
    const long = `${'x'.repeat(16_382)}😀${'ä€😀"\\\n'.repeat(20_000)}`
    for (const database of await databases(t)) {
      const { engine } = database
      const bytes = { postgresql: 'bytea', mysql: 'longblob', sqlite: 'blob' }[engine]
      const hex = engine === 'postgresql' ? `'\\x00ff10'` : `x'00ff10'`
      const escaped = (text: string) => text.replaceAll('\\', engine === 'mysql' ? '\\\\' : '\\').replaceAll("'", "''")
      await database.execute(`create table odd (
      id integer, amount decimal(16,2), day date, at timestamp, long_text ${engine === 'mysql' ? 'longtext' : 'text'}, bytes ${bytes}, absent text)`)
      await database.execute(
        `insert into odd values (1, 12345678901.10, '2024-02-29', '2026-07-01 09:30:00', '${escaped(long)}', ${hex}, null), (2, null, null, null, '', null, null)`,
      )
      const session = await openReader(database.settings)
      const [row, empty] = await rowsOf(session, { select: 'select * from odd', order: ['id'] })
      assert.deepEqual(
        [row?.[0], row?.[1]?.replace(/\.1$/, '.10'), row?.[2], row?.[3], row?.[5], row?.[6]],
        ['1', '12345678901.10', '2024-02-29', '2026-07-01 09:30:00', '0x00ff10', null],
        engine,
      )
      assert.equal(row?.[4], long, engine)
      assert.deepEqual(empty?.slice(4), ['', null, null], engine)
      assert.deepEqual(await rowsOf(session, { select: 'select * from odd', where: '1 = 0' }), [])
      await session.end()
    }
  },
)

test(
  'rows come in chunks when they are asked for, and the program holds no table of 60 MB in its memory',
  needsOdbc,
  async (t) => {
    for (const database of await databases(t)) {
      const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 60000)'
      const limit = database.engine === 'mysql' ? 'set session max_recursive_iterations = 100000; ' : ''
      const padding = database.engine === 'sqlite' ? "printf('%1000d', i)" : "repeat('x', 1000)"
      await database.execute(
        `${limit}create table many (i integer, padding text); insert into many ${numbers} select i, ${padding} from n`,
      )
      const session = await openReader(database.settings)
      const sizes: number[] = []
      for await (const { rows } of session.read({ select: 'select * from many' })) sizes.push(rows.length)
      const [pid = ''] = childrenNamed('bridgework-agent-odbc')
      const kibibytes = Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
      t.diagnostic(`${database.engine}: ${kibibytes} KiB`)
      // The other drivers themselves hold a whole result.
      if (database.engine === 'postgresql') assert.ok(kibibytes < 32_768, `${kibibytes} KiB`)
      assert.deepEqual([sizes.length, Math.max(...sizes), sizes.reduce((sum, size) => sum + size)], [60, 1000, 60_000])
      for await (const _ of session.read({ select: 'select i from many' })) break
      const kept = {
        select: 'select i from many',
        where: `i = ${session.literal('7', { select: 'select i from many', column: 'i' })}`,
      }
      assert.deepEqual(await rowsOf(session, kept), [['7']], database.engine)
      assert.equal(session.literal('7', { select: 'select i from many', column: 'i' }), '7')
      assert.equal(session.literal('7'), "'7'")
      await session.end()
    }
    const held = childrenNamed('bridgework-agent-odbc')
    assert.deepEqual(held, [], 'no program is left')
  },
)

test('first and last names are joined as each database writes it', needsOdbc, async (t) => {
  for (const database of await databases(t)) {
    await database.execute(
      `create table person (id integer, first varchar(20), last varchar(20)); insert into person values (1, 'Ann', 'Lee'), (2, null, 'Lee'), (3, 'Ann', null)`,
    )
    const session = await openReader(database.settings)
    try {
      const names = { select: `select id, ${session.joined('first', 'last')} as name from person`, order: ['id'] }
      const joined = (await rowsOf(session, names)).map(([, name]) => name)
      assert.deepEqual(joined, ['Ann Lee', 'Lee', 'Ann'], database.engine)
    } finally {
      await session.end()
    }
  }
})

test(
  'an error of ODBC is one sentence with what to do, and shows neither password nor connection string',
  needsOdbc,
  async (t) => {
    const [postgres, maria, sqlite] = await databases(t)
    assert.ok(postgres && maria && sqlite)
    const cases: readonly (readonly [Partial<SqlSettings> & { of: TestSqlDatabase }, string, RegExp])[] = [
      [
        { of: sqlite, name: 'No such source' },
        'unreachable',
        /^ODBC cannot reach No such source \(IM002\): there is no data source or driver of this name\.$/,
      ],
      [
        { of: sqlite, name: 'DRIVER=/nowhere/driver.so;Key=secret' },
        'unreachable',
        /^ODBC cannot reach \/nowhere\/driver\.so \(IM003\): the driver cannot be loaded\.$/,
      ],
      [{ of: postgres, password: 'secret' }, 'access_denied|unreachable', /refuses the user|cannot be reached/],
      [{ of: maria, password: 'secret' }, 'access_denied', /refuses the user "reader_\d+" \(28000\)\.$/],
      [
        { of: sqlite, program: '/nowhere/program' },
        'unreachable',
        /\(NO_PROGRAM\): this installation of the agent lacks the/,
      ],
      [{ of: sqlite, program: '/bin/true' }, 'unreachable', /\(PROGRAM_ENDED\): the program that uses ODBC ended\.$/],
    ]
    const todos: string[] = []
    for (const [{ of, ...changed }, kind, text] of cases) {
      const problem = await problemOf(openSession({ ...of.settings, ...changed }))
      todos.push(problem.todo)
      assert.match(problem.kind, new RegExp(`^(${kind})$`), problem.message)
      assert.match(problem.message, text)
      assert.ok(!/secret/.test(problem.message + problem.todo), problem.message)
    }
    assert.match(
      todos.join('\n'),
      /^Correct "name" of "database" in the settings file, or set up the data source\. .*\nInstall the driver anew, with the libraries that it needs\.\n/,
    )
    assert.match(
      todos[4] ?? '',
      /^Install the agent’s package for Windows or Debian, or name the program in "program" of/,
    )
    assert.match(
      todos[5] ?? '',
      /^On Linux, install unixODBC \(on Debian: apt-get install libodbc2\)\. Otherwise the driver ended it/,
    )
    for (const { settings, engine } of [postgres, maria, sqlite]) {
      const session = await openReader(settings)
      const failed = await problemOf(rowsOf(session, { select: 'select nothing_such from nowhere', table: 'patients' }))
      assert.match(failed.kind, /^(mapping_invalid|unexpected)$/, `${engine} ${failed.message}`)
      assert.match(failed.message, /the statement of patients/)
      assert.deepEqual(await rowsOf(session, { select: 'select 1 as one' }), [['1']], engine)
      await session.end()
    }
  },
)

test(
  'an account that may write is refused where the driver lists its rights, and check says what is not known',
  needsOdbc,
  async (t) => {
    const [postgres] = await databases(t)
    assert.ok(postgres)
    const session = await openReader(postgres.settings)
    assert.deepEqual([session.mayWrite, session.rightsAreKnown, session.hasSnapshot], [null, false, false])
    await session.end()
    const readOnly = await openReader({ ...postgres.settings, name: `${postgres.settings.name};ReadOnly=1` })
    assert.equal(readOnly.rightsAreKnown, true)
    await readOnly.end()
    await postgres.execute(`create table chart (x integer); grant insert on chart to ${postgres.settings.user}`)
    const refused = await problemOf(openReader(postgres.settings))
    assert.match(
      refused.todo,
      /run: create user bridgework; grant select on each table to bridgework; \(in its own words\) Then/,
    )
    assert.match(refused.message, /may write \(INSERT on chart\)\. The agent reads with an account that cannot\./)
  },
)

test('what a statement changes is undone: nothing is committed', needsOdbc, async (t) => {
  for (const database of await databases(t)) {
    if (database.engine !== 'postgresql') continue
    await database.execute(`create table visits (n integer); insert into visits values (1);
      create function count_up() returns integer language sql security definer as 'update visits set n = n + 1 returning n'`)
    const session = await openReader(database.settings)
    assert.deepEqual(await rowsOf(session, { select: 'select count_up() as n' }), [['2']])
    assert.deepEqual(await rowsOf(session, { select: 'select n from visits' }), [['1']])
    await session.end()
  }
})

test('the program ends with the agent, also while a statement runs', needsOdbc, async (t) => {
  const [postgres] = await databases(t)
  assert.ok(postgres)
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'ignore'] })
  t.after(() => child.kill('SIGKILL'))
  const say = (name: string, text: string) => child.stdin.write(`${name} ${Buffer.byteLength(text)}\n${text}`)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  say('connect', connectionString(postgres.settings))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  assert.deepEqual(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'), `${program}\0`)
  say('read', 'select pg_sleep(600)')
  // As when this process dies: the other end of the pipe is closed.
  child.stdin.destroy()
  assert.equal(await ended, 0)
})

test(
  'a driver for programs of the other kind: the next program is tried, and the first one’s error is told when none fits',
  needsOdbc,
  async (t) => {
    const folder = temporaryFolder(t)
    const other = join(folder, 'other')
    writeFileSync(
      other,
      `#!/bin/sh\nread line\necho '{"state":"IM014","native":0,"text":"The specified DSN contains an architecture mismatch"}'\ncat > ${join(folder, 'rest')}\n`,
    )
    chmodSync(other, 0o755)
    const [, , sqlite] = await databases(t)
    assert.ok(sqlite)
    const session = await openOdbc(sqlite.settings, [other, program])
    assert.match(session.version, /^SQLite .* through ODBC$/i)
    await session.end()
    const mismatch = await problemOf(openSession({ ...sqlite.settings, program: other }))
    assert.match(
      mismatch.todo,
      /^Install the driver that has as many bits as the agent, and set up the data source with it\./,
    )
    assert.match(
      mismatch.message,
      /\(IM014\): the data source has a driver of 32 bits, and the agent’s program has 64, or/,
    )
    await assert.rejects(openOdbc(sqlite.settings, []), { code: 'NO_PROGRAM' })
  },
)

test('the agent finds the programs of its package', (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'node/bin'), { recursive: true })
  for (const name of ['bridgework-agent-odbc', 'bridgework-agent-odbc.exe', 'bridgework-agent-odbc-32.exe'])
    writeFileSync(join(folder, name), '')
  assert.deepEqual(packagedPrograms(join(folder, 'node/bin/node'), 'linux'), [join(folder, 'bridgework-agent-odbc')])
  assert.deepEqual(
    packagedPrograms(join(folder, 'node/node.exe'), 'win32'),
    ['bridgework-agent-odbc.exe', 'bridgework-agent-odbc-32.exe'].map((name) => join(folder, name)),
  )
  assert.deepEqual(packagedPrograms('/nowhere/bin/node', 'linux'), [])
})

test('account and password stand in the connection string whatever they contain', () => {
  const settings = { name: 'Dental', user: 'reader', password: 'a;b}c' } as SqlSettings
  assert.equal(connectionString(settings), 'DSN=Dental;UID=reader;PWD={a;b}}c}')
  assert.equal(connectionString({ ...settings, name: 'DRIVER={X};', user: '' }), 'DRIVER={X}')
  const named = (name: string) => placeOfDatabase({ ...settings, engine: 'odbc', name })
  assert.deepEqual(['Dental', 'Server=x;DSN={My Dental};Key=secret', 'Server=x;Key=secret'].map(named), [
    'Dental',
    '{My Dental}',
    'the ODBC data source',
  ])
})

test('ODBC’s errors by their states', () => {
  const settings = { engine: 'odbc', name: 'DSN=Dental', user: 'reader' } as SqlSettings
  const said = (code: string, text = '[unixODBC][Driver]Something of Dental') =>
    sqlProblem(faultOfOdbc(new OdbcError(code, text)), settings, { table: 'patients' }).message
  assert.match(
    said('42S02'),
    /^The database does not understand the statement of patients \(42S02: Something of Dental\)/,
  )
  assert.match(
    said('42000', '[x]SELECT command denied'),
    /may not read what the statement of patients names \(42000: SELECT/,
  )
  assert.match(said('HYT00'), /^The database at Dental took too long/)
  assert.match(said('08S01'), /^The database at Dental cannot be reached \(08S01\)/)
  assert.match(said('IM010'), /\(IM010\): the driver manager refuses the connection string\./)
  // Its text may quote a value.
  assert.equal(
    said('22018', 'Invalid value "Quill"'),
    'The database at Dental answered the statement of patients with an error (22018).',
  )
})

for (const target of ['win32-x64', 'win32-ia32'] as const) {
  const lacks = lacksForOdbc(target)
  test(`the program compiles for ${target}`, { skip: lacks ?? false }, (t) => {
    const file = join(temporaryFolder(t), 'program.exe')
    compileOdbcProgram(target, file)
    const bytes = readFileSync(file)
    const at = bytes.readUInt32LE(0x3c)
    assert.equal(bytes.readUInt16LE(at + 4), target === 'win32-x64' ? 0x8664 : 0x14c)
  })
}

function childrenNamed(name: string): string[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return children.filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith(name.slice(0, 15)))
}
