import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Connection, createConnection } from 'mysql2/promise'

/** Our own writing of Open Dental's tables. */
const schemaFile = new URL('../../../open-dental/schema.sql', import.meta.url)

/** A test's context, or the module `node:test` itself for a server that lives as long as the test file. */
type Cleanup = { after(work: () => Promise<void>): void }

export type TestMariaDb = {
  readonly socket: string
  /** Runs statements as the database's root; several at once, separated by semicolons, are fine. */
  execute(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** An empty database with Open Dental's tables (or, with `schema: null`, without any), and settings that read it. */
  createDatabase(options?: { schema?: string | null }): Promise<TestDatabase>
  stop(): Promise<void>
  start(): Promise<void>
}

export type TestDatabase = {
  readonly name: string
  /** A user with the right to read this database and nothing else. */
  readonly settings: {
    readonly host: string
    readonly port: number
    readonly socket: string
    readonly user: string
    readonly password: string
    readonly name: string
  }
  /** As `TestMariaDb.execute`, inside this database. */
  execute(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** A further connection as root inside this database, closed after the test. */
  connect(): Promise<Connection>
}

/**
 * A MariaDB server of this test's own: private socket, no network but this port of this computer, data in a temporary folder; gone after `t`. Without
 * the system's programs it throws and says what to install; it never skips. `timeZone` is the system's, which MariaDB names "CST" and the like.
 * `settings` are further ones of the server.
 */
export async function startTestMariaDb(
  t: Cleanup,
  { timeZone = 'UTC', port = null as number | null, settings = [] as readonly string[] } = {},
): Promise<TestMariaDb> {
  const programs = {
    install: findProgram('mariadb-install-db', 'mysql_install_db'),
    server: findProgram('mariadbd', 'mysqld'),
  }
  const folder = await mkdtemp(join(tmpdir(), 'bwm-'))
  await chmod(folder, 0o700)
  const data = join(folder, 'data')
  const socket = join(folder, 's')
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : []
  // A server that starts deletes all temporary tables in its folder for them: those of another test's server, too, if they shared it.
  const temporary = join(folder, 'tmp')
  await mkdir(data)
  await mkdir(temporary)
  await fillDataFolder(data, async (empty) => {
    await promisify(execFile)(programs.install, [
      '--no-defaults',
      `--datadir=${empty}`,
      `--tmpdir=${temporary}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      ...storage,
      ...asRoot,
    ])
  })

  let server: ChildProcess | null = null
  const connections: Connection[] = []

  async function start(): Promise<void> {
    server = spawn(
      programs.server,
      [
        '--no-defaults',
        `--datadir=${data}`,
        `--tmpdir=${temporary}`,
        `--socket=${socket}`,
        `--pid-file=${join(folder, 'pid')}`,
        `--log-error=${join(folder, 'log')}`,
        ...(port === null ? ['--skip-networking'] : ['--bind-address=127.0.0.1', `--port=${port}`]),
        ...settings,
        '--sql-mode=',
        '--character-set-server=utf8',
        '--innodb-buffer-pool-size=64M',
        '--innodb-flush-log-at-trx-commit=2',
        ...storage,
        ...asRoot,
      ],
      { stdio: 'ignore', env: { TZ: timeZone, PATH: folders.join(':') } },
    )
    for (let attempt = 0; ; attempt++) {
      try {
        await (await connectRoot()).query('select 1')
        return
      } catch (error) {
        if (server.exitCode !== null || attempt > 300) {
          throw new Error(`MariaDB did not start:\n${await readFile(join(folder, 'log'), 'utf8')}`, { cause: error })
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  async function connectRoot(database?: string): Promise<Connection> {
    const connection = await createConnection({
      socketPath: socket,
      user: 'root',
      multipleStatements: true,
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      timezone: 'Z',
      ...(database === undefined ? {} : { database }),
    })
    connection.on('error', () => {})
    connections.push(connection)
    return connection
  }

  async function stop(): Promise<void> {
    for (const connection of connections.splice(0)) connection.destroy()
    if (server === null || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }

  async function run(database: string | undefined, sql: string, values: readonly unknown[] = []) {
    const connection = connections.find((each) => each.config.database === database) ?? (await connectRoot(database))
    const [rows] = await connection.query(sql, [...values])
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
  }

  t.after(async () => {
    await stop()
    await rm(folder, { recursive: true, force: true })
  })
  await start()

  let databases = 0
  return {
    socket,
    start,
    stop,
    execute: (sql, values) => run(undefined, sql, values),
    createDatabase: async (options = {}) => {
      const name = `practice_${++databases}`
      const user = `reader_${databases}`
      await run(undefined, `create database ${name} character set utf8`)
      await run(
        undefined,
        `create user ${user}@localhost identified by 'reads only'; grant select on ${name}.* to ${user}@localhost`,
      )
      if (options.schema !== null) {
        const connection = await connectRoot(name)
        await connection.query(options.schema ?? (await readFile(schemaFile, 'utf8')))
        // The file's `set names` and sql_mode hold for this connection; tests begin with a fresh one.
        connections.splice(connections.indexOf(connection), 1)
        await connection.end()
      }
      return {
        name,
        settings: { host: '127.0.0.1', port: port ?? 3306, socket, user, password: 'reads only', name },
        execute: (sql, values) => run(name, sql, values),
        connect: () => connectRoot(name),
      }
    },
  }
}

/** What is committed survives the server's process, and need not survive the machine. */
const storage = [
  '--innodb-log-file-size=16M',
  '--skip-innodb-doublewrite',
  '--innodb-flush-method=nosync',
  '--skip-sync-frm',
]

/** Installs once for all servers of a test run, which names the place; each has a copy. */
async function fillDataFolder(data: string, install: (empty: string) => Promise<void>): Promise<void> {
  const template = process.env.BRIDGEWORK_TEST_MARIADB
  if (template === undefined) return await install(data)
  if (!existsSync(template)) {
    const made = await mkdtemp(`${template}-`)
    await install(made)
    // Of two that were made at once, the first one stays.
    await rename(made, template).catch(() => rm(made, { recursive: true }))
  }
  await cp(template, data, { recursive: true })
}

const folders = [
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/usr/libexec',
  '/opt/homebrew/bin',
  '/bin',
]

function findProgram(...names: readonly string[]): string {
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not here.
    }
  }
  throw new Error(
    `This test needs MariaDB's programs (${names[0]}). On Debian or Ubuntu: apt-get install mariadb-server-core mariadb-client-core`,
  )
}
