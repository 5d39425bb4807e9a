import type { DatabaseTls } from '../open-dental/database/database-settings.ts'

export const engineNames = ['postgresql', 'mysql', 'sqlite', 'sqlserver'] as const
export type EngineName = (typeof engineNames)[number]

/** Where a database is, and how the agent signs in. Of SQLite, `name` is the path of the file, and the rest has no meaning. */
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
}

/** The database as messages name it. */
export function placeOfDatabase({ engine, host, port, instance, socket, name }: SqlSettings): string {
  if (engine === 'sqlite') return name
  if (socket !== null) return socket
  return instance === null ? `${host}${port === null ? '' : `:${port}`}` : `${host}\\${instance}`
}
