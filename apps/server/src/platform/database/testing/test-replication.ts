import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../../../testing/test-port.ts'
import { postgresAccount } from '../embedded/account.ts'
import { binariesFor, findBinaries } from '../embedded/binaries.ts'
import { databaseName, ownerRole, serverRole } from '../embedded/cluster.ts'
import { logSince, serverCommand, spawnPostmaster } from '../embedded/postmaster.ts'
import { killProcess, processesIn } from '../embedded/process-table.ts'
import { run } from '../embedded/run.ts'
import { migrate } from '../migrate.ts'
import { searchPath } from '../schemas.ts'

type Scope = { after: (work: () => unknown) => void }

/** A PostgreSQL server of the test's own, over TCP, which may be killed. */
export type Machine = Awaited<ReturnType<typeof startMachine>>

/** One with a migrated database, as which role asks for no password. */
export async function someMachine(t: Scope): Promise<Machine> {
  const place = await makePlace(t)
  const { account, binaries, data } = place
  const form = ['-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C']
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const made = await run(join(binaries.directory, 'bin/initdb'), ['-D', data, ...form, ...locale], account)
  assert.ok(made.isDone, made.output)
  const machine = await startMachine(place)
  for (const statement of [
    `create role ${ownerRole} login`,
    `create role ${serverRole} login`,
    `create database ${databaseName} owner ${ownerRole}`,
    `alter database ${databaseName} set search_path = ${searchPath}`,
  ])
    await machine.query(statement, 'postgres')
  await migrate(machine.urlAs(ownerRole), { log: () => {}, serverRole })
  return machine
}

/**
 * Two: a primary with the guide's settings, and its standby, which confirms every commit. The copy is made by the functions that pg_basebackup calls,
 * because that program does not come with the service's PostgreSQL.
 */
export async function someReplication(t: Scope) {
  const primary = await someMachine(t)
  const place = await makePlace(t)
  const { data, own } = place
  const backup = await primary.connect()
  await backup.query(`select pg_backup_start('standby', true)`)
  execFileSync('cp', ['-a', primary.data, data])
  const { rows } = await backup.query<{ label: string }>('select labelfile as label from pg_backup_stop(false)')
  await backup.end()
  rmSync(join(data, 'postmaster.pid'))
  for (const [name, text] of [
    ['backup_label', rows[0]?.label ?? ''],
    ['standby.signal', ''],
  ] as const) {
    writeFileSync(join(data, name), text)
    own(join(data, name))
  }
  appendFileSync(
    join(data, 'postgresql.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres application_name=second'\n`,
  )
  const standby = await startMachine(place)
  // The copy does not have this: as the primary the standby has no other that confirms.
  const [, settings] = /^```ini\n(wal_level[\s\S]*?)^```$/m.exec(readFileSync(standbyGuide, 'utf8')) ?? []
  assert.ok(settings)
  appendFileSync(join(primary.data, 'postgresql.conf'), settings)
  await primary.query('select pg_reload_conf()')
  const wrong = await primary.query('select sourceline, name, error from pg_file_settings where error is not null')
  assert.deepEqual(wrong.rows, [])
  const confirms = `select from pg_stat_replication where application_name = 'second' and sync_state = 'quorum'`
  await until(async () => (await primary.query(confirms)).rowCount === 1, 'the standby confirms')

  return {
    primary,
    standby,
    /** The address of both, the primary first, for an address of the primary. */
    withBoth: (url: string) => url.replace(`:${primary.port}/`, `:${primary.port},127.0.0.1:${standby.port}/`),
    /** Makes the standby the primary, as the program that watches both does. */
    promote: async () => assert.ok((await standby.query('select pg_promote(true, 60) as is_done')).rows[0]?.is_done),
  }
}

export const standbyGuide = join(import.meta.dirname, '../../../../../../docs/operate/standby.md')

/** Makes the databases of `createTestDatabase` on this server until the work is done. */
export async function onMachine<T>(machine: Machine, work: () => Promise<T>): Promise<T> {
  const before = process.env.BRIDGEWORK_TEST_DATABASE_URL
  process.env.BRIDGEWORK_TEST_DATABASE_URL = machine.urlAs('postgres')
  try {
    return await work()
  } finally {
    process.env.BRIDGEWORK_TEST_DATABASE_URL = before
  }
}

type Place = Awaited<ReturnType<typeof makePlace>>

async function makePlace(t: Scope) {
  const home = mkdtempSync(join(tmpdir(), 'bridgework-machine-'))
  const account = postgresAccount(null)
  const own = (path: string) => 'uid' in account && chownSync(path, account.uid, account.gid)
  own(home)
  const data = join(home, 'data')
  t.after(() => {
    killAll(data)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  return { home, data, port: await freePort(), account, binaries: binariesFor(findBinaries(), account, tmpdir()), own }
}

async function startMachine(place: Place) {
  const { home, data, port, account, binaries } = place
  const logFile = join(home, 'log')
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    // A kill of the programs loses nothing of what the system has.
    fsync: 'off',
    wal_keep_size: '1GB',
    max_connections: '100',
  }
  const urlAs = (role: string, database = databaseName) => `postgres://${role}@127.0.0.1:${port}/${database}`
  const connect = async (database = databaseName) => {
    const client = new pg.Client({ connectionString: urlAs('postgres', database) })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const start = async () => {
    spawnPostmaster(serverCommand(binaries, data, '', all), account, logFile)
    const isThere = () =>
      connect('postgres').then(
        (client) => client.end().then(() => true),
        () => false,
      )
    await until(isThere, () => `PostgreSQL answers: ${logSince(logFile, 0)}`)
  }
  await start()
  return {
    port,
    data,
    start,
    urlAs,
    connect,
    /** As a superuser. */
    query: async (statement: string, database = databaseName) => {
      const client = await connect(database)
      try {
        return await client.query(statement)
      } finally {
        await client.end()
      }
    },
    /** SIGKILL of every process. */
    kill: () => killAll(data),
    /** From now on it takes connections and says nothing, as a machine whose network is gone. */
    silence: () => {
      for (const pid of processesIn(data)) process.kill(pid, 'SIGSTOP')
    },
  }
}

function killAll(data: string): void {
  while (processesIn(data).length > 0) for (const pid of processesIn(data)) killProcess(pid)
}

export async function until(isDone: () => Promise<boolean>, what: string | (() => string)): Promise<void> {
  for (let tries = 0; !(await isDone()); tries += 1) {
    assert.ok(tries < 300, typeof what === 'string' ? what : what())
    await sleep(100)
  }
}
