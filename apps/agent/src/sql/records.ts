import type { FileFault } from '../files/fault.ts'
import type { DatasetMapping, Mapping } from '../files/mapping/mapping.ts'
import { recordReader } from '../files/reading/records.ts'
import type { LocatedRecord, RecordWatch } from '../files/watching/record-watch.ts'
import { asFile, rowsOf, type StatementTable, statementTable } from './rows.ts'
import type { Query, SqlSession } from './session.ts'

/** The records of a dataset, of all its statements. `where`: which rows of each; null: all. */
export async function* recordsOf(
  session: SqlSession,
  mapping: Mapping,
  dataset: DatasetMapping,
  where: ((table: StatementTable) => string) | null,
  watch?: RecordWatch,
): AsyncGenerator<LocatedRecord | FileFault> {
  const queries = new Map(
    dataset.tables.map((table) => [table.pattern, queryOf(session, statementTable(table), where)]),
  )
  const read = recordReader(mapping, dataset, watch, (file, _format, columns) => {
    const table = dataset.tables.find(({ pattern }) => pattern === file.pattern)
    const query = queries.get(file.pattern)
    if (table === undefined || query === undefined) throw new Error('a statement of another dataset')
    return rowsOf(session, table, columns, query)
  })
  // Rows of a result have no numbers that a person could look up.
  for (const table of dataset.tables)
    for await (const each of read(asFile(table))) yield 'rule' in each ? { ...each, line: null } : each
}

/** Rows of one record must follow one another where a list is made of them. */
function queryOf(session: SqlSession, table: StatementTable, where: ((table: StatementTable) => string) | null): Query {
  const isGrouped = [...table.attributes.values()].some((rule) => 'rows' in rule || 'items' in rule)
  const columns = table.key.filter((part) => typeof part === 'string')
  const location = typeof table.locationsFrom === 'object' ? [table.locationsFrom.column] : []
  return {
    select: table.statement.select,
    ...(where !== null && { where: where(table) }),
    ...(isGrouped && { order: [...columns, ...location, ...table.statement.order].map(session.quoted) }),
  }
}
