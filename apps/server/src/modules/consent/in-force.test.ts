import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { inForce, notEnded } from './in-force.ts'

test('K01: a grant is in force until the moment of its end, and not when it was revoked', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { rows } = await pool.query(
    `select ${notEnded('g')} as not_ended, ${inForce('g')} as in_force
       from (values (1, null::timestamptz, null::timestamptz),
                    (2, null, statement_timestamp() + interval '1 microsecond'),
                    (3, null, statement_timestamp()),
                    (4, null, statement_timestamp() - interval '1 microsecond'),
                    (5, statement_timestamp(), null),
                    (6, statement_timestamp(), statement_timestamp() + interval '1 day'),
                    (7, statement_timestamp(), statement_timestamp() - interval '1 day')) g (n, revoked_at, ends_at)
      order by n`,
  )
  assert.deepEqual(
    rows.map((row) => row.not_ended),
    [true, true, false, false, true, true, false],
  )
  assert.deepEqual(
    rows.map((row) => row.in_force),
    [true, true, false, false, false, false, false],
  )
})
