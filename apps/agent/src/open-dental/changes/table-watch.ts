import type { Database } from '../database/connection.ts'
import { notesTable, tablesOfNewerVersions, tablesRead } from './tables-read.ts'

/** When a table was last written to, as its server says; `updatedAt`: `YYYY-MM-DD HH:MM:SS`, UTC. */
type Mark = { readonly engine: string; readonly createdAt: string; readonly updatedAt: string | null }

/** Of every table that the agent may read, at one moment of the database's clock. */
export type Marks = { readonly nowUtc: string; readonly tables: ReadonlyMap<string, Mark> }

/** Of two writes in one second the time tells one: a table is read once more when its second is surely over. */
const sameSecondMs = 2000

/**
 * InnoDB writes down when a transaction began, at its end (MariaDB 10.11, tried). Of two that began in the same second, one may end later: so long
 * after it, a table counts as written to.
 */
const transactionMs = 60_000

/**
 * Tells from `information_schema.TABLES` which tables were written to between two moments of one connection. InnoDB's time is in the server's memory and
 * begins at null; MyISAM's is its data file's. A server is believed once it has shown that the time moves: of an engine of which some table was written to
 * after it was made, or after the server was started. It is believed no more when a row differs of a table that was not written to.
 */
export function tableWatch() {
  const believed = new Set<string>()
  const refuted = new Set<string>()

  function isBelieved(mark: Mark): boolean {
    return believed.has(mark.engine) && !refuted.has(mark.engine)
  }

  /** Believes the engines of which these times show that they move. */
  function believe({ tables }: Marks): void {
    for (const { engine, createdAt, updatedAt } of tables.values()) {
      if (updatedAt === null) continue
      if (
        engine === 'innodb' ||
        (engine === 'myisam' && millisecondsOf(updatedAt) - millisecondsOf(createdAt) > 1000)
      ) {
        believed.add(engine)
      }
    }
  }

  return {
    read: async (database: Database): Promise<Marks> => {
      const names = [...tablesRead, ...tablesOfNewerVersions, notesTable].map((name) => `'${name}'`)
      const rows = await database.query(
        `select lower(TABLE_NAME) as name, lower(ENGINE) as engine, date_format(CREATE_TIME, '%Y-%m-%d %H:%i:%s') as created,
                date_format(UPDATE_TIME, '%Y-%m-%d %H:%i:%s') as updated, date_format(utc_timestamp(), '%Y-%m-%d %H:%i:%s') as now_utc
           from information_schema.TABLES
          where TABLE_SCHEMA = database() and lower(TABLE_NAME) in (${names.join(', ')})`,
      )
      const tables = new Map<string, Mark>()
      for (const { name, engine, created, updated = null } of rows) {
        tables.set(name ?? '', { engine: engine ?? '', createdAt: created ?? '', updatedAt: updated })
      }
      const marks = { nowUtc: rows[0]?.now_utc ?? '', tables }
      believe(marks)
      return marks
    },
    believe,

    /** False only where it is certain that nothing was written to the table since what was read after `before`. */
    isWritten: (table: string, before: Marks, now: Marks): boolean => {
      const [was, is] = [before.tables.get(table), now.tables.get(table)]
      if (was === undefined || is === undefined || !isBelieved(is) || now.nowUtc < before.nowUtc) return true
      if (was.engine !== is.engine || was.createdAt !== is.createdAt || was.updatedAt !== is.updatedAt) return true
      if (is.updatedAt === null) return is.engine !== 'innodb'
      const passedMs = millisecondsOf(before.nowUtc) - millisecondsOf(is.updatedAt)
      return passedMs < (is.engine === 'innodb' ? transactionMs : sameSecondMs)
    },

    /** Whether a read is due at once: a table was written to, or the second of its last write, which a read was too early for, is over. */
    isReadDue: (before: Marks, now: Marks): boolean => {
      for (const [table, is] of now.tables) {
        const was = before.tables.get(table)
        if (was === undefined || was.updatedAt !== is.updatedAt || was.createdAt !== is.createdAt) return true
        if (is.updatedAt === null) continue
        const over = millisecondsOf(is.updatedAt) + sameSecondMs
        if (millisecondsOf(before.nowUtc) < over && millisecondsOf(now.nowUtc) >= over) return true
      }
      return before.tables.size !== now.tables.size
    },

    /** A row of this table differs though nothing was written to it. */
    refute: (table: string, now: Marks): void => {
      const engine = now.tables.get(table)?.engine
      if (engine !== undefined) refuted.add(engine)
    },
  }
}

export type TableWatch = ReturnType<typeof tableWatch>

function millisecondsOf(moment: string): number {
  return Date.parse(`${moment.replace(' ', 'T')}Z`)
}
