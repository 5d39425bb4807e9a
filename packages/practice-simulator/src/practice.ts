import { type Indexes, reindex } from './indexes.ts'
import type { Random } from './random.ts'
import { type Organization, type RowChange, type Rows, type TableName, type Tables, tableNames } from './rows.ts'

export type KeyStyle = 'sequential' | 'random'

/** A practice at one moment: rows by key. Rows are never changed in place, so a row kept aside stays what it was. */
export type Practice = Tables & {
  readonly seed: string
  readonly organization: Organization
  readonly keyStyle: KeyStyle
  /** Highest key given out per table; the key of a removed row is never given again. */
  readonly lastKeys: { [T in TableName]: number }
  /** How many there were at first: a practice that lives for long neither swells nor withers. */
  readonly atFirst: { insurancePlans: number; feeSchedules: number; patients: number; on: string }
  readonly indexes: Indexes
}

export function emptyPractice(seed: string, organization: Organization, keyStyle: KeyStyle): Practice {
  const each = <V>(value: () => V) =>
    // The list above names every table: that is what its `satisfies` and this type together say.
    Object.fromEntries(tableNames.map((table) => [table, value()])) as { [T in TableName]: V }
  return {
    seed,
    organization,
    keyStyle,
    lastKeys: each(() => 0),
    atFirst: { insurancePlans: 0, feeSchedules: 0, patients: 0, on: '2026-01-01' },
    indexes: new Map(),
    // Empty maps fit every kind of row.
    ...(each(() => new Map()) as Tables),
  }
}

/** A key that no row of this table has or had. */
export function newKey(practice: Practice, table: TableName, random: Random): string {
  if (practice.keyStyle === 'sequential') {
    practice.lastKeys[table] += 1
    return String(practice.lastKeys[table])
  }
  for (;;) {
    const key = random.key64()
    if (!practice[table].has(key)) return key
  }
}

/** Puts a change into effect. */
export function applyChange(practice: Practice, { table, before, after }: RowChange): void {
  // A change's rows are of its table's kind by its type; the union of maps forgets which.
  const rows = practice[table] as Map<string, Rows[TableName]>
  if (before !== null && before.key !== after?.key) rows.delete(before.key)
  if (after !== null) rows.set(after.key, after)
  reindex(practice.indexes, table, before, after)
}

/** What time it is in the practice. */
export function nowIn(practice: Practice): string {
  return practice.clock.get('1')?.now ?? '2026-01-01T00:00:00'
}

export function todayIn(practice: Practice): string {
  return nowIn(practice).slice(0, 10)
}
