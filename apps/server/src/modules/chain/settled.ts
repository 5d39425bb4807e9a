import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '../../platform/database/queryable.ts'

const pollMs = 5

/**
 * The highest visible id of a table, once no id up to it can appear any more; null when a writer takes longer than `waitMsMax`. An id is drawn
 * under the lock for writing, which is held until the row is visible: when all who held it have ended, every lower id is decided. No writer
 * waits for us. `readLast` and later readings must be statements of their own (READ COMMITTED), so that they see what became visible.
 */
export async function settledId(
  db: Queryable,
  table: 'disclosure' | 'audit_event',
  readLast: (db: Queryable) => Promise<string>,
  waitMsMax = 2_000,
): Promise<string | null> {
  const last = await readLast(db)
  const writers = await listWriters(db, table)
  const givenUpAt = performance.now() + waitMsMax
  for (let left = writers; left.length > 0; ) {
    if (performance.now() > givenUpAt) return null
    await sleep(pollMs)
    const now = new Set(await listWriters(db, table))
    left = left.filter((writer) => now.has(writer))
  }
  return last
}

/** The transactions that hold a lock for writing the table. */
async function listWriters(db: Queryable, table: string): Promise<string[]> {
  const { rows } = await db.query<{ writer: string }>(
    `select virtualtransaction as writer
       from pg_locks
      where locktype = 'relation' and relation = $1::regclass and mode = 'RowExclusiveLock' and granted
        and database = (select oid from pg_database where datname = current_database())`,
    [table],
  )
  return rows.map(({ writer }) => writer)
}
