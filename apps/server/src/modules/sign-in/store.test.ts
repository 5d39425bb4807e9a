import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { getMigrations } from 'better-auth/db/migration'
import pg from 'pg'
import { schemas } from '../../platform/database/schemas.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { createSecretKey } from '../credentials/secret.ts'
import { deleteOldMails } from '../mail/queue.ts'
import { addMember } from '../membership/member.ts'
import { operator } from '../membership/tenant.ts'
import { createAuth } from './auth.ts'
import { deleteOldSignIns } from './store.ts'

test('the sign-in library finds every table and column that it wants, and would add nothing', async (t) => {
  const { serverUrl } = await createTestDatabase(t)
  const secretKey = createSecretKey(Buffer.alloc(32, 1))
  const missing: string[][] = []
  // The library looks for its tables in the first schema of the path alone.
  for (const schema of schemas) {
    const pool = new pg.Pool({ connectionString: serverUrl, options: `-c search_path=${schema}` })
    t.after(() => pool.end())
    const { options } = createAuth({ pool, secretKey, publicUrl: 'http://localhost' })
    const { toBeCreated, toBeAdded } = await getMigrations(options)
    assert.deepEqual(toBeAdded, [], schema)
    missing.push(toBeCreated.map(({ table }) => table))
  }
  const [first = [], ...others] = missing
  assert.ok(first.length > 0)
  assert.deepEqual(
    first.filter((table) => others.every((tables) => tables.includes(table))),
    [],
  )
})

test('what has run out is forgotten, and nothing else', async (t) => {
  const { pool } = await createTestDatabase(t)
  const userId = randomUUID()
  await pool.query(`insert into portal_user (id, name, email) values ($1, 'Olga', 'olga@example.com')`, [userId])
  for (const age of ['-1 minute', '91 days']) {
    await pool.query(
      `insert into portal_session (id, user_id, token, expires_at) values ($1, $2, $3::text, now() - $3::text::interval)`,
      [randomUUID(), userId, age],
    )
    await pool.query(
      `insert into portal_verification (id, identifier, value, expires_at) values ($1, 'x', 'x', now() - $2::interval)`,
      [randomUUID(), age],
    )
    await pool.query(
      `insert into sign_up (token_hmac, secret_key_id, side, tenant_name, name, email, password_hash, expires_at)
       values (decode(md5($1::text), 'hex'), '', 'company', 'V', 'O', 'o@x.de', 'x', now() - $1::text::interval)`,
      [age],
    )
    await pool.query(
      `insert into sign_in_attempt (key, attempted_at, forget_at) values (decode(md5($1::text), 'hex'), '{}', now() - $1::text::interval)`,
      [age],
    )
    await pool.query(
      `insert into used_totp (user_id, code_hmac, used_at) values ($1, decode(md5($2::text), 'hex'), now() - $2::text::interval)`,
      [userId, age],
    )
    const { id } = await addMember(pool, operator, { email: `${randomUUID()}@x.de`, name: 'O', role: 'admin' })
    await pool.query(
      `insert into invitation (member_id, token_hmac, secret_key_id, expires_at)
       values ($1, decode(md5($2::text), 'hex'), '', now() - $2::text::interval)`,
      [id, age],
    )
    await pool.query(
      `insert into mail (recipient, subject, text_body, created_at) values ('o@x.de', 's', 't', now() - $1::interval)`,
      [age],
    )
  }

  await deleteOldSignIns(pool)
  await deleteOldMails(pool)

  for (const table of [
    'portal_session',
    'portal_verification',
    'sign_up',
    'sign_in_attempt',
    'used_totp',
    'invitation',
    'mail',
  ]) {
    assert.equal((await pool.query(`select from ${table}`)).rows.length, 1, table)
  }
  assert.equal((await pool.query('select from portal_user')).rows.length, 1)
})
