import type { TestDatabase, TestMariaDb } from './test-mariadb.ts'

/** What the agent asked of the database server during some work. */
export type Load = {
  readonly statements: number
  /** As the server's slow log counts them. */
  readonly rowsExamined: number
  /** Of one statement. */
  readonly mostRowsExamined: number
  /** Of one statement, from the moment it had its locks: so long no workstation can write to the tables that it reads. */
  readonly longestLockMs: number
  readonly longestStatement: string
  readonly seconds: number
}

/** Measures `work` by the server's log of all statements of the agent's user. The server must have no other client. */
export async function measureLoad(
  mariaDb: TestMariaDb,
  { settings }: TestDatabase,
  work: () => Promise<void>,
): Promise<Load> {
  await mariaDb.execute(
    "set global log_output = 'TABLE', global long_query_time = 0, global slow_query_log = 0; truncate mysql.slow_log",
  )
  await mariaDb.execute('set global slow_query_log = 1')
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  await mariaDb.execute('set global slow_query_log = 0')
  const lockMs = 'time_to_sec(query_time) * 1000 - time_to_sec(lock_time) * 1000'
  const ofAgent = `mysql.slow_log where user_host like '${settings.user}[%'`
  const [sum] = await mariaDb.execute(
    `select count(*) as statements, coalesce(sum(rows_examined), 0) as examined, max(rows_examined) as most from ${ofAgent}`,
  )
  const [longest] = await mariaDb.execute(
    `select ${lockMs} as ms, convert(left(sql_text, 2000) using utf8) as text from ${ofAgent} order by ms desc limit 1`,
  )
  return {
    statements: Number(sum?.statements ?? 0),
    rowsExamined: Number(sum?.examined ?? 0),
    mostRowsExamined: Number(sum?.most ?? 0),
    longestLockMs: Number(longest?.ms ?? 0),
    longestStatement: String(longest?.text ?? '')
      .replaceAll(/\s+/g, ' ')
      .slice(0, 160),
    seconds,
  }
}
