import type { Queryable } from '../../platform/database/queryable.ts'

/** What of mail is still on its way. `failing`: the mail server did not take it at the last try, and `lastError` says why. */
export async function measureMail(
  db: Queryable,
): Promise<{ waiting: number; failing: number; oldestAt: Date | null; lastError: string | null }> {
  const { rows } = await db.query<{
    waiting: string
    failing: string
    oldest_at: Date | null
    last_error: string | null
  }>(
    `select count(*) as waiting, count(*) filter (where attempts > 0) as failing, min(created_at) as oldest_at,
            (select last_error from mail where last_error is not null order by id desc limit 1) as last_error
       from mail`,
  )
  const [row] = rows
  return {
    waiting: Number(row?.waiting ?? 0),
    failing: Number(row?.failing ?? 0),
    oldestAt: row?.oldest_at ?? null,
    lastError: row?.last_error ?? null,
  }
}
