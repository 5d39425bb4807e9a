import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { applyChange, emptyPractice, type Practice } from './practice.ts'
import type { PracticeEvent } from './practice-events.ts'
import { type RowChange, rowChange, tableNames } from './rows.ts'

const format = 3

/** A practice with its number of events so far. */
type StoredPractice = { readonly practice: Practice; readonly eventsSoFar: number }

export type PracticeFile = {
  readonly stored: StoredPractice
  /** Keeps an event that has just happened. When it returns, the event survives the end of this process and of the machine. */
  readonly keep: (event: PracticeEvent, eventsSoFar: number) => void
  readonly close: () => void
}

/**
 * Opens the file in which a practice lives on from one start to the next; where there is none, `create` says what it holds at
 * first. Only rows that change are written. Throws when another program wrote the file.
 */
export function openPracticeFile(path: string, create: () => Practice): PracticeFile {
  if (!existsSync(path)) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full')
    database.exec(schema)
    const insert = database.prepare('insert into practice_row (table_name, row_key, document) values (?, ?, ?)')
    // In place: the order of the rows is part of what chance picks from.
    const update = database.prepare('update practice_row set document = ? where table_name = ? and row_key = ?')
    const remove = database.prepare('delete from practice_row where table_name = ? and row_key = ?')
    const setHeader = database.prepare('insert or replace into header (id, document) values (1, ?)')

    function putRow({ table, before, after }: RowChange): void {
      if (after === null) remove.run(table, before?.key ?? '')
      else if (before === null) insert.run(table, after.key, JSON.stringify(after))
      else update.run(JSON.stringify(after), table, before.key)
    }

    function transaction(work: () => void): void {
      database.exec('begin immediate')
      try {
        work()
        database.exec('commit')
      } catch (error) {
        database.exec('rollback')
        throw error
      }
    }

    function putHeader(practice: Practice, eventsSoFar: number): void {
      const { seed, organization, keyStyle, lastKeys, atFirst } = practice
      const header: Header = { format, seed, organization, keyStyle, lastKeys, atFirst, eventsSoFar }
      setHeader.run(JSON.stringify(header))
    }

    let stored = read(database)
    if (stored === null) {
      const practice = create()
      transaction(() => {
        for (const change of arrivals(practice)) putRow(change)
        putHeader(practice, 0)
      })
      stored = { practice, eventsSoFar: 0 }
    }
    const { practice } = stored
    return {
      stored,
      keep: (event, eventsSoFar) =>
        transaction(() => {
          for (const change of event.changes) putRow(change)
          putHeader(practice, eventsSoFar)
        }),
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw new Error(`The practice in ${path} cannot be read. Remove the file to begin with a new one.`, {
      cause: error,
    })
  }
}

type Header = Pick<Practice, 'seed' | 'organization' | 'keyStyle' | 'lastKeys' | 'atFirst'> & {
  readonly format: number
  readonly eventsSoFar: number
}

const schema = `
  create table if not exists header (id integer primary key, document text not null);
  create table if not exists practice_row (
    position integer primary key, table_name text not null, row_key text not null, document text not null,
    unique (table_name, row_key)
  );
`

/** Null when nothing is stored yet. The header is written last, in one transaction with the rows. */
function read(database: DatabaseSync): StoredPractice | null {
  const document = database.prepare('select document from header').get()?.document
  if (document === undefined) return null
  const header = parse<Header>(document)
  if (header.format < format) {
    // An older version's practice knew less than this one's. It is made anew; the server hides what that one does not have.
    database.exec('delete from practice_row; delete from header')
    return null
  }
  if (header.format !== format) throw new Error(`its format is ${header.format}, not ${format}`)
  const { seed, organization, keyStyle, lastKeys, atFirst, eventsSoFar } = header
  const practice: Practice = { ...emptyPractice(seed, organization, keyStyle), lastKeys, atFirst }
  for (const row of database.prepare('select table_name, document from practice_row order by position').iterate()) {
    const table = tableNames.find((name) => name === row.table_name)
    if (table !== undefined) applyChange(practice, rowChange(table, null, parse(row.document)))
  }
  return { practice, eventsSoFar }
}

function arrivals(practice: Practice): RowChange[] {
  return tableNames.flatMap((table) => [...practice[table].values()].map((row) => rowChange(table, null, row)))
}

/** Only `openPracticeFile` writes these documents, and the format's number says in which shape. */
function parse<T>(document: unknown): T {
  return JSON.parse(String(document))
}
