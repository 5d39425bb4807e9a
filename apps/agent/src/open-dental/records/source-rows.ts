import { randomBytes } from 'node:crypto'
import type { Database } from '../database/connection.ts'

/** What is kept of a row: short salted hashes, of which no value can be told. `first` and `born`: of patients alone; '' where none is known. */
type RowMark = { readonly entered: string; readonly first: string; readonly born: string }

/** The newest rows of each table, by table and key, as marks that were made with this salt. */
export type RowMarks = {
  readonly salt: string
  readonly tables: Readonly<Record<string, Readonly<Record<string, RowMark>>>>
}

/** As many of each table as a day or two bring: a backup that is older lacks rows. */
const rowsPerTable = 20

/**
 * Columns that Open Dental writes once (`SecDateEntry`, `SecUserNumEntry` and `HistDateTStamp`: excluded from every update of
 * Procedure, Patient and HistAppointment in its `Crud` classes), and the appointment that a row of the history is a copy of.
 */
const tables = {
  patient: { key: 'PatNum', entered: ['SecDateEntry', 'SecUserNumEntry'], person: true },
  procedurelog: { key: 'ProcNum', entered: ['SecDateEntry', 'SecUserNumEntry'], person: false },
  histappointment: { key: 'HistApptNum', entered: ['HistDateTStamp', 'AptNum'], person: false },
} as const

/** Marks the newest rows, in one statement; `like`: with the salt of these. The server makes the hashes, so no value is read. */
export async function markNewestRows(database: Database, like: RowMarks | null): Promise<RowMarks> {
  const salt = like?.salt ?? randomBytes(8).toString('hex')
  const newest = ({ key }: { key: string }) => `order by ${key} desc limit ${rowsPerTable}`
  return await readMarks(database, salt, Object.keys(tables) as (keyof typeof tables)[], newest)
}

/**
 * The tables in which a key that was marked has another row now, which only a restored backup or another database has. A row that is gone, and a person
 * whose name or birthdate was corrected, are none.
 */
export async function tablesWithOtherRows(database: Database, before: RowMarks, now: RowMarks): Promise<string[]> {
  // What newer rows have pushed out of the newest ones.
  const passed = new Map(
    Object.entries(before.tables).map(([table, rows]) => [
      table,
      Object.keys(rows).filter((key) => now.tables[table]?.[key] === undefined),
    ]),
  )
  const asked = (Object.keys(tables) as (keyof typeof tables)[]).filter((table) => (passed.get(table) ?? []).length > 0)
  const where = ({ key, table }: { key: string; table: string }) =>
    `where ${key} in (${(passed.get(table) ?? []).join(', ')})`
  const older = asked.length === 0 ? now : await readMarks(database, before.salt, asked, where)
  return Object.entries(before.tables).flatMap(([table, rows]) => {
    const isOther = Object.entries(rows).some(([key, mark]) => {
      const found = now.tables[table]?.[key] ?? older.tables[table]?.[key]
      return found !== undefined && isOtherRow(mark, found)
    })
    return isOther ? [table] : []
  })
}

/** A first name or a birthdate is corrected now and then; both at once, where both were known, is another person. */
function isOtherRow(before: RowMark, now: RowMark): boolean {
  if (before.entered !== now.entered) return true
  return before.born !== '' && now.born !== '' && before.born !== now.born && before.first !== now.first
}

async function readMarks(
  database: Database,
  salt: string,
  names: readonly (keyof typeof tables)[],
  which: (table: { key: string; table: string }) => string,
): Promise<RowMarks> {
  // Four digits of a hash are of many values. What is put into the statement are constants, the salt's digits and keys that were read.
  const hash = (...parts: string[]) => `left(md5(concat_ws('|', '${salt}', ${parts.join(', ')})), 4)`
  const selects = names.map((table) => {
    const { key, entered, person } = tables[table]
    const who = person
      ? `${hash('FName')} as first, if(year(Birthdate) > 1880, ${hash('Birthdate')}, '') as born`
      : `'' as first, '' as born`
    return `(select '${table}' as name, ${key} as row_key, ${hash(...entered)} as entered, ${who} from ${table} ${which({ key, table })})`
  })
  const marks: Record<string, Record<string, RowMark>> = Object.fromEntries(names.map((table) => [table, {}]))
  for (const row of await database.query(selects.join(' union all '))) {
    const of = marks[row.name ?? '']
    if (of && row.row_key)
      of[row.row_key] = { entered: row.entered ?? '', first: row.first ?? '', born: row.born ?? '' }
  }
  return { salt, tables: marks }
}
