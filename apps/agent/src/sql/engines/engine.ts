import { SourceProblem } from '../../connector.ts'
import type { Chunk, Query, SqlSession } from '../session.ts'
import type { EngineName, SqlSettings } from '../settings.ts'
import { type SqlFault, sqlProblem } from '../sql-problem.ts'

/** What differs between databases: how a session is opened, and what an error means. */
type Engine = {
  readonly open: (settings: SqlSettings) => Promise<SqlSession>
  readonly faultOf: (error: unknown) => SqlFault
}

/** Loaded when it is needed: an agent uses one driver. */
async function engineOf(name: EngineName): Promise<Engine> {
  switch (name) {
    case 'postgresql': {
      const { faultOfPostgresql, openPostgresql } = await import('./postgresql.ts')
      return { open: openPostgresql, faultOf: faultOfPostgresql }
    }
    case 'mysql': {
      const { faultOfMysql, openMysql } = await import('./mysql.ts')
      return { open: openMysql, faultOf: faultOfMysql }
    }
    case 'sqlite': {
      const { faultOfSqlite, openSqlite } = await import('./sqlite.ts')
      return { open: openSqlite, faultOf: faultOfSqlite }
    }
    case 'sqlserver': {
      const { faultOfSqlServer, openSqlServer } = await import('./sql-server.ts')
      return { open: openSqlServer, faultOf: faultOfSqlServer }
    }
    case 'odbc': {
      const { faultOfOdbc, openOdbc } = await import('./odbc.ts')
      return { open: openOdbc, faultOf: faultOfOdbc }
    }
  }
}

/** Signs in. Throws a `SourceProblem`, as each query of the session does. */
export async function openSession(settings: SqlSettings): Promise<SqlSession> {
  const { open, faultOf } = await engineOf(settings.engine)
  const said = (error: unknown, table: string | null = null) =>
    error instanceof SourceProblem ? error : sqlProblem(faultOf(error), settings, { table, cause: error })
  const session = await open(settings).catch((error: unknown) => {
    throw said(error)
  })
  return {
    ...session,
    settledVersion: () =>
      session.settledVersion().catch((error: unknown) => {
        throw said(error)
      }),
    read: async function* (query: Query): AsyncGenerator<Chunk> {
      try {
        yield* session.read(query)
      } catch (error) {
        throw said(error, query.table)
      }
    },
  }
}
