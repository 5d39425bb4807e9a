import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { createSecretKey } from '../credentials/secret.ts'
import { admitAttempt } from './attempt-limit.ts'

const secretKey = createSecretKey(Buffer.alloc(32, 7))
const who = { ip: '203.0.113.7', account: 'a@example.com' }

test('W14: who is refused learns in how many seconds the oldest of the failures that count leaves the window', async (t) => {
  const { pool } = await createTestDatabase(t)
  const agedMinutes = (ages: readonly number[]) =>
    pool.query(
      `update sign_in_attempt
          set attempted_at = array(select clock_timestamp() - age * interval '1 minute' from unnest($1::float8[]) age)`,
      [ages],
    )
  const refused = async () => {
    const error = await admitAttempt(pool, secretKey, 'mail', who).then(
      () => assert.fail('it was admitted'),
      (refusal: { code: string; retryAfterSeconds: number }) => refusal,
    )
    assert.equal(error.code, 'sign_in_throttled')
    return error.retryAfterSeconds
  }
  for (let mail = 0; mail < 5; mail += 1) await admitAttempt(pool, secretKey, 'mail', who)
  for (const [ages, seconds] of [
    [[50, 40, 30, 20, 10], 600],
    // Failures from before the window are still in the log, and two more than the limit were let in by an older version.
    [[70, 61, 50, 40, 30, 20, 10], 600],
    [[55, 50, 40, 30, 20, 10, 5], 1200],
    [[59.999, 40, 30, 20, 10], 1],
  ] as const) {
    await agedMinutes(ages)
    const found = await refused()
    assert.ok(found === seconds || found === seconds - 1, `${ages}: ${found}`)
    assert.ok(found >= 1)
  }
  await agedMinutes([60, 40, 30, 20, 10])
  await admitAttempt(pool, secretKey, 'mail', who)
})

test('W14: where the log was emptied meanwhile, who was refused comes back in a second', async () => {
  // The log is full for the first statement and gone for the second.
  const db = { query: async () => ({ rows: [] }) } as unknown as Parameters<typeof admitAttempt>[0]
  await assert.rejects(admitAttempt(db, secretKey, 'mail', who), { code: 'sign_in_throttled', retryAfterSeconds: 1 })
})
