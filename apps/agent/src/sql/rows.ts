import { SourceProblem } from '../connector.ts'
import type { TableMapping } from '../files/mapping/mapping.ts'
import type { Statement } from '../files/mapping/mapping-statement.ts'
import { type Row, withoutNullWords } from '../files/reading/rows.ts'
import type { ExportFile } from '../files/watching/export-files.ts'
import type { Query, SqlSession } from './session.ts'

/** A part of a dataset whose rows a statement gives. */
export type StatementTable = TableMapping & { readonly statement: Statement }

/** The mapping of a database has no other. */
export function statementTable(table: TableMapping): StatementTable {
  const { statement } = table
  if (statement === null) throw new Error('a file in the mapping of a database')
  return { ...table, statement }
}

/** What stands where readers of files name the file. */
export function asFile(table: TableMapping): ExportFile {
  return { path: '', name: table.pattern, pattern: table.pattern, locationKey: null, of: table }
}

/** The rows of a query. Every column that the mapping names must be among those of the result. */
export async function* rowsOf(
  session: SqlSession,
  table: TableMapping,
  columns: readonly string[],
  query: Query,
): AsyncGenerator<Row> {
  const nullWords = new Set(table.nullWords)
  let positions: ReadonlyMap<string, number> | null = null
  let line = 0
  for await (const chunk of session.read({ ...query, table: table.pattern })) {
    positions ??= positionsOf(table, columns, chunk.columns)
    const known = positions
    for (const row of chunk.rows) {
      line += 1
      const cells = (column: string) => row[known.get(column) ?? -1]
      yield { line, cells: nullWords.size === 0 ? cells : withoutNullWords(cells, nullWords) }
    }
  }
}

function positionsOf(table: TableMapping, wanted: readonly string[], given: readonly string[]) {
  const missing = wanted.find((column) => !given.includes(column))
  if (missing !== undefined)
    throw new SourceProblem(
      'column_missing',
      `The statement of ${table.pattern} gives no column "${missing}"; it gives: ${given.join(', ')}.`,
      'Correct the mapping: names of columns are those of the result, with the same capitals.',
      { place: { table: table.pattern, column: missing } },
    )
  return new Map(given.map((name, index) => [name, index]))
}
