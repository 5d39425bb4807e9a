import type { Pool, QueryConfig } from 'pg'

/** Decides under the address' row lock; see token_attempt_admit in the migrations. */
export async function admitTokenAttempt(
  pool: Pick<Pool, 'query'>,
  attempt: { address: string; max: number; windowMs: number; timeoutMs: number },
): Promise<{ admitted: boolean; remaining: number; waitMs: number }> {
  const query: QueryConfig & { query_timeout: number } = {
    name: 'token-attempt-admit',
    text: `select admitted, remaining, wait_ms from token_attempt_admit($1, $2, $3 * interval '1 millisecond')`,
    values: [attempt.address, attempt.max, attempt.windowMs],
    query_timeout: attempt.timeoutMs,
  }
  const { rows } = await pool.query<{ admitted: boolean; remaining: number; wait_ms: number }>(query)
  const [row] = rows
  if (!row) throw new Error('token_attempt_admit answered nothing')
  return { admitted: row.admitted, remaining: row.remaining, waitMs: row.wait_ms }
}

/** At most this many rows are deleted at once: a fraction of a second's work. */
export const purgedAtOnce = 10_000

/**
 * Deletes up to `purgedAtOnce` addresses whose last request left the window, and those whose last request is further in the future than a window:
 * their clock jumped back. Skips rows that a request holds. Reads the whole table, which holds a minute of addresses.
 */
export async function deleteOldTokenAttempts(
  pool: Pick<Pool, 'query'>,
  { windowMs, timeoutMs }: { windowMs: number; timeoutMs: number },
): Promise<number> {
  const query: QueryConfig & { query_timeout: number } = {
    text: `delete from token_attempt
            where address in (
              select address
                from token_attempt
               where cardinality(admitted_at) = 0
                  or admitted_at[cardinality(admitted_at)] not between clock_timestamp() - $1 * interval '1 millisecond'
                                                                   and clock_timestamp() + $1 * interval '1 millisecond'
               limit $2
                 for update skip locked
            )`,
    values: [windowMs, purgedAtOnce],
    query_timeout: timeoutMs,
  }
  const { rowCount } = await pool.query(query)
  return rowCount ?? 0
}
