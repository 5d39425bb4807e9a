import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileOdbcProgram, lacksForOdbc } from '../../../scripts/odbc-program.mjs'
import type { TestSqlDatabase } from './test-database.ts'

const drivers = { postgresql: 'psqlodbcw.so', mysql: 'libmaodbc.so', sqlite: 'libsqlite3odbc.so' } as const

/** The driver's file, where Debian's packages put it; undefined: it is not installed. */
function driverOf(engine: TestSqlDatabase['engine']): string | undefined {
  return globSync(`/usr/lib/{,*/}odbc/${drivers[engine]}`)[0]
}

/** Why this machine cannot try ODBC; false: it can. */
export const lacksOdbc: string | false =
  lacksForOdbc('here') ??
  (Object.keys(drivers).every((engine) => driverOf(engine as TestSqlDatabase['engine']) !== undefined)
    ? false
    : 'ODBC’s drivers (on Debian: apt-get install odbc-postgresql odbc-mariadb libsqliteodbc)')

let compiled: string | undefined

/** The program that reads through ODBC, compiled once for all tests of a process; its path. */
export function odbcProgram(): string {
  if (compiled === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'bwa-'))
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    const program = join(folder, 'bridgework-agent-odbc')
    compileOdbcProgram('here', program)
    compiled = program
  }
  return compiled
}

/** The same database and account, read by its ODBC driver. */
export function throughOdbc(database: TestSqlDatabase, program: string): TestSqlDatabase {
  const { engine, settings } = database
  const { host, socket, port, name, user, password } = settings
  const place = {
    // Without this option the driver holds a whole result, as both others do.
    postgresql: `Servername=${socket ?? host};Port=${port};Database=${name};UseDeclareFetch=1`,
    mysql: `${socket === null ? `SERVER=${host};PORT=${port}` : `SOCKET=${socket}`};DATABASE=${name}`,
    sqlite: `Database=${name}`,
  }[engine]
  return {
    ...database,
    hasTextInstants: true,
    settings: {
      ...settings,
      engine: 'odbc',
      host: '127.0.0.1',
      port: null,
      socket: null,
      name: `DRIVER=${driverOf(engine)};${place}`,
      user,
      password,
      program,
    },
  }
}
