import { applyChange, newKey, type Practice } from '../practice.ts'
import type { Random } from '../random.ts'
import { type RowChange, type Rows, rowChange, type TableName } from '../rows.ts'

/** Where the practice's people work: rows come, change and go at once, and what was done is written down. */
export type Desk = {
  readonly practice: Practice
  readonly random: Random
  add<T extends TableName>(table: T, row: Omit<Rows[T], 'key'>): Rows[T]
  /** The row as it is then; the same one when nothing would change. */
  change<T extends TableName>(table: T, row: Rows[T], changes: Partial<Rows[T]>): Rows[T]
  remove<T extends TableName>(table: T, row: Rows[T]): void
  put(change: RowChange): void
  readonly done: readonly RowChange[]
}

/** `keepsNoBook`: for years of history, whose changes nobody asks for. */
export function openDesk(practice: Practice, random: Random, { keepsNoBook = false } = {}): Desk {
  const done: RowChange[] = []

  function put(change: RowChange): void {
    applyChange(practice, change)
    if (!keepsNoBook) done.push(change)
  }

  return {
    practice,
    random,
    done,
    put,
    add: (table, content) => {
      const key = newKey(practice, table, random)
      // A row is its content and a key.
      const row = { key, ...content } as unknown as Rows[typeof table]
      put(rowChange(table, null, row))
      return row
    },
    change: (table, row, changes) => {
      const names = Object.keys(changes) as (keyof typeof changes)[]
      if (names.every((name) => isSame(row[name], changes[name]))) return row
      const after = { ...row, ...changes }
      put(rowChange(table, row, after))
      return after
    },
    remove: (table, row) => put(rowChange(table, row, null)),
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (Array.isArray(one) && JSON.stringify(one) === JSON.stringify(other))
}
