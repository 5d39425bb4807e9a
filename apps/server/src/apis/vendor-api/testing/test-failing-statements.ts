import assert from 'node:assert/strict'
import pg from 'pg'

/** Statements that carry the secret and end in each way in which Postgres likes to tell what a statement held. Each fails. */
export async function failInEveryWay(url: string, secret: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `create temporary table held (
         id int primary key, name text not null unique, amount int check (amount > 0), other int references held)`,
    )
    await client.query('insert into held values (1, $1, 1, 1)', [secret])
    await client.query("set statement_timeout = '200ms'")
    for (const [sql, ...values] of [
      // Bad values: as a parameter, in the statement's text, in JSON, where a row is copied.
      ['select $1::integer', secret],
      [`select '${secret}'::timestamptz`],
      ['select $1::jsonb', `{"${secret}"`],
      ['select array_fill($1::text, array[-1])', secret],
      // Constraints of each kind, whose details are the row or the key.
      ['insert into held values (2, $1, 1, 1)', secret],
      ['insert into held values (2, $1, 0, 1)', `${secret} check`],
      ['insert into held values (2, $1, 1, 7)', `${secret} reference`],
      ['insert into held values (null, $1, 1, 1)', `${secret} null`],
      // Raised by a function, with the statement that it was at.
      [`do $$ begin perform '${secret}'::integer; end $$`],
      // Names that are not there.
      [`select "${secret}" from held`],
      // Too late.
      [`select pg_sleep(10) /* ${secret} */`],
      ['select pg_sleep(10) from held where name = $1', secret],
    ] as const) {
      await assert.rejects(client.query(sql, [...values]), pg.DatabaseError, sql)
    }
  } finally {
    await client.end()
  }
  // The session itself is ended, by its time and by an administrator.
  for (const end of ["set transaction_timeout = '20ms'; begin", 'select pg_terminate_backend(pg_backend_pid())']) {
    const ended = new pg.Client({ connectionString: url })
    ended.on('error', () => {})
    await ended.connect()
    await assert.rejects(ended.query(`${end}; select pg_sleep(10) /* ${secret} */`), pg.DatabaseError)
    await ended.end().catch(() => {})
  }
}
