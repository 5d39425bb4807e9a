import { SourceProblem } from '../connector.ts'
import type { Mapping } from '../files/mapping/mapping.ts'
import { openSession } from './engines/engine.ts'
import { firstValue, type SqlSession } from './session.ts'
import type { SqlSettings } from './settings.ts'

/** `timeZone`: of locations that the mapping gives none. */
export type SqlSource = {
  readonly database: SqlSettings
  readonly mapping: string
  readonly timeZone: string | null
}

/** A session of an account that can only read: one that could write is refused. */
export async function openReader(settings: SqlSettings): Promise<SqlSession> {
  const session = await openSession(settings)
  if (session.mayWrite === null) return session
  await session.end()
  throw new SourceProblem(
    'access_denied',
    `The database user "${settings.user}" may write (${session.mayWrite}). The agent reads with an account that cannot.`,
    `As the database's administrator run: ${session.readerStatements} Then put this user into "database" of the settings file.`,
  )
}

/** Throws when the mapping's own statement says that the database is being changed as a whole. */
export async function requireQuiet(session: SqlSession, { quiet }: Mapping): Promise<void> {
  if (quiet === null) return
  const value = await firstValue(session, quiet)
  if (value !== null && /^(1|t|true|y|yes)$/i.test(value)) return
  throw new SourceProblem(
    'update_in_progress',
    'The database is not quiet, by the statement "quiet" of the mapping; nothing is read meanwhile.',
    'Nothing to do: the agent goes on when the statement gives 1 or true.',
  )
}
