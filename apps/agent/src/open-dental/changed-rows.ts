import type { Database } from './connection.ts'
import { keyList } from './keys.ts'

/** Statements that each give keys of changed rows as `id`; a dataset's changed records are what they find together. */
export function changedRows(database: Database) {
  const keys = new Set<string>()

  async function add(sql: string, values: readonly string[] = []): Promise<void> {
    for (const row of await database.query(sql, values)) if (row.id !== null && row.id !== undefined) keys.add(row.id)
  }

  return {
    keys,
    add,
    /** As `add`, for rows that name one of these keys in a column; nothing when there is none. */
    addReferring: async (sql: string, column: string, ids: readonly string[]): Promise<void> => {
      const numbers = ids.filter((id) => id !== '0')
      if (numbers.length > 0) await add(`${sql} ${column} in (${keyList(numbers)})`)
    },
    /** As `add`, with a condition that may turn out to be none at all. */
    addWhere: async (sql: string, condition: string | null): Promise<void> => {
      if (condition !== null) await add(`${sql} ${condition}`)
    },
  }
}

/** The two days in order: a clock may also go back. */
export function daysBetween(before: string, now: string): readonly [string, string] {
  return before <= now ? [before, now] : [now, before]
}
