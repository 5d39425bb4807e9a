import { SourceProblem } from '../connector.ts'
import { isObject } from '../files/mapping/mapping-fields.ts'
import type { Changed } from '../files/mapping/mapping-statement.ts'
import { localIn } from '../open-dental/time/wall-time.ts'
import type { StatementTable } from './rows.ts'
import { firstValue, type SqlSession, sqlOf } from './session.ts'

/** How far a dataset was read: kept by the agent's state as text. */
export type SqlCursor = {
  readonly format: 'sql 1'
  readonly mapping: string
  /** When everything was read last, by the agent's clock. */
  readonly readAtMs: number
  /** By table: the highest value of the column that grows, or the row that becomes another one. */
  readonly marks: Readonly<Record<string, string>>
  /** The sum of all keys when they were last compared with what was sent. */
  readonly keys: string | null
}

export function parseCursor(text: string | null): SqlCursor | null {
  if (text === null) return null
  try {
    const cursor: unknown = JSON.parse(text)
    // Written by this connector alone; another one's has another format.
    return isObject(cursor) && cursor.format === 'sql 1' ? (cursor as SqlCursor) : null
  } catch {
    return null
  }
}

type Growing = Extract<Changed, { column: string }>

/** The column that grows with each change of a table, where it has one. */
export function growing({ statement: { changed } }: StatementTable): Growing | null {
  return changed !== null && 'column' in changed ? changed : null
}

/**
 * How far a table is now, null when nothing says so. Of a column that grows: the highest value, from the last one on. A time that lies ahead of the
 * database's clock does not count, or nothing before it would be seen to change.
 */
export async function markOf(
  session: SqlSession,
  table: StatementTable,
  last: string | undefined,
  zones: readonly string[],
): Promise<string | null> {
  const { select, changed } = table.statement
  if (changed === null) return null
  if ('counter' in changed) return await rowText(session, table, changed.counter)
  const column = session.quoted(changed.column)
  const conditions = last === undefined ? [] : [`${column} >= ${sinceLiteral(session, table, changed, last)}`]
  if (changed.kind !== 'row_version') {
    const clocks = changed.kind === 'utc_time' ? ['UTC'] : zones
    const now = clocks
      .map((zone) => localIn(zone, session.now))
      .sort()
      .at(-1)
    if (now !== undefined) conditions.push(`${column} <= ${session.timeLiteral(now)}`)
  }
  const where = conditions.length === 0 ? {} : { where: conditions.join(' and ') }
  const highest = await firstValue(session, sqlOf({ select, ...where }, `max(${column}) as highest`), table.pattern)
  const settled = changed.kind === 'row_version' ? await session.settledVersion() : null
  if (highest === null) return last ?? null
  sinceLiteral(session, table, changed, highest)
  return settled !== null && versionOf(table, settled) < versionOf(table, highest) ? settled : highest
}

/** The rows that may have changed since a mark. */
export function changedSince(session: SqlSession, table: StatementTable, changed: Growing, mark: string): string {
  return `${session.quoted(changed.column)} >= ${sinceLiteral(session, table, changed, mark)}`
}

/** Rows of a transaction that was still open have earlier times than others that were read. */
function sinceLiteral(session: SqlSession, table: StatementTable, changed: Growing, mark: string): string {
  if (changed.kind === 'row_version') {
    const version = versionOf(table, mark) - BigInt(changed.overlap)
    const since = version < 0n ? 0n : version
    return session.versionLiteral(mark.startsWith('0x') ? `0x${since.toString(16).padStart(16, '0')}` : String(since))
  }
  const at = Date.parse(`${mark.slice(0, 10)}T${mark.slice(11, 19) || '00:00:00'}Z`)
  if (!/^\d{4}-\d{2}-\d{2}/.test(mark) || Number.isNaN(at)) throw noMark(table, 'times like 2026-11-30 08:15:00')
  return session.timeLiteral(new Date(at - changed.overlap * 1000).toISOString().slice(0, 19))
}

function versionOf(table: StatementTable, text: string): bigint {
  if (!/^(\d{1,20}|0x[0-9a-f]{1,16})$/i.test(text)) throw noMark(table, 'whole numbers or row versions')
  return BigInt(text)
}

function noMark(table: StatementTable, what: string): SourceProblem {
  return new SourceProblem(
    'mapping_invalid',
    `The column "${growing(table)?.column}" that shows changes of ${table.pattern} does not hold ${what}.`,
    'Correct "changed" in the mapping, or leave it out: then everything is read each time.',
    { place: { table: table.pattern, column: null } },
  )
}

async function rowText(session: SqlSession, table: StatementTable, select: string): Promise<string> {
  const rows: (readonly (string | null)[])[] = []
  for await (const chunk of session.read({ select, table: table.pattern })) rows.push(...chunk.rows.slice(0, 1))
  return JSON.stringify(rows[0] ?? null)
}
