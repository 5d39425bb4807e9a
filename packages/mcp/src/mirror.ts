import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readPlace } from '../../client/src/command/place.ts'
import { postgresDialect } from '../../client/src/stores/postgres/postgres-tables.ts'
import { type Answer, queryPostgres } from '../../client/src/stores/query-mirror.ts'
import { sqliteDialect } from '../../client/src/stores/sqlite/sqlite-tables.ts'
import type { Dialect } from '../../client/src/stores/views.ts'
import { AskError } from './answer.ts'

/** A mirror in a database that is only read. */
export type Mirror = {
  /** Runs one select. Throws AskError when it takes too long. */
  ask: (sql: string, values?: readonly unknown[]) => Promise<Answer>
  columnsOf: (table: string) => Promise<readonly string[]>
  dialect: Dialect
  year: (date: string) => string
  /** How a statement names its value with this number, from 1. */
  placeholder: (number: number) => string
  /** A value as the database takes it. */
  bound: (value: unknown) => unknown
}

/** The mirror at a place that `bridgework mirror --to` takes. Nothing is opened yet. `withinMs`: how long a question may take. */
export function openMirror(to: string, withinMs = 30_000): Mirror {
  const place = readPlace(to)
  if (place.kind === 'folder')
    throw new Error(
      'A folder of files cannot be asked. Make a mirror with --to sqlite:copy.sqlite or --to postgres://…',
    )
  const ask = place.kind === 'sqlite' ? askSqlite(place.file, withinMs) : askPostgres(place.url, withinMs)
  const columnsOf = async (table: string) => (await ask(`select * from ${table} limit 0`)).columns
  if (place.kind === 'sqlite')
    return {
      ask,
      columnsOf,
      dialect: sqliteDialect,
      year: (date) => `cast(substr(${date}, 1, 4) as integer)`,
      placeholder: () => '?',
      bound: (value) => (typeof value === 'boolean' ? Number(value) : value),
    }
  return {
    ask,
    columnsOf,
    dialect: postgresDialect,
    year: (date) => `cast(extract(year from ${date}) as integer)`,
    placeholder: (number) => `$${number}`,
    bound: (value) => value,
  }
}

function askPostgres(url: string, withinMs: number): Mirror['ask'] {
  return (sql, values = []) =>
    queryPostgres(url, sql, { values, isReader: true, timeoutMs: withinMs }).catch((error: unknown) => {
      // query_canceled: by the time limit.
      const cause = error instanceof Error ? error.cause : undefined
      const code = [error, cause].map((each) => (each instanceof Error && 'code' in each ? each.code : ''))
      throw code.includes('57014') ? tooLong(withinMs) : error
    })
}

/** Questions are answered one after the other in a process of their own: SQLite cannot be stopped within one, but a process can. */
function askSqlite(file: string, withinMs: number): Mirror['ask'] {
  // Beside this file: as TypeScript in the repository, as JavaScript in the package.
  const program = fileURLToPath(new URL(`./sqlite-process${import.meta.url.slice(-3)}`, import.meta.url))
  let child: ChildProcess | null = null
  let before: Promise<unknown> = Promise.resolve()
  const start = () => {
    // stdout belongs to the protocol.
    const started = fork(program, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    // It ends with this process.
    started.unref()
    started.channel?.unref()
    return started
  }
  const ask = (sql: string, values: readonly unknown[]) =>
    new Promise<Answer>((resolve, reject) => {
      child ??= start()
      const asked = child
      let timer: NodeJS.Timeout | undefined
      const end = (error: Error) => {
        clearTimeout(timer)
        asked.removeAllListeners()
        asked.kill('SIGKILL')
        child = null
        reject(error)
      }
      asked.once('error', end)
      asked.once('exit', () => end(new Error('The question was not answered. Ask again.')))
      asked.on('message', (message: 'begun' | Answer | { error: string }) => {
        // From here on: a process takes its time to start.
        if (message === 'begun') timer = setTimeout(() => end(tooLong(withinMs)), withinMs)
        else {
          clearTimeout(timer)
          asked.removeAllListeners()
          if ('error' in message) reject(new Error(message.error))
          else resolve(message)
        }
      })
      asked.send({ file, sql, values })
    })
  return (sql, values = []) => {
    const answer = before.then(() => ask(sql, values))
    before = answer.catch(() => {})
    return answer
  }
}

function tooLong(withinMs: number): AskError {
  return new AskError(`The question took longer than ${withinMs / 1000} seconds. Use filters or fewer groups.`)
}
