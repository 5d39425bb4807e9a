import { SourceProblem } from '../connector.ts'
import { placeOfDatabase, type SqlSettings } from './settings.ts'

/** What went wrong, by an engine's own codes. `text`: the database's words where they name tables, columns and syntax alone, never a value. */
export type SqlFault = {
  readonly kind:
    | 'unreachable'
    | 'driver'
    | 'access_denied'
    | 'not_encrypted'
    | 'database_missing'
    | 'rights_missing'
    | 'statement'
    | 'too_slow'
    | 'unexpected'
  readonly code: string
  readonly text?: string
}

/** A database that does not answer is given up after this time; the first rows of a sorted statement may take long. */
export const answerMsMax = 300_000

/** Says for the office what is wrong, and what to do. `table`: the mapping's part that was read; others may go on without it. */
export function sqlProblem(
  { kind, code, text }: SqlFault,
  settings: SqlSettings,
  { table = null, cause }: { table?: string | null; cause?: unknown } = {},
): SourceProblem {
  const where = placeOfDatabase(settings)
  const options = { cause, place: table === null ? null : { table, column: null } }
  const said = text === undefined ? code : `${code}: ${text}`
  const statement = table === null ? 'a statement of the mapping' : `the statement of ${table}`
  switch (kind) {
    case 'unreachable':
      return new SourceProblem(
        kind,
        `The database at ${where} cannot be reached (${code}).`,
        'Check that the database server runs, that host and port (or socket) are right, and that no firewall is in between.',
        { cause },
      )
    case 'driver': {
      const { what, todo } = ofDriver(code)
      return new SourceProblem('unreachable', `ODBC cannot reach ${where} (${code}): ${what}`, todo, { cause })
    }
    case 'access_denied':
      return new SourceProblem(
        kind,
        `The database at ${where} refuses the user "${settings.user}" (${code}).`,
        'Correct the user or the password of "database" in the settings file, and see that this user may sign in from this computer.',
        { cause },
      )
    case 'not_encrypted':
      return new SourceProblem(
        kind,
        `The connection to the database at ${where} cannot be encrypted as the settings require (${said}).`,
        'Give the database server a certificate, or correct "tls" and "tls_ca_file" of "database" in the settings file.',
        { cause },
      )
    case 'database_missing':
      return new SourceProblem(
        kind,
        `There is no database "${settings.name}" at ${where} (${code}).`,
        'Correct "name" of "database" in the settings file.',
        { cause },
      )
    case 'rights_missing':
      return new SourceProblem(
        kind,
        `The user "${settings.user}" may not read what ${statement} names (${said}).`,
        'Grant the user the right to select from these tables or views, and nothing else.',
        options,
      )
    case 'statement':
      return new SourceProblem(
        'mapping_invalid',
        `The database does not understand ${statement} (${said}).`,
        'Correct the mapping, then run "bridgework-agent check".',
        options,
      )
    case 'too_slow':
      return new SourceProblem(
        kind,
        `The database at ${where} took too long with ${statement} (${code}).`,
        'The agent tries again by itself. If the error persists, make the statement cheaper, with an index or a view, or let the agent read a replica.',
        options,
      )
    case 'unexpected':
      return new SourceProblem(
        kind,
        `The database at ${where} answered ${statement} with an error (${code}).`,
        'Run the statement with the same user in a tool of the database, which shows the whole error.',
        options,
      )
  }
}

/** What is missing on this computer, by the codes of ODBC's driver manager and by ours. */
function ofDriver(code: string): { what: string; todo: string } {
  const correct =
    'Correct "name" of "database" in the settings file, or set up the data source. On Windows it must be a system DSN: the agent does not see a person’s own.'
  switch (code) {
    case 'NO_PROGRAM':
      return {
        what: 'this installation of the agent lacks the program that uses ODBC.',
        todo: 'Install the agent’s package for Windows or Debian, or name the program in "program" of "database" in the settings file.',
      }
    case 'PROGRAM_ENDED':
      return {
        what: 'the program that uses ODBC ended.',
        todo: 'On Linux, install unixODBC (on Debian: apt-get install libodbc2). Otherwise the driver ended it: install another version of the driver.',
      }
    case 'IM003':
      return {
        what: 'the driver cannot be loaded.',
        todo: 'Install the driver anew, with the libraries that it needs.',
      }
    case 'IM014':
      return {
        what: 'the data source has a driver of 32 bits, and the agent’s program has 64, or the other way round.',
        todo: 'Install the driver that has as many bits as the agent, and set up the data source with it.',
      }
    case 'IM002':
      return { what: 'there is no data source or driver of this name.', todo: correct }
    default:
      return { what: 'the driver manager refuses the connection string.', todo: correct }
  }
}

/** The code of an error of the network or of TLS, of whichever driver; null: it is another one. */
export function networkFault(error: unknown): SqlFault | null {
  const code = errorCode(error)
  if (/^(ECONN|E(NOENT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|TIMEDOUT|PIPE|ACCES)$)/.test(code))
    return { kind: 'unreachable', code }
  if (/CERT|SELF_SIGNED|UNABLE_TO|^ERR_(TLS|SSL)|HANDSHAKE/.test(code)) return { kind: 'not_encrypted', code }
  return null
}

export function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'no code'
}

/** Fails when a database does not answer in time; `giveUp` ends the connection. */
export async function inTime<T>(work: Promise<T>, giveUp: () => void, ms = answerMsMax): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      giveUp()
      reject(Object.assign(new Error('no answer in time'), { code: 'NO_ANSWER' }))
    }, ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
