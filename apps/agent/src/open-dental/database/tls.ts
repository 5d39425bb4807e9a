import { isIP } from 'node:net'
import type { Finding } from '../../connector.ts'
import type { Database } from './connection.ts'

/** Whether others in the network can read the connection, as the database itself says. */
export async function findingOnTls(database: Database): Promise<Finding> {
  const { tls, socket, host } = database.settings
  if (socket !== null) return good('The connection to the database is a socket of this computer.')
  const [row] = await database.query("show session status like 'Ssl_version'")
  const version = row?.Value ?? ''
  if (version === '') {
    if (isThisComputer(host)) return good('The connection to the database stays in this computer.')
    return {
      outcome: 'advice',
      what: `The connection to the database at ${host} is not encrypted: others in the network can read patients' data.`,
      todo: 'Set "tls" of "database" in the settings file to "verified", or run the agent on the computer of the database.',
    }
  }
  if (tls?.mode === 'verified') {
    return good(`The connection to the database is encrypted (${version}), and its certificate is that of ${host}.`)
  }
  return {
    outcome: 'advice',
    what: `The connection to the database is encrypted (${version}), but its certificate was not verified: another computer can pose as the database.`,
    todo: 'Set "tls" of "database" in the settings file to "verified", and "tls_ca_file" to the certificate of the authority.',
  }
}

/** Whether a host's name or address is that of the computer that asks. */
export function isThisComputer(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function good(what: string): Finding {
  return { outcome: 'good', what, todo: null }
}
