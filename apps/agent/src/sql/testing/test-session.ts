import assert from 'node:assert/strict'
import { SourceProblem } from '../../connector.ts'
import type { Query, SqlSession } from '../session.ts'

/** Every row that the query gives. */
export async function rowsOf(session: SqlSession, query: Query) {
  const rows: (readonly (string | null)[])[] = []
  for await (const chunk of session.read(query)) rows.push(...chunk.rows)
  return rows
}

/** What the work, which must fail, says. */
export async function problemOf(work: Promise<unknown>): Promise<SourceProblem> {
  const problem = await work.then(
    () => null,
    (error: unknown) => error,
  )
  assert.ok(problem instanceof SourceProblem, String(problem))
  return problem
}
