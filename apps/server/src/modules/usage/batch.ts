import type { QueryConfig } from 'pg'

/** One statement for many rows, given up when the database does not answer: the next try is a second away. */
export function batch(text: string, rows: readonly object[]): QueryConfig & { query_timeout: number } {
  return { text, values: [JSON.stringify(rows)], query_timeout: 5_000 }
}
