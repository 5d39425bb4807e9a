import type { DatabaseTls } from '../open-dental/database/database-settings.ts'

export const engineNames = ['postgresql', 'mysql', 'sqlite', 'sqlserver', 'odbc'] as const
export type EngineName = (typeof engineNames)[number]

/**
 * Where a database is, and how the agent signs in. Of SQLite, `name` is the path of the file, and the rest has no meaning. With ODBC, it is the
 * connection string without the account, or the name of a data source.
 */
export type SqlSettings = {
  readonly engine: EngineName
  readonly host: string
  /** Null: the engine's own, or what SQL Server Browser says of the instance. */
  readonly port: number | null
  /** Of SQL Server: a named instance. */
  readonly instance: string | null
  readonly socket: string | null
  readonly user: string
  readonly password: string
  readonly name: string
  readonly tls: DatabaseTls | null
  /** With ODBC: the program that reads, null: the package's. */
  readonly program: string | null
}

/** The database as messages name it. */
export function placeOfDatabase({ engine, host, port, instance, socket, name }: SqlSettings): string {
  if (engine === 'sqlite') return name
  if (engine === 'odbc') return dataSource(name)
  if (socket !== null) return socket
  return instance === null ? `${host}${port === null ? '' : `:${port}`}` : `${host}\\${instance}`
}

/** What a connection string names: a data source or a driver. The rest may be secret. */
function dataSource(name: string): string {
  const named = /(?:^|;)\s*(?:dsn|filedsn|driver)\s*=\s*(\{[^}]*\}|[^;]*)/i.exec(name)?.[1]
  return named ?? (name.includes('=') ? 'the ODBC data source' : name)
}
