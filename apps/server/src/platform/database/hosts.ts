import pg from 'pg'
import { readOnlyError } from './unavailable.ts'

/**
 * The hosts of an address as PostgreSQL's own programs read it (https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS), each as an
 * address of its own: `postgres://role@a:5432,b:5432/name`. Empty where the address is malformed, or asks for a server that takes no writes.
 */
export function hostsOf(address: string): string[] {
  const [, before = '', hosts = '', after = ''] = addressForm.exec(address) ?? []
  const each = hosts.split(',').map((host) => `${before}${host}${after}`)
  return before !== '' && each.every((one) => URL.canParse(one) && takesWrites(new URL(one))) ? each : []
}

const addressForm = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s

/** Whether asked for or not, the service needs a server that takes writes. */
function takesWrites({ searchParams }: URL): boolean {
  return [null, 'any', 'read-write', 'primary'].includes(searchParams.get('target_session_attrs'))
}

/** What pg connects with. `forget` makes the next connection look for the host that takes writes. */
export type Hosts = { connectionString: string; Client: typeof pg.Client; forget: () => void }

/**
 * Clients for an address. pg knows one host; of several, these connect to the one that takes writes, as with `target_session_attrs=read-write`. It is
 * looked for at the first connection, and again after one that failed or was forgotten. All hosts are asked at the same moment, so that a dead one costs
 * its time once, and the first in the address's order wins, so that all processes choose the same.
 */
export function createHosts(address: string, Client: typeof pg.Client = pg.Client): Hosts {
  const hosts = hostsOf(address)
  const [connectionString = address] = hosts
  if (hosts.length < 2) return { connectionString, Client, forget: () => {} }

  let found: Promise<Place> | null = null
  const forget = () => {
    found = null
  }
  class ChoosingClient extends Client {
    override connect(...given: unknown[]): never {
      const [callback] = given as [((error: Error | null) => void)?]
      const connected = this.#connect()
      if (!callback) return connected as never
      connected.then(() => callback(null), callback)
      return undefined as never
    }

    async #connect(): Promise<this> {
      found ??= findWritable(hosts)
      const finding = found
      try {
        // pg reads both when it connects.
        Object.assign(this, await finding)
        await super.connect()
        return this
      } catch (error) {
        if (found === finding) forget()
        throw error
      }
    }
  }
  return { connectionString, Client: ChoosingClient, forget }
}

type Place = { host: string; port: number }

async function findWritable(hosts: readonly string[]): Promise<Place> {
  const probes = hosts.map((host) => probe(host).catch((error: unknown) => error))
  const errors: unknown[] = []
  for (const each of probes) {
    const place = await each
    if (isPlace(place)) return place
    errors.push(place)
  }
  throw new AggregateError(errors, 'no host of the database takes writes')
}

function isPlace(found: unknown): found is Place {
  return !(found instanceof Error)
}

async function probe(connectionString: string): Promise<Place> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000, query_timeout: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ is_read_only: boolean }>(`select ${isReadOnly} as is_read_only`)
    if (rows[0]?.is_read_only !== false) throw readOnlyError()
    return { host: client.host, port: client.port }
  } finally {
    // Not awaited: a host that is gone never answers.
    client.end().catch(() => {})
  }
}

/** SQL for whether a session takes no writes, as on a standby: libpq's own test for `read-write`. */
export const isReadOnly = `current_setting('transaction_read_only') = 'on'`
