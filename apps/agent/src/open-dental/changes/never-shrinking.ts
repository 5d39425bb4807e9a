import type { Reading } from '../dataset.ts'
import { withReadable } from './unreadable.ts'

/**
 * Tables whose rows Open Dental never deletes, with what of them can only grow: procedures and patients keep a tombstone, appointments'
 * history only grows. Lower than before, it tells a restored backup from the newest row's deletion.
 */
const highest = {
  procedurelog: ['ProcNum', 'DateTStamp'],
  patient: ['PatNum'],
  histappointment: ['HistApptNum'],
} as const

type Growing = keyof typeof highest

export const growingTables: readonly Growing[] = ['procedurelog', 'patient', 'histappointment']

/** Highest keys and stamps of these tables, as `table.Column`; nothing of a table that cannot be read. One statement in a cycle. */
export async function neverShrinking(
  reading: Pick<Reading, 'session' | 'lookup'>,
  tables: readonly Growing[],
): Promise<Readonly<Record<string, string>>> {
  const { database } = reading.session
  const { rows } = await reading.lookup('never shrinking', growingTables, () =>
    withReadable(database, growingTables, async (readable) => {
      const columns = readable.flatMap((table) =>
        highest[table].map((column) => `(select max(${column}) from ${table}) as \`${table}.${column}\``),
      )
      const [row] = columns.length === 0 ? [] : await database.query(`select ${columns.join(', ')}`)
      return { rows: new Map([['', row ?? {}]]), marks: {} }
    }),
  )
  const found: [string, string][] = []
  for (const [name, value] of Object.entries(rows.get('') ?? {})) {
    const [table = '', column = ''] = name.split('.')
    if (tables.some((each) => each === table)) found.push([name, value ?? (column === 'DateTStamp' ? '' : '0')])
  }
  return Object.fromEntries(found)
}
