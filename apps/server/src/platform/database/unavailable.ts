import { codeOf } from '../errors/error-code.ts'
/**
 * Whether an error means that the database cannot be reached, is starting, is stopping or does not answer in time: the same request may
 * succeed later, so it is answered with 503 and not with 500. False for an error of the statement itself.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) return true
  const code = codeOf(error) ?? ''
  // ENOENT and EACCES of a socket, not of some file that a route could not read.
  if ((code === 'ENOENT' || code === 'EACCES') && 'syscall' in error && error.syscall === 'connect') return true
  if (unavailableCodes.has(code) || /^08...$/.test(code)) return true
  if (code === '' && unavailableMessages.some((message) => error.message.startsWith(message))) return true
  return isDatabaseUnavailable(error.cause)
}

/** A word for the log: the SQLSTATE or the system's code, or else the error's class; never the message, which may carry a value. */
export function databaseErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return codeOf(error) ?? wordOf(error)
}

function wordOf(error: Error): string {
  return unavailableMessages.some((message) => error.message.startsWith(message)) ? 'connection lost' : error.name
}

const unavailableCodes: ReadonlySet<string> = new Set([
  '57P01', // admin_shutdown: the session was ended, by a restart or by pg_terminate_backend
  '57P02', // crash_shutdown: another backend died and took all with it
  '57P03', // cannot_connect_now: starting up, recovering or shutting down
  '57P05', // idle_session_timeout
  '53300', // too_many_connections
  '53100', // disk_full
  '53200', // out_of_memory
  '57014', // query_canceled: statement_timeout
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '25006', // read_only_sql_transaction: the session is on a standby, a failover is not over
  '58030', // io_error
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ETIMEDOUT',
  'EMFILE',
  'ENFILE',
])

/** What pg itself raises has no code: known by its text, which a test holds against the installed version. */
const unavailableMessages = [
  'Connection terminated',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
]
