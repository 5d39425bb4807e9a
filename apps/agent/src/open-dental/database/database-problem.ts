import { SourceProblem } from '../../connector.ts'
import type { DatabaseSettings } from './database-settings.ts'

/**
 * The driver's error in the office's words. Only the error's code and, for a missing right, the table's name are taken
 * over: a database error's own text may quote what a row holds.
 */
export function databaseProblem(error: unknown, settings: DatabaseSettings): SourceProblem {
  if (error instanceof SourceProblem) return error
  const code = errorCode(error)
  const where = settings.socket ?? `${settings.host}:${settings.port}`
  const cause = new Error(code)
  switch (code) {
    case 'ER_ACCESS_DENIED_ERROR':
    case 'ER_ACCESS_DENIED_NO_PASSWORD_ERROR':
    case 'AUTH_SWITCH_PLUGIN_ERROR':
      return new SourceProblem(
        'access_denied',
        `The database at ${where} refuses the user "${settings.user}" with the password that is stored here.`,
        `Check the database user and password: run "bridgework-agent enroll" again with a new code, or correct "database" in the settings file.${
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
        `The database at ${where} refuses connections from this computer.`,
        'Create the database user for this computer: create user … identified by … with this computer’s address.',
        { cause },
      )
    case 'ER_DBACCESS_DENIED_ERROR':
      return new SourceProblem(
        'rights_missing',
        `The user "${settings.user}" has no right to use the database "${settings.name}".`,
        `As the database's administrator run: grant select on \`${settings.name}\`.* to the user "${settings.user}".`,
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
      return rightsMissing(settings, tableOf(error), cause)
    case 'ER_NO_SUCH_TABLE':
    case 'ER_BAD_FIELD_ERROR':
      return new SourceProblem(
        'not_open_dental',
        `The database "${settings.name}" lacks a table or a column that Open Dental has (${code}).`,
        'Check that the database name is that of Open Dental, version 16.1 or later, and update the agent.',
        { cause },
      )
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
    'The agent tries again by itself. If the error persists, send this line to support.',
    { cause },
  )
}

/** Says which tables the database user may not read, and the statement that mends it. */
export function rightsMissing(settings: DatabaseSettings, tables: readonly string[], cause?: Error): SourceProblem {
  return new SourceProblem(
    'rights_missing',
    `The user "${settings.user}" may not read: ${tables.join(', ')}.`,
    `As the database's administrator run: grant select on \`${settings.name}\`.* to the user "${settings.user}".`,
    cause === undefined ? {} : { cause },
  )
}

/** The driver says that TLS failed; OpenSSL's own code, which it replaced, is in the text. */
function certificateRefused(error: unknown, settings: DatabaseSettings): SourceProblem {
  const text = error instanceof Error ? error.message : ''
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

function errorCode(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string') {
    return error.code
  }
  // mysql2 names only the errors that it knows; MariaDB's "max_statement_time exceeded" is not among them.
  if (typeof error === 'object' && error !== null && 'errno' in error) {
    return error.errno === 1969 ? 'ER_STATEMENT_TIMEOUT' : `error ${String(error.errno)}`
  }
  return 'no code'
}

function isUnreachable(code: string): boolean {
  return (
    code.startsWith('ECONN') ||
    /^(ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|EACCES|PROTOCOL_CONNECTION_LOST|ER_CON_COUNT_ERROR|ER_SERVER_SHUTDOWN)$/.test(
      code,
    )
  )
}

/** "SELECT command denied to user 'x'@'y' for table `db`.`insplan`" → insplan */
function tableOf(error: unknown): string[] {
  const text = error instanceof Error ? error.message : ''
  const name = /for table [`'](?:\w+`\.`)?(\w+)[`']/.exec(text)?.[1]
  return [name ?? 'a table']
}
