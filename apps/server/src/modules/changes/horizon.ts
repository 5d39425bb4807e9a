import type { Pool } from 'pg'
import type { Stamp } from '../datasets/stamp.ts'

/** What the database's clock and its transactions said before rows were read. */
export type Horizon = {
  /**
   * What is committed after this was read has a stamp of at least so much, unless the clock is set back: a stamp is drawn after its transaction has
   * its number, and those that have one and are not over were asked when they began. docs/decisions/changes.md has the proof.
   */
  readonly stamp: Stamp
  readonly clock: Stamp
  readonly epoch: string
  /** The stamp that a restore gave every dataset; 0 in the first epoch. */
  readonly restored: Stamp
}

/** SQL for an instant as a stamp. */
export function stampOf(instant: string): string {
  return `(extract(epoch from ${instant}) * 1000000)::bigint`
}

/**
 * To be read before the rows that it is for, in a statement of its own: a snapshot must come after it. PostgreSQL shows a role the transactions of
 * its own sessions, which are those of all server processes. `statement_timestamp`: from before the sessions were looked at.
 */
export async function readHorizon(pool: Pool): Promise<Horizon> {
  const { rows } = await pool.query<{ stamp: string; clock: string; epoch: string; restored: string }>({
    name: 'changes-horizon',
    text: `select ${stampOf(`least(statement_timestamp(), (
                    select min(xact_start)
                      from pg_stat_activity
                     where datname = current_database() and backend_xid is not null))`)} as stamp,
                  ${stampOf('clock_timestamp()')} as clock, id as epoch, stamp as restored
             from service_epoch
            order by number desc
            limit 1`,
  })
  const [row] = rows
  if (!row) throw new Error('the database has no epoch')
  return {
    stamp: Number(row.stamp),
    clock: Number(row.clock),
    epoch: row.epoch,
    restored: Number(row.restored),
  }
}
