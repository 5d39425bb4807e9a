import { codeOf } from '../errors/error-code.ts'

/**
 * Whether an error means that the database cannot do this now: it cannot be reached, is starting or stopping, does not answer in time, has no room, or
 * another transaction was in the way. The same request may succeed later, so it is answered with 503 and not with 500. False for an error of the
 * statement itself.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) return true
  const code = codeOf(error) ?? ''
  // ENOENT and EACCES of a socket, not of some file that a route could not read.
  if ((code === 'ENOENT' || code === 'EACCES') && 'syscall' in error && error.syscall === 'connect') return true
  if (systemCodes.has(code) || unavailableState.test(code) || isOnStandby(error)) return true
  if (code === '' && unavailableMessages.some((message) => error.message.startsWith(message))) return true
  return isDatabaseUnavailable(error.cause)
}

/** What a session is refused with that takes no writes, at its beginning. */
export function readOnlyError(): Error {
  return Object.assign(new Error('the session takes no writes'), { code: '25006' })
}

/** On a standby that a pooler has turned to, a table that is not logged cannot be read. Known by PostgreSQL's function, for the text is translated. */
function isOnStandby(error: Error): boolean {
  return codeOf(error) === '0A000' && 'routine' in error && error.routine === 'get_relation_info'
}

/** Whether PostgreSQL gave the error and goes on with the session, which then can roll back. */
export function isSessionAlive(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error) ?? ''
  return sqlState.test(code) ? !endedState.test(code) : isSessionAlive(error.cause)
}

/** A word for the log: the SQLSTATE or the system's code, or else the error's class; never the message, which may carry a value. */
export function databaseErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return codeOf(error) ?? wordOf(error)
}

function wordOf(error: Error): string {
  return unavailableMessages.some((message) => error.message.startsWith(message)) ? 'connection lost' : error.name
}

/**
 * SQLSTATEs after which the same request may succeed later. Codes and names: Appendix A of PostgreSQL's manual
 * (https://www.postgresql.org/docs/18/errcodes-appendix.html). Not among them, because waiting does not help: XX001 data_corrupted and XX002
 * index_corrupted, which a person must mend; class 54, program_limit_exceeded, of a statement that is too large; class 28, a refused role; 40002,
 * an integrity constraint; and errors of our statements, as 25P02.
 */
const unavailableStates = [
  '08...', // connection exception
  '25006', // read_only_sql_transaction: the session is on a standby, a failover is not over
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '40000', // transaction_rollback
  '40001', // serialization_failure: also a statement that a standby cancelled because of its recovery
  '40003', // statement_completion_unknown
  '40P01', // deadlock_detected: of two transactions that waited for each other this one was ended
  '53...', // insufficient resources: disk full, out of memory, too many connections, a limit of the server's configuration
  '55P03', // lock_not_available: another transaction holds it for longer than we wait
  '57...', // operator intervention: a statement's time limit (57014), shutdown, restart, crash of another session, a dropped database
  '58...', // system error outside of PostgreSQL: input and output, files
  'XX000', // internal_error: what has no other code, most often of things that changed at the same moment
]
const unavailableState = new RegExp(`^(${unavailableStates.join('|')})$`)

/** Each has a digit, and no code of Node's has one. */
const sqlState = /^(?=.*\d)[\dA-Z]{5}$/

/** SQLSTATEs that end the session, or after which another one must be asked; of class 57, 57014 alone ends the statement. */
const endedState = /^(08...|25006|25P03|25P04|57(?!014)...)$/

/** Node's codes of a connection: errno names of the system, and of the resolver. */
const systemCodes: ReadonlySet<string> = new Set([
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
