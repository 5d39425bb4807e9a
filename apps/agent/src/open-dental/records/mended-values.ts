import type { FieldPacket } from 'mysql2/promise'
import type { MendedValues } from '../../connector.ts'
import { tablesReadWhole } from '../changes/tables-read.ts'
import { amountDigitsMax, isWithinYears, noteLengthMax } from './values.ts'

type Mended = MendedValues['mended']

/** Counts what the agent could not send as it stands in the database. */
export type MendedCounts = {
  add(table: string, column: string, mended: Mended): void
  /** What was counted since this was last called. */
  take(): MendedValues[]
}

/** Leaves out what was told before of a table that is read whole again and again. One for each process. */
export function notToldBefore(): (values: readonly MendedValues[]) => MendedValues[] {
  const told = new Map<string, number>()
  return (values) =>
    values.filter(({ table, column, mended, rows }) => {
      if (!tablesReadWhole.has(table)) return true
      const name = `${table} ${column} ${mended}`
      const isNew = told.get(name) !== rows
      told.set(name, rows)
      return isNew
    })
}

export function mendedCounts(): MendedCounts {
  const counts = new Map<string, number>()
  return {
    add: (table, column, mended) => {
      const name = `${table} ${column} ${mended}`
      counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    take: () => {
      const all = [...counts].sort().map(([name, rows]) => {
        const [table = '', column = '', mended] = name.split(' ')
        // Only `add` writes kinds.
        return { table, column, mended: mended as Mended, rows }
      })
      counts.clear()
      return all
    },
  }
}

/**
 * The rows as they can be sent: a date that does not exist or lies in no year of a practice is null, text has no control characters but tab and newline and ends where the
 * contract ends a note. All that is counted by table and column; an amount beyond the contract's range, which its reader leaves out, and text
 * that was not valid in its encoding are counted too. Windows' line ends become newlines, which is no change.
 */
export function mendRows(
  rows: Record<string, string | null>[],
  fields: readonly FieldPacket[],
  counts: MendedCounts,
): Record<string, string | null>[] {
  // An expression has no table of its own: it is the table's whose key was selected first.
  const main = fields.find((field) => field.orgTable !== '')?.orgTable ?? ''
  for (const field of fields) {
    const mend = menders.get(field.columnType ?? -1)
    if (mend === undefined) continue
    const [table, column] = field.orgTable === '' ? [main, field.name] : [field.orgTable, field.orgName]
    for (const row of rows) {
      const value = row[field.name]
      if (value !== null && value !== undefined)
        row[field.name] = mend(value, (mended) => counts.add(table, column, mended))
    }
  }
  return rows
}

type Mender = (value: string, count: (mended: Mended) => void) => string | null

/** By MySQL's numbers of column types. */
const menders: ReadonlyMap<number, Mender> = new Map<number, Mender>([
  [0xf6, mendAmount],
  [0x07, mendDate],
  [0x0a, mendDate],
  [0x0c, mendDate],
  [0xfc, mendText],
  [0xfd, mendText],
  [0xfe, mendText],
])

/** Zeros in every part, and 0001-01-01, are how Open Dental says "no date"; .NET's DateTime.MaxValue, 9999-12-31, got into databases as well. */
function mendDate(value: string, count: (mended: Mended) => void): string | null {
  const [year, month, day] = [Number(value.slice(0, 4)), Number(value.slice(5, 7)), Number(value.slice(8, 10))]
  if (year === 0 && month === 0 && day === 0) return null
  const isDay = day >= 1 && (day <= 28 || day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate())
  if (month < 1 || month > 12 || !isDay) {
    count('date_impossible')
    return null
  }
  if (isWithinYears(value)) return value
  if (!value.startsWith('0001-01-01')) count('date_out_of_range')
  return null
}

function mendText(value: string, count: (mended: Mended) => void): string {
  let text = value
  if (suspicious.test(text)) {
    text = text.replaceAll(/\r\n?/g, '\n')
    if (text.includes('\ufffd')) count('text_invalid')
    const clean = text.replaceAll(controls, '')
    if (clean !== text) count('control_characters')
    text = clean
  }
  if (text.length <= noteLengthMax || text.trim().length <= noteLengthMax) return text
  count('note_cut')
  return text.trim().slice(0, noteLengthMax).toWellFormed()
}

function mendAmount(value: string, count: (mended: Mended) => void): string {
  if (value.replace('-', '').indexOf('.') > amountDigitsMax) count('amount_out_of_range')
  return value
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const suspicious = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd]/
