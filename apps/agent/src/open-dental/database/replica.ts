import { type Finding, SourceProblem } from '../../connector.ts'
import type { Database } from './connection.ts'

/** Whether the database is a copy of another one, and how far it is behind. `stopped`: it takes no changes over. */
export type Replica =
  | { readonly is: 'original' }
  | { readonly is: 'replica'; readonly behindSeconds: number }
  | { readonly is: 'stopped' }
  /** The database user may not ask. */
  | { readonly is: 'unknown' }

/** A replica further behind is worth a warning: what vendors see is at least as old. */
const behindSecondsMax = 300

export async function readReplica(database: Database, version: string): Promise<Replica> {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  const isNewMySql = !/mariadb/i.test(version) && (major > 8 || (major === 8 && (minor > 0 || patch >= 22)))
  try {
    const rows = await database.query(isNewMySql ? 'show replica status' : 'show slave status')
    if (rows.length === 0) return { is: 'original' }
    // With several sources, the one that is furthest behind counts.
    const seconds = rows.map((row) => row.Seconds_Behind_Source ?? row.Seconds_Behind_Master)
    if (seconds.some((value) => value === null || value === undefined)) return { is: 'stopped' }
    return { is: 'replica', behindSeconds: Math.max(...seconds.map(Number)) }
  } catch (error) {
    if (error instanceof SourceProblem && error.kind === 'rights_missing') return { is: 'unknown' }
    throw error
  }
}

/** What a person should know of a replica that is behind, or null. */
export function adviceOnReplica(replica: Replica): string | null {
  if (replica.is === 'stopped') {
    return 'The database is a replica that takes no changes over: its replication has stopped, so what the agent sends is out of date.'
  }
  if (replica.is !== 'replica' || replica.behindSeconds <= behindSecondsMax) return null
  return `The database is a replica that is ${lag(replica.behindSeconds)} behind, so what the agent sends is at least as old.`
}

/** The same as a finding of `check`, for every state. */
export function findingOnReplica(replica: Replica): Finding {
  const advice = adviceOnReplica(replica)
  if (advice !== null) {
    const todo = 'Ask who runs the database to repair the replication, or let the agent read the original.'
    return { outcome: 'advice', what: advice, todo }
  }
  return { outcome: 'good', what: whatIs(replica), todo: null }
}

function whatIs(replica: Replica): string {
  if (replica.is === 'replica') return `The database is a replica, ${lag(replica.behindSeconds)} behind.`
  if (replica.is === 'original') return 'The database is not a replica.'
  return 'Whether the database is a replica, and how far behind, is not known: the database user may not ask.'
}

function lag(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`
}
