/** Where Open Dental's database is, and who reads it. */
export type DatabaseSettings = {
  readonly host: string
  readonly port: number
  /** Path of a Unix socket; used in place of host and port when given. */
  readonly socket: string | null
  readonly user: string
  readonly password: string
  readonly name: string
  /** How the connection is encrypted; null: not at all. A socket needs no encryption. */
  readonly tls?: DatabaseTls | null
}

/**
 * `required`: encrypted, whichever server answers. `verified`: also, the server's certificate must be signed by an authority of the file (null: by one
 * that Node knows) and bear the name of the host.
 */
export type DatabaseTls = { readonly mode: 'required' } | { readonly mode: 'verified'; readonly caFile: string | null }
