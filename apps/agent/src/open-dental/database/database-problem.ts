import { type SourcePlace, SourceProblem } from '../../connector.ts'
import { type Account, accountNamed, accountText, grantStatement } from './account.ts'
import type { DatabaseSettings } from './database-settings.ts'

/**
 * The driver's error in the office's words. Only the error's code, names of a table and a column, and the account as the server sees it are taken over: a database
 * error's own text may quote what a row holds.
 */
export function databaseProblem(error: unknown, settings: DatabaseSettings, sql = ''): SourceProblem {
  if (error instanceof SourceProblem) return error
  const code = errorCode(error)
  const where = settings.socket ?? `${settings.host}:${settings.port}`
  const cause = new Error(code)
  const account = accountNamed(textOf(error)) ?? { user: settings.user, host: 'localhost' }
  const seen = accountText(account)
  switch (code) {
    case 'ER_ACCESS_DENIED_ERROR':
    case 'ER_ACCESS_DENIED_NO_PASSWORD_ERROR':
    case 'AUTH_SWITCH_PLUGIN_ERROR':
      return new SourceProblem(
        'access_denied',
        `The database at ${where} refuses the user "${settings.user}" with the password that is stored here. It sees the account ${seen}.`,
        `Check user and password in "database" of the settings file. If no account fits ${seen}, the administrator creates one: create user ${seen} identified by '…'; ${grantStatement(settings.name, account)}; (a server with skip-name-resolve knows addresses only).${
          isEncrypted(settings) ? '' : ' A server or a user that requires encryption also needs "tls" there.'
        }`,
        { cause },
      )
    case 'HANDSHAKE_NO_SSL_SUPPORT':
      return new SourceProblem(
        'not_encrypted',
        `The database at ${where} offers no encryption, and "tls" in the settings requires it. Nothing was sent to it.`,
        'Set ssl_cert and ssl_key on the database server (MariaDB 11.4 and newer makes its own), or correct "database.tls".',
        { cause },
      )
    case 'HANDSHAKE_SSL_ERROR':
      return certificateRefused(error, settings)
    case 'ER_SECURE_TRANSPORT_REQUIRED':
      return new SourceProblem(
        'not_encrypted',
        `The database at ${where} accepts encrypted connections only.`,
        'Set "tls" of "database" in the settings file to "verified" or "required".',
        { cause },
      )
    case 'ER_HOST_NOT_PRIVILEGED':
      return new SourceProblem(
        'access_denied',
        `The database at ${where} has no account for this computer${hostNamed(error)}.`,
        `As the database's administrator run: create user ${accountText({ ...account, host: hostOf(error) })} identified by '…'; ${grantStatement(settings.name, { ...account, host: hostOf(error) })};`,
        { cause },
      )
    case 'ER_HOST_IS_BLOCKED':
      return new SourceProblem(
        'access_denied',
        `The database at ${where} has blocked this computer after too many interrupted connections.`,
        'As the database’s administrator run: flush hosts (MySQL 8: truncate table performance_schema.host_cache). Then find out what interrupts them: often a scanner of ports.',
        { cause },
      )
    case 'ACCOUNT_LOCKED':
      return new SourceProblem(
        'access_denied',
        `The account ${seen} of the database is locked.`,
        `As the database's administrator run: alter user ${seen} account unlock;`,
        { cause },
      )
    case 'PASSWORD_EXPIRED':
      return new SourceProblem(
        'access_denied',
        `The password of the account ${seen} of the database has expired.`,
        `As the database's administrator run: alter user ${seen} identified by '…' password expire never; and put the password into "database" of the settings file.`,
        { cause },
      )
    case 'SIGN_IN_UNSUPPORTED':
      return new SourceProblem(
        'access_denied',
        `The account ${seen} signs in to the database in a way that the agent or the server does not have (${code}).`,
        `As the database's administrator give it a password: alter user ${seen} identified by '…';`,
        { cause },
      )
    case 'LIMIT_OF_USER':
      return new SourceProblem(
        'unreachable',
        `The user "${settings.user}" has used up its connections or questions at the database.`,
        `The agent tries again by itself. If the error persists, run as the administrator: alter user ${seen} with max_user_connections 0 max_queries_per_hour 0;`,
        { cause },
      )
    case 'ER_CON_COUNT_ERROR':
      return new SourceProblem(
        'unreachable',
        `The database at ${where} has no connection left: others use them all.`,
        'The agent tries again by itself. If the error persists, raise max_connections of the database server.',
        { cause },
      )
    case 'CONNECTION_ENDED':
      return new SourceProblem(
        'unreachable',
        `The database at ${where} ended the connection of the agent.`,
        'The agent tries again by itself. If it happens again and again, ask who restarts the server or ends connections.',
        { cause },
      )
    case 'TABLE_DAMAGED': {
      const place = placeOf(error, sql)
      const table = place?.table ?? 'a table'
      return new SourceProblem(
        'table_damaged',
        `The table ${table} of the database is damaged.`,
        `Repair it: in Open Dental under Tools, Database Maintenance, or as the database's administrator: repair table \`${settings.name}\`.\`${table}\`; (if it answers "Corrupt": repair table \`${settings.name}\`.\`${table}\` use_frm;)`,
        { cause, place },
      )
    }
    case 'ER_DBACCESS_DENIED_ERROR':
      return new SourceProblem(
        'rights_missing',
        `The user "${settings.user}" has no right to use the database "${settings.name}".`,
        `As the database's administrator run: ${grantStatement(settings.name, account)};`,
        { cause },
      )
    case 'ER_SPECIFIC_ACCESS_DENIED_ERROR':
      return new SourceProblem(
        'rights_missing',
        `The user "${settings.user}" lacks a right for this question.`,
        'Nothing to do: the agent can do without.',
        { cause },
      )
    case 'ER_BAD_DB_ERROR':
      return new SourceProblem(
        'database_missing',
        `The database "${settings.name}" does not exist at ${where}.`,
        'Correct the database name; Open Dental shows it in its "Choose Database" window. It is usually "opendental".',
        { cause },
      )
    case 'ER_TABLEACCESS_DENIED_ERROR':
    case 'ER_COLUMNACCESS_DENIED_ERROR':
      return rightsMissing(settings, account, placeOf(error, sql), cause)
    case 'ER_NO_SUCH_TABLE':
    case 'ER_BAD_FIELD_ERROR':
      return lacks(settings, placeOf(error, sql), cause)
    case 'ER_STATEMENT_TIMEOUT':
    case 'ER_QUERY_TIMEOUT':
    case 'ER_LOCK_WAIT_TIMEOUT':
    case 'PROTOCOL_SEQUENCE_TIMEOUT':
      return new SourceProblem(
        'too_slow',
        `The database at ${where} did not answer in time. The agent stopped the query, so that the office can work.`,
        'The agent tries again by itself. If the error persists, let the agent read a replica, or check what else runs on the database.',
        { cause },
      )
  }
  if (isUnreachable(code)) {
    return new SourceProblem(
      'unreachable',
      `The database at ${where} cannot be reached (${code}).`,
      'Check that the database server runs, that host and port (or socket) are right, and that no firewall is in between.',
      { cause },
    )
  }
  return new SourceProblem(
    'unexpected',
    `The database at ${where} answered with an error (${code}).`,
    'If the error persists, send this line to support.',
    { cause },
  )
}

/** Says what the database user may not read, and the statement that mends it. */
function rightsMissing(
  settings: DatabaseSettings,
  account: Account,
  place: SourcePlace | null,
  cause: Error,
): SourceProblem {
  const { table, column } = place ?? { table: 'a table', column: null }
  return new SourceProblem(
    'rights_missing',
    `The user "${settings.user}" may not read ${column === null ? `the table ${table}` : `the column ${column} of the table ${table}`}.`,
    `As the database's administrator run: ${grantStatement(settings.name, account)};`,
    { cause, place },
  )
}

/** A table or a column that every version of Open Dental has, as far as this agent knows. */
function lacks(settings: DatabaseSettings, place: SourcePlace | null, cause: Error): SourceProblem {
  // Each database of Open Dental has this one, and other programs' do not.
  if (place === null || place.table === 'preference') {
    return new SourceProblem(
      'not_open_dental',
      `The database "${settings.name}" is not an Open Dental database: it has no table preference with its columns.`,
      'Correct the database name; Open Dental shows it in its "Choose Database" window. It is usually "opendental".',
      { cause, place },
    )
  }
  const { table, column } = place
  if (column === null) {
    return new SourceProblem(
      'table_missing',
      `The database "${settings.name}" has no table ${table}.`,
      'Start Open Dental once, so that it ends an update that was interrupted. If the table is still missing, restore it from a backup.',
      { cause, place },
    )
  }
  return new SourceProblem(
    'column_missing',
    `The table ${table} of the database has no column ${column}.`,
    'Start Open Dental once, so that it ends an update that was interrupted. It must be version 16.1 or later. If the column is still missing, update the agent.',
    { cause, place },
  )
}

/** The driver says that TLS failed; OpenSSL's own code, which it replaced, is in the text. */
function certificateRefused(error: unknown, settings: DatabaseSettings): SourceProblem {
  const text = textOf(error)
  const caFile = settings.tls?.mode === 'verified' ? settings.tls.caFile : null
  const cause = new Error('HANDSHAKE_SSL_ERROR')
  const where = `${settings.host}:${settings.port}`
  if (/altnames|does not match|Host: /i.test(text)) {
    return new SourceProblem(
      'not_encrypted',
      `The certificate of the database at ${where} is for another name than "${settings.host}".`,
      'Set "host" of "database" to a name that is in the certificate, or give the server a certificate with this name. If neither was changed lately, ask who answers at this address.',
      { cause },
    )
  }
  if (/certificate has expired|not yet valid/i.test(text)) {
    return new SourceProblem(
      'not_encrypted',
      `The certificate of the database at ${where} has expired, or is not valid yet.`,
      'Renew the certificate of the database server, and check the clock of this computer.',
      { cause },
    )
  }
  if (/self.signed|unable to (get|verify)|issuer|certificate/i.test(text)) {
    return new SourceProblem(
      'not_encrypted',
      `The certificate of the database at ${where} is not signed by an authority ${caFile === null ? 'that this computer knows' : `in ${caFile}`}.`,
      'Put the authority that signed it (PEM) into a file, and name the file in "tls_ca_file" of "database". If it was right before, ask who answers at this address.',
      { cause },
    )
  }
  return new SourceProblem(
    'not_encrypted',
    `The database at ${where} and this agent could not agree on an encryption.`,
    'Update the database server: the agent needs TLS 1.2 or newer.',
    { cause },
  )
}

/** A file of authorities that cannot be used, and what to do. */
export function authoritiesUnusable(what: string, error: unknown): SourceProblem {
  return new SourceProblem(
    'not_encrypted',
    `${what} (${errorCode(error)}), and "tls_ca_file" of "database" names it.`,
    'It must hold the certificate (PEM) of the authority that signed the database server’s, readable by the account of this agent.',
    { cause: error },
  )
}

function isEncrypted({ tls, socket }: DatabaseSettings): boolean {
  return socket !== null || (tls !== undefined && tls !== null)
}

/**
 * Faults that have more than one number, and those that the driver does not name or names wrongly: it knows MySQL's numbers, of which MariaDB's are
 * others from 1900 on. https://mariadb.com/kb/en/mariadb-error-code-reference/ and https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
 */
const faults: Readonly<Record<number, string>> = {
  // Of the storage engine, of the server, and both of a key file.
  126: 'TABLE_DAMAGED',
  127: 'TABLE_DAMAGED',
  144: 'TABLE_DAMAGED',
  130: 'TABLE_DAMAGED',
  145: 'TABLE_DAMAGED',
  1016: 'TABLE_DAMAGED',
  1017: 'TABLE_DAMAGED',
  1034: 'TABLE_DAMAGED',
  1035: 'TABLE_DAMAGED',
  1194: 'TABLE_DAMAGED',
  1195: 'TABLE_DAMAGED',
  1203: 'LIMIT_OF_USER',
  1226: 'LIMIT_OF_USER',
  1251: 'SIGN_IN_UNSUPPORTED',
  1275: 'SIGN_IN_UNSUPPORTED',
  1524: 'SIGN_IN_UNSUPPORTED',
  1820: 'PASSWORD_EXPIRED',
  1862: 'PASSWORD_EXPIRED',
  // MariaDB: ER_CONNECTION_KILLED, ER_STATEMENT_TIMEOUT, ER_ACCOUNT_HAS_BEEN_LOCKED.
  1927: 'CONNECTION_ENDED',
  1969: 'ER_STATEMENT_TIMEOUT',
  4151: 'ACCOUNT_LOCKED',
  // MySQL: ER_ACCOUNT_HAS_BEEN_LOCKED, ER_CLIENT_INTERACTION_TIMEOUT.
  3118: 'ACCOUNT_LOCKED',
  4031: 'CONNECTION_ENDED',
}

function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'no code'
  const number = 'errno' in error ? Number(error.errno) : Number.NaN
  const fault = faults[number]
  if (fault !== undefined) return fault
  // "Got error 127 … from storage engine": the engine's own number.
  const ofEngine = number === 1030 ? faults[Number(/error (\d+)/.exec(textOf(error))?.[1])] : undefined
  if (ofEngine !== undefined) return ofEngine
  if ('code' in error && typeof error.code === 'string') return error.code
  // The driver's own, of a connection that the server ended between two statements.
  if (/closed state|fatal error/.test(textOf(error))) return 'CONNECTION_ENDED'
  return Number.isNaN(number) ? 'no code' : `error ${number}`
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}

/** "Host '10.0.0.5' is not allowed to connect" → 10.0.0.5 */
function hostOf(error: unknown): string {
  return /^Host '([^']+)'/.exec(textOf(error))?.[1] ?? '%'
}

function hostNamed(error: unknown): string {
  const host = hostOf(error)
  return host === '%' ? '' : `, which it sees as ${host}`
}

function isUnreachable(code: string): boolean {
  return (
    code.startsWith('ECONN') ||
    /^(ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|EACCES|PROTOCOL_CONNECTION_LOST|ER_SERVER_SHUTDOWN)$/.test(
      code,
    )
  )
}

/**
 * "SELECT command denied to user 'x'@'y' for table `db`.`insplan`", "… for column 'Note' in table 'appointment'", "Table 'db.fee' doesn't exist",
 * "Table './db/claimproc' is marked as crashed", "Index for table 'fee' is corrupt", "Unknown column 'p.IsMedical' in 'WHERE'", "Got error 127 from
 * storage engine" → what it is about: where the text does not say it, the statement does.
 */
function placeOf(error: unknown, sql: string): SourcePlace | null {
  const text = textOf(error)
  const column = /column [`']([\w$.]+)[`']/i.exec(text)?.[1]?.split('.') ?? []
  const named = /(?:table|file:?) [`'](?:[^`'/.]+(?:`\.`|\.)|\.[/\\][^/\\']+[/\\])?([\w$]+)(?:\.MY[ID])?[`']/i.exec(
    text,
  )?.[1]
  const table = named ?? tableInStatement(sql, column.length > 1 ? column.at(-2) : undefined)
  return table === undefined ? null : { table: table.toLowerCase(), column: column.at(-1) ?? null }
}

/** The only table that the statement reads, or the one that it calls by this name. */
function tableInStatement(sql: string, name: string | undefined): string | undefined {
  const tables = [...sql.matchAll(/\b(?:from|_join|join)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?/gi)].map(
    ([, table = '', alias = '']) => ({ table, alias }),
  )
  const only = new Set(tables.map(({ table }) => table)).size === 1 ? tables[0]?.table : undefined
  return name === undefined ? only : tables.find(({ table, alias }) => name === alias || name === table)?.table
}
