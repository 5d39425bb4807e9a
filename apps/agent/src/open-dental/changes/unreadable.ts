import { SourceProblem } from '../../connector.ts'
import type { Database } from '../database/connection.ts'
import {
  type ColumnsKnown,
  hasColumn,
  readsTreatmentNotes,
  type SourceTable,
  type SourceTableName,
  sourceTables,
} from './source-tables.ts'
import {
  clinicTables,
  notesTable,
  smallTables,
  type TableName,
  tablesOfNewerVersions,
  tablesRead,
} from './tables-read.ts'

/** The columns of a table without which a dataset that needs it cannot be read. */
export function columnsNeeded(known: ColumnsKnown, table: TableName): string[] {
  const needed = (isSmall(table) ? smallTables[table] : isSource(table) ? columnsOfSource(known, table) : '').split(' ')
  if ((clinicTables as readonly string[]).includes(table)) needed.push('ClinicNum')
  return [...new Set(needed)].filter((column) => column !== '')
}

function columnsOfSource(known: ColumnsKnown, table: SourceTableName): string {
  const { key, stamp, names, shows }: SourceTable = sourceTables[table]
  const columns = [key, stamp ?? '', ...names.split(' '), ...shows.split(' ')]
  return columns.filter((column) => column !== '' && hasColumn(known, table, column)).join(' ')
}

/**
 * Asks for what is not among the columns that the server shows this user, and for what could not be read before: the server's answer says
 * whether it is missing, damaged or not permitted. What it is goes into `database.unreadable`.
 */
export async function findUnreadable(database: Database, known: ColumnsKnown): Promise<void> {
  const newer: readonly TableName[] = tablesOfNewerVersions
  for (const table of [...tablesRead, ...newer, ...(readsTreatmentNotes(known) ? ([notesTable] as const) : [])]) {
    const columns = columnsNeeded(known, table)
    const lacking = columns.filter((column) => !known.columns.has(`${table}.${column}`))
    if (!database.unreadable.has(table) && lacking.length === 0 && isPresent(known, table)) continue
    database.unreadable.delete(table)
    try {
      await database.query(`select ${columns.length === 0 ? '1' : columns.join(', ')} from ${table} limit 1`)
    } catch (error) {
      if (!(error instanceof SourceProblem) || error.place === null) throw error
      // An older version's database.
      if (newer.includes(table) && error.kind === 'table_missing') database.unreadable.delete(table)
    }
  }
}

/** Those of the tables that can be read as far as is known, and `work` done with them; with fewer when one turns out to be unreadable. */
export async function withReadable<Name extends string, T>(
  database: Database,
  tables: readonly Name[],
  work: (readable: readonly Name[]) => Promise<T>,
): Promise<T> {
  for (;;) {
    const readable = tables.filter((table) => !database.unreadable.has(table))
    try {
      return await work(readable)
    } catch (error) {
      const isNew = readable.some((table) => database.unreadable.has(table))
      if (!(error instanceof SourceProblem) || !isNew) throw error
    }
  }
}

function isPresent({ columns }: ColumnsKnown, table: TableName): boolean {
  for (const name of columns) if (name.startsWith(`${table}.`)) return true
  return false
}

function isSmall(table: TableName): table is keyof typeof smallTables {
  return Object.hasOwn(smallTables, table)
}

function isSource(table: TableName): table is SourceTableName {
  return Object.hasOwn(sourceTables, table)
}
