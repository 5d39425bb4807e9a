import assert from 'node:assert/strict'
import { truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { startTestMariaDb, type TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { freePort } from '../../../../server/src/testing/test-port.ts'
import { SourceProblem } from '../../connector.ts'
import { connectDatabase } from './connection.ts'
import { databaseProblem } from './database-problem.ts'
import { openSession } from './session.ts'

type Settings = Omit<TestDatabase['settings'], 'socket'> & { readonly socket: string | null }

/** The message of the failure; '' when nothing fails. */
async function said(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
    return ''
  } catch (error) {
    assert.ok(error instanceof SourceProblem, String(error))
    return `${error.kind}: ${error.message} ${error.todo}`
  }
}

const connected = (settings: Settings) => said(async () => await (await connectDatabase(settings)).end())

test('every way in which an account is refused names the account as the server sees it, with the statement that mends it', async (t) => {
  const port = await freePort()
  const mariaDb = await startTestMariaDb(t, { port, settings: ['--skip-name-resolve'] })
  const { settings } = await mariaDb.createDatabase({ schema: null })
  const by = (user: string, more: Partial<Settings> = {}) => connected({ ...settings, user, password: 'x', ...more })
  await mariaDb.execute(`create user bridgework@localhost identified by 'x'`)
  const overTcp = { ...settings, user: 'bridgework', password: 'x', host: '127.0.0.1', port, socket: null }
  // With skip-name-resolve "localhost" is the socket alone: the guide's own account does not fit 127.0.0.1.
  const refused = await said(() => connectDatabase(overTcp))
  assert.match(
    refused,
    /^access_denied: .*refuses the user "bridgework" with the password that is stored here\. It sees the account 'bridgework'@'127\.0\.0\.1'\./,
  )
  assert.match(refused, /Check user and password in "database" of the settings file\. .* knows addresses only/)
  const [create = ''] = /create user '[^;]*;/.exec(refused) ?? []
  const [grant = ''] = /grant select [^;]*;/.exec(refused) ?? []
  await mariaDb.execute(create.replace('…', 'x'))
  await mariaDb.execute(grant)
  assert.equal(await connected(overTcp), '', 'by these statements')

  await mariaDb.execute(`create user stranger@localhost identified by 'x'`)
  const rights = await by('stranger')
  assert.match(
    rights,
    /^rights_missing: The user "stranger" has no right to use the database .* As the database's administrator run: grant select/,
  )
  await mariaDb.execute(/grant select [^;]*;/.exec(rights)?.[0] ?? 'no statement')
  assert.equal(await by('stranger'), '')

  await mariaDb.execute('alter user stranger@localhost account lock')
  const locked = await by('stranger')
  assert.match(
    locked,
    /^access_denied: The account .* of the database is locked\. As the database's administrator run: alter user 'stranger'@'localhost' account unlock;/,
  )
  await mariaDb.execute(/alter user [^;]*;/.exec(locked)?.[0] ?? 'no statement')
  assert.equal(await by('stranger'), '')

  await mariaDb.execute('alter user stranger@localhost password expire; set global disconnect_on_expired_password = 1')
  assert.match(
    await by('stranger'),
    /^access_denied: The password of the account .* of the database has expired\. .* password expire never; and put the password into "database"/,
  )
  await mariaDb.execute(
    `alter user stranger@localhost identified by 'x' with max_user_connections 1 password expire never`,
  )
  const held = await connectDatabase({ ...settings, user: 'stranger', password: 'x' })
  assert.match(
    await by('stranger'),
    /^unreachable: The user "stranger" has used up its connections or questions at the database\. The agent tries again by itself\. If the error persists, run as the administrator: alter user/,
  )
  await held.end()
})

test('a damaged table is named with its repair, and a connection that ended is no riddle', async (t) => {
  const mariaDb = await startTestMariaDb(t)
  const database = await mariaDb.createDatabase({ schema: null })
  const { settings, name } = database
  await database.execute('create table claimproc (id int primary key, text varchar(200)) engine = MyISAM')
  await database.execute(`insert into claimproc select seq, repeat('x', 100) from seq_1_to_5000`)
  await database.execute('flush tables')
  truncateSync(join(dirname(settings.socket), 'data', name, 'claimproc.MYI'), 1024)
  const connection = await connectDatabase(settings)
  const damaged = await said(() => connection.query('select * from claimproc where id = 4000'))
  assert.match(damaged, /^table_damaged: The table claimproc of the database is damaged\. Repair it: in Open Dental/)
  assert.doesNotMatch(damaged, /tries again by itself/)
  await database.execute(/repair table [^;]*;/.exec(damaged)?.[0] ?? 'no statement')
  assert.equal((await connection.query('select * from claimproc where id = 4000')).length, 1)

  const [{ id } = { id: '' }] = await connection.query('select connection_id() as id')
  await mariaDb.execute(`kill ${id}`)
  for (const _ of [1, 2])
    assert.match(
      await said(() => connection.query('select 1')),
      /^unreachable: .*(ended the connection|cannot be reached)/,
    )
})

test('a server that closes idle connections soon keeps the agent’s', async (t) => {
  const mariaDb = await startTestMariaDb(t, { settings: ['--wait-timeout=1'] })
  const { settings } = await mariaDb.createDatabase()
  const { database } = await openSession(settings)
  await new Promise((resolve) => setTimeout(resolve, 2_200))
  assert.equal(await said(() => database.query('select 1')), '')
  await database.end()
})

test('each error number is explained as its own server means it, and an unknown one says so', () => {
  const settings = { host: 'db', port: 3306, socket: null, user: 'u', password: '', name: 'opendental' } as const
  const told = (errno: number, code: string, text = '', sql = '') => {
    const { kind, message, todo } = databaseProblem(Object.assign(new Error(text), { errno, code }), settings, sql)
    return `${kind}: ${message} ${todo}`
  }
  // The driver calls MariaDB's numbers by MySQL's names.
  assert.match(told(4151, 'ER_BULK_PARSER_INCOMPLETE_ESCAPE_SEQUENCE'), /account .* is locked/)
  assert.match(told(3118, 'ER_ACCOUNT_HAS_BEEN_LOCKED'), /account .* is locked/)
  assert.match(told(1927, 'x'), /^unreachable: .*ended the connection/)
  assert.match(
    told(4031, 'ER_CLIENT_INTERACTION_TIMEOUT'),
    /^unreachable: .* ended the connection of the agent\. .* If it happens again and again, ask who restarts the server/,
  )
  assert.match(
    told(1969, 'x'),
    /^too_slow: .* did not answer in time\. .* let the agent read a replica, or check what else runs/,
  )
  assert.match(
    told(1251, 'ER_NOT_SUPPORTED_AUTH_MODE'),
    /signs in to the database in a way that .* As the database's administrator give it a password: alter user 'u'@/,
  )
  assert.match(
    told(
      1143,
      'ER_COLUMNACCESS_DENIED_ERROR',
      "SELECT command denied to user 'u'@'h' for column 'Note' in table 'fee'",
    ),
    /The user "u" may not read the column Note of the table fee\. As the database's administrator run: grant select/,
  )
  assert.match(
    told(1054, 'ER_BAD_FIELD_ERROR', "Unknown column 'FeeSched' in 'SELECT'", 'select FeeSched from fee'),
    /The table fee of the database has no column FeeSched\. .* It must be version 16\.1 or later\./,
  )
  assert.match(
    told(1146, 'ER_NO_SUCH_TABLE', "Table 'opendental.fee' doesn't exist"),
    /The database "opendental" has no table fee\. Start Open Dental once, .* restore it from a backup\./,
  )
  assert.match(
    told(1227, 'ER_SPECIFIC_ACCESS_DENIED_ERROR'),
    /The user "u" lacks a right for this question\. Nothing to do: the agent can do without\./,
  )
  assert.match(
    told(1049, 'ER_BAD_DB_ERROR'),
    /The database "opendental" does not exist at db:3306\. Correct the database name; Open Dental shows it in its "Choose/,
  )
  assert.match(
    told(0, 'HANDSHAKE_SSL_ERROR', 'wrong version number'),
    /and this agent could not agree on an encryption\. Update the database server: the agent needs TLS 1\.2 or newer\./,
  )
  assert.match(
    told(0, 'HANDSHAKE_SSL_ERROR', 'certificate has expired'),
    /The certificate of the database at db:3306 has expired, or is not valid yet\. Renew the certificate of the database/,
  )
  assert.match(
    told(1040, 'ER_CON_COUNT_ERROR'),
    /db:3306 has no connection left: others use them all\. .* raise max_connections of the database server/,
  )
  assert.match(
    told(1129, 'ER_HOST_IS_BLOCKED'),
    /has blocked this computer after too many .* administrator run: flush hosts \(MySQL 8: .* Then find out what interrupts them/,
  )
  assert.match(
    told(1130, 'ER_HOST_NOT_PRIVILEGED', "Host '10.0.0.5' is not allowed to connect to this MariaDB server"),
    /db:3306 has no account for this computer, which it sees as 10\.0\.0\.5\. As the database's administrator run: create user 'u'@'10\.0\.0\.5' identified by/,
  )
  assert.match(
    told(1194, 'ER_CRASHED_ON_USAGE', "Table 'fee' is marked as crashed and should be repaired"),
    /The table fee .*repair table `opendental`\.`fee`;/,
  )
  assert.match(
    told(1034, 'ER_NOT_KEYFILE', `Index for table './opendental/claimproc.MYI' is corrupt; try to repair it`),
    /The table claimproc /,
  )
  assert.match(
    told(9999, 'ER_SOMETHING'),
    /^unexpected: The database at db:3306 answered with an error \(ER_SOMETHING\)\. If the error persists, send this line to support\./,
  )
})
