import { type Fields, isObject } from './mapping-fields.ts'

/** What a database is asked for the rows of a table. */
export type Statement = {
  readonly select: string
  /** Gives the columns of every key; null: `select` does. */
  readonly keys: string | null
  readonly changed: Changed | null
  /** The columns that order the rows of one record, where they make a list. */
  readonly order: readonly string[]
}

/** How a change is seen: a column that grows, of which `overlap` is read again, or a row that becomes another one. */
export type Changed =
  | { readonly column: string; readonly kind: 'local_time' | 'utc_time' | 'row_version'; readonly overlap: number }
  | { readonly counter: string }

/** Transactions that are longer than this are found by the daily read alone. */
const overlapSeconds = 600
const overlapVersions = 1000
const hourSeconds = 3600

export function readStatement(table: Fields): Statement {
  const keys = table.text('keys')
  return {
    select: statementOf(table.requiredText('select')),
    keys: keys === null ? null : statementOf(keys),
    changed: readChanged(table),
    order: table.textOrTexts('order'),
  }
}

/** Statements stand within ours, where a semicolon cannot. */
export function statementOf(text: string): string {
  return text.trim().replace(/;$/, '')
}

function readChanged(table: Fields): Changed | null {
  const changed = table.table('changed')
  if (changed === null || !isObject(table.value('changed'))) return null
  if (changed.has('counter')) {
    changed.refuseOthers(['counter'])
    return { counter: statementOf(changed.requiredText('counter')) }
  }
  changed.refuseOthers(['column', 'kind', 'overlap', 'counter'])
  if (!changed.has('kind')) changed.fault('kind', 'is missing: local_time, utc_time or row_version')
  const kind = changed.oneOf('kind', ['local_time', 'utc_time', 'row_version'] as const) ?? 'utc_time'
  const isVersion = kind === 'row_version'
  const overlap = changed.wholeNumber('overlap', 0, 1_000_000_000) ?? (isVersion ? overlapVersions : overlapSeconds)
  // Local clocks show an hour twice when summer time ends.
  return { column: changed.requiredText('column'), kind, overlap: overlap + (kind === 'local_time' ? hourSeconds : 0) }
}
