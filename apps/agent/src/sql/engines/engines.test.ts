import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { createEmptyDatabase, superuserUrl } from '../../../../server/src/platform/database/testing/test-database.ts'
import { temporaryFolder } from '../../testing/test-agent.ts'
import type { SqlSettings } from '../settings.ts'
import { openReader } from '../source.ts'
import { sqlProblem } from '../sql-problem.ts'
import { mariaDatabase, postgresDatabase, sqliteDatabase, type TestSqlDatabase } from '../testing/test-database.ts'
import { problemOf, rowsOf } from '../testing/test-session.ts'
import { openSession } from './engine.ts'
import { faultOfSqlServer, readerStatements, textExpression } from './sql-server.ts'

const mariaDb = await startTestMariaDb({ after })

async function postgres(t: { name: string; after(work: () => Promise<void>): void }): Promise<TestSqlDatabase> {
  const { url } = await createEmptyDatabase(t)
  return await postgresDatabase(t, superuserUrl(new URL(url).pathname.slice(1)))
}

test('values come as the database writes them: decimals, long numbers, days and instants lose nothing', async (t) => {
  const expected = { long: '9223372036854775807', amount: '12345678901234.10', day: '2024-02-29', empty: null }
  const cases = [
    {
      database: await postgres(t),
      select: `select 9223372036854775807::bigint as long, 12345678901234.10::numeric(16,2) as amount, date '2024-02-29' as day,
        null::text as empty, timestamp '2026-07-01 09:30:00' as local, timestamptz '2026-07-01 09:30:00-05' as instant, true as flag`,
      more: ['2026-07-01 09:30:00', '2026-07-01 14:30:00Z', 'true'],
    },
    {
      database: await mariaDatabase(mariaDb),
      select: `select 9223372036854775807 as \`long\`, cast(12345678901234.10 as decimal(16,2)) as amount, cast('2024-02-29' as date) as day,
        null as empty, cast('2026-07-01 09:30:00' as datetime) as local, changed as instant, flag from t`,
      more: ['2026-07-01 09:30:00', '2026-07-01 14:30:00Z', '1'],
    },
    {
      database: sqliteDatabase(t, temporaryFolder(t)),
      select: `select 9223372036854775807 as long, '12345678901234.10' as amount, '2024-02-29' as day, null as empty, 0.1 + 0.2 as sum,
        12.5 as half, x'00ff' as bytes`,
      more: ['0.3', '12.5', '0x00ff'],
    },
  ]
  const [, maria] = cases
  await maria?.database.execute(
    "set time_zone = '+00:00'; create table t (changed timestamp null, flag bit(1)); insert into t values ('2026-07-01 14:30:00', 1)",
  )
  for (const { database, select, more } of cases) {
    const session = await openReader(database.settings)
    const [row] = await rowsOf(session, { select })
    const flag = database.engine === 'postgresql' ? [...more.slice(0, 2), 't'] : more
    assert.deepEqual(row, [...Object.values(expected), ...flag], database.engine)
    await session.end()
  }
})

test('a session stands in one snapshot, takes another statement after one that was given up, and ends', async (t) => {
  const databases = [await postgres(t), await mariaDatabase(mariaDb), sqliteDatabase(t, temporaryFolder(t))]
  for (const database of databases) {
    const numbers = Array.from({ length: 3500 }, (_, index) => `(${index})`).join(',')
    const engine = database.engine === 'mysql' ? ' engine = InnoDB' : ''
    await database.execute(`create table n (i integer)${engine}; insert into n values ${numbers}`)
    const session = await openReader(database.settings)
    assert.equal(session.hasSnapshot, true)
    const sizes: number[] = []
    for await (const { rows } of session.read({ select: 'select i from n', order: [session.quoted('i')] })) {
      sizes.push(rows.length)
      if (sizes.length === 1) await database.execute('delete from n where i > 1000')
    }
    assert.deepEqual(sizes, [1000, 1000, 1000, 500], database.engine)
    for await (const _ of session.read({ select: 'select i from n' })) break
    const failed = await problemOf(rowsOf(session, { select: 'select nothing_such from n', table: 'patients' }))
    assert.equal(failed.kind, 'mapping_invalid')
    assert.match(failed.message, /the statement of patients \(.*nothing_such/)
    assert.deepEqual(await rowsOf(session, { select: 'select count(*) as n from n' }), [['3500']], database.engine)
    assert.deepEqual(await rowsOf(session, { select: 'select i from n', where: '1 = 0' }), [])
    await session.end()
  }
})

test('an account that may write is refused, with the statements for one that cannot', async (t) => {
  const database = await postgres(t)
  await database.execute(`create table chart (x integer); grant insert on chart to ${database.settings.user}`)
  const refused = await problemOf(openReader(database.settings))
  assert.equal(
    refused.message,
    `The database user "${database.settings.user}" may write (INSERT on public.chart). The agent reads with an account that cannot.`,
  )
  assert.match(refused.todo, /run: create role bridgework login password '…'; grant pg_read_all_data/)

  const maria = await mariaDatabase(mariaDb)
  await mariaDb.execute(`grant update on ${maria.settings.name}.* to ${maria.settings.user}@localhost`)
  const other = await problemOf(openReader(maria.settings))
  assert.match(other.message, /may write \(GRANT SELECT, UPDATE ON `practice_\d+`\.\*\)/)
  assert.match(
    other.todo,
    /^As the database's administrator run: .* Then put this user into "database" of the settings file\./,
  )
  assert.match(other.todo, /grant select on `practice_\d+`\.\* to bridgework@'localhost'/)
})

test('each engine’s errors become one sentence with what to do', async (t) => {
  const database = await postgres(t)
  const maria = await mariaDatabase(mariaDb)
  await database.execute('create table secret (x integer)')
  const cases: readonly (readonly [SqlSettings, string, RegExp])[] = [
    [
      { ...database.settings, password: 'wrong' },
      'access_denied',
      /refuses the user "reader_.*" \(28P01\)|refuses the user/,
    ],
    [
      { ...maria.settings, password: 'wrong' },
      'access_denied',
      /refuses the user "reader_\d+" \(ER_ACCESS_DENIED_ERROR\)\./,
    ],
    [
      { ...database.settings, name: 'nowhere' },
      'database_missing',
      /^There is no database "nowhere" at .* \(3D000\)\.$/,
    ],
    [{ ...maria.settings, name: 'nowhere' }, 'database_missing', /^There is no database "nowhere" at/],
    [{ ...maria.settings, engine: 'sqlite', name: '/nowhere.db' }, 'database_missing', /at \/nowhere\.db \(NO_FILE\)/],
    [
      { ...database.settings, socket: null, host: '127.0.0.1', port: 1 },
      'unreachable',
      /at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/,
    ],
    [{ ...maria.settings, socket: null, port: 1 }, 'unreachable', /cannot be reached \(ECONNREFUSED\)\.$/],
    [
      { ...maria.settings, engine: 'sqlserver', socket: null, port: 1 },
      'unreachable',
      /at 127\.0\.0\.1:1 cannot be reached/,
    ],
  ]
  for (const [settings, kind, text] of cases) {
    const problem = await problemOf(openSession(settings))
    assert.equal(problem.kind, kind, problem.message)
    assert.match(problem.message, text)
  }
  await database.execute(`revoke pg_read_all_data from ${database.settings.user}`)
  const session = await openReader(database.settings)
  const denied = await problemOf(rowsOf(session, { select: 'select x from secret', table: 'patients' }))
  assert.match(
    denied.message,
    /may not read what the statement of patients names \(42501: permission denied for table secret\)/,
  )
  assert.match(denied.todo, /^Grant the user the right to select from these tables or views, and nothing else\./)
  await session.end()
})

const settings: SqlSettings = {
  engine: 'sqlserver',
  host: 'office',
  port: null,
  instance: 'DENTAL',
  socket: null,
  user: 'reader',
  password: '',
  name: 'practice',
  tls: { mode: 'required' },
  program: null,
}

test('SQL Server: errors by their numbers, and every column as a text', () => {
  const guide = readFileSync(new URL('../../../../../docs/guides/sql-databases.md', import.meta.url), 'utf8')
  assert.match(readerStatements, /^create login bridgework with password = '…'; create user bridgework for login/)
  assert.ok(guide.includes(readerStatements))
  const said = (error: object) => {
    const { message, todo } = sqlProblem(
      faultOfSqlServer(Object.assign(new Error('Invalid column name X.'), error)),
      settings,
    )
    return `${message} ${todo}`
  }
  assert.match(
    said({ number: 18456, code: 'ELOGIN' }),
    /^The database at office\\DENTAL refuses the user "reader" \(error 18456\)\. Correct the user or the password of "database" in the settings file, and see that this user may/,
  )
  assert.match(
    said({ number: 4060 }),
    /^There is no database "practice" at office\\DENTAL \(error 4060\)\. Correct "name" of "database" in the settings/,
  )
  assert.match(said({ number: 229 }), /may not read what a statement of the mapping names \(error 229: Invalid/)
  assert.match(
    said({ number: 207 }),
    /does not understand a statement of the mapping \(error 207: Invalid column name X\.\)/,
  )
  assert.match(
    said({ number: 1222 }),
    /took too long with a statement of the mapping \(error 1222\)\. The agent tries again by itself\. If the error persists, make the statement cheaper/,
  )
  assert.match(
    said({ number: 50000 }),
    /answered a statement of the mapping with an error \(error 50000\)\. Run the statement with the same user in a tool/,
  )
  assert.match(said({ code: 'ESOCKET' }), /cannot be reached \(ESOCKET\)\. Check that the database server runs/)
  assert.match(
    said({ code: 'ESOCKET', cause: Object.assign(new Error(), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }) }),
    /cannot be encrypted as the settings require \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Give the database server a certificate/,
  )
  const types = {
    real: 'convert(nvarchar(60), convert(decimal(38, 5), str([a]]b], 38, 5)))',
    'decimal(12,2)': 'convert(nvarchar(max), [a]]b])',
    money: 'convert(nvarchar(33), [a]]b], 2)',
    'datetime2(7)': 'convert(nvarchar(33), [a]]b], 121)',
    'datetimeoffset(3)': 'convert(nvarchar(33), [a]]b], 127)',
    timestamp: 'convert(varchar(max), [a]]b], 1)',
    float: 'convert(nvarchar(60), convert(decimal(38, 10), str([a]]b], 38, 10)))',
  }
  for (const [type, text] of Object.entries(types)) assert.equal(textExpression('a]b', type), text)
})
