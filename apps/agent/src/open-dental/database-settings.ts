/** Where Open Dental's database is, and who reads it. */
export type DatabaseSettings = {
  readonly host: string
  readonly port: number
  /** Path of a Unix socket; used in place of host and port when given. */
  readonly socket: string | null
  readonly user: string
  readonly password: string
  readonly name: string
}
