import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getSchema } from 'better-auth/db'
import type { Pool } from 'pg'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { createSecretKey } from '../credentials/secret.ts'
import { createAuth } from '../sign-in/auth.ts'
import { listMeans, means, rowsOfMeans } from './means.ts'

const secretKey = createSecretKey(Buffer.alloc(32, 1))
const ofMeans = Object.values(means)

/** Tables of people and of sign-in that sign nobody in. */
const others: Readonly<Record<string, string>> = {
  agreement_acceptance: 'who accepted for a company',
  audit_event: 'who did what',
  identity_provider: 'the settings of a company or a practice; a link makes an account’s means of it',
  invitation: 'a link to a membership, for a person who is signed in to the invited address or has no account',
  key_pair: 'the keys of a company’s programs; no person signs in with them',
  mail: 'on its way; the links in it are means themselves',
  membership: 'what a person may do, once they are signed in',
  notice: 'what a member should know',
  notice_setting: 'how a member is notified',
  portal_user: 'the account itself',
  session_use: 'which tenant a session was used for',
  sign_in_attempt: 'hashes of who tried',
  sign_in_rule: 'what a tenant asks of sign-ins',
  support_view: 'which tenant’s pages an operator’s session may read, while it lasts',
  sign_up: 'no account yet: its link makes one, for an address that has none',
  used_totp: 'codes that count no more',
}

test('W27: every table of people and of sign-in is in the list of means, or signs nobody in for a reason', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const known = [...ofMeans.map(({ table }) => table), ...Object.keys(others)]
  const found = await tablesOfPeople(pool)
  assert.deepEqual(
    found.filter((table) => !known.includes(table)),
    [],
  )
  assert.deepEqual(
    known.filter((table) => !found.includes(table)),
    [],
    'and no other',
  )
  await ownerPool.query('create table magic_link (secret text, of_person uuid references portal_user)')
  await ownerPool.query('create table device_secret (user_id uuid, secret text)')
  const planted = (await tablesOfPeople(pool)).filter((table) => !known.includes(table))
  assert.deepEqual(planted, ['device_secret', 'magic_link'], 'a new one is found')
})

test('W27: the sign-in library stores nothing of an account beside the list', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { options } = createAuth({ pool, secretKey, publicUrl: 'http://localhost' })
  const tables = Object.keys(getSchema(options))
  assert.deepEqual(tables.toSorted(), [
    'portal_account',
    'portal_passkey',
    'portal_session',
    'portal_two_factor',
    'portal_user',
    'portal_verification',
  ])
})

test('each means has a moment since when it counts, which is never missing', async (t) => {
  const { pool } = await createTestDatabase(t)
  for (const { table, addedAt } of ofMeans) {
    const { rows } = await pool.query<{ type: string; not_null: boolean }>(
      `select format_type(atttypid, atttypmod) as type, attnotnull as not_null
         from pg_attribute where attrelid = $1::regclass and attname = $2`,
      [table, addedAt],
    )
    assert.equal(rows[0]?.type, 'timestamp with time zone', `${table}.${addedAt}`)
    // Null says that there are no recovery codes.
    assert.equal(rows[0].not_null, addedAt !== 'codes_made_at', `${table}.${addedAt}`)
  }
})

test('the list, and the rows that erasing deletes, are of the account alone', async (t) => {
  const { pool } = await createTestDatabase(t)
  const add = async (name: string) => {
    const { rows } = await pool.query<{ id: string }>(
      `insert into portal_user (id, name, email) values (gen_random_uuid(), $1, $1 || '@example.com') returning id`,
      [name],
    )
    const id = rows[0]?.id ?? ''
    await pool.query(
      `insert into portal_passkey (id, user_id, name, public_key, credential_id, counter, device_type, backed_up)
       values (gen_random_uuid(), $1, $2, 'k', $2, 0, 'singleDevice', false)`,
      [id, name],
    )
    await pool.query(
      `insert into portal_verification (id, identifier, value, expires_at)
       values (gen_random_uuid(), 'email-undo-link x', $1 || ' o@x.de', now() + interval '1 day'),
              (gen_random_uuid(), 'passkey', jsonb_build_object('user', $1)::text, now() - interval '1 day')`,
      [id],
    )
    return id
  }
  const [ada] = [await add('Ada'), await add('Bob')]
  const held = await listMeans(pool, ada)
  assert.deepEqual(
    held.map((each) => `${each.means} ${each.name}`),
    ['passkey Ada', 'undo_link null'],
    'what has expired is no means',
  )
  const { portal_passkey: passkeys, portal_verification: links } = rowsOfMeans(`select '${ada}'::uuid`)
  const count = async (table: string, rows = 'false') =>
    (await pool.query(`select from ${table} where ${rows}`)).rows.length
  assert.deepEqual(
    [await count('portal_passkey', passkeys), await count('portal_verification', links)],
    [1, 2],
    'also what has expired',
  )
})

/** Those of better-auth, those that refer to an account or a membership, and those with a column of a person or of a sign-in. */
async function tablesOfPeople(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name
       from pg_class c
      where c.relnamespace::regnamespace::text = any(current_schemas(false)) and c.relkind in ('r', 'p')
        and (c.relname ~ '^(portal|identity|sign)_'
             or exists (select 1 from pg_constraint r
                         where r.conrelid = c.oid and r.confrelid in ('portal_user'::regclass, 'membership'::regclass))
             or exists (select 1 from pg_attribute a
                         where a.attrelid = c.oid
                           and a.attname in ('user_id', 'member_id', 'membership_id', 'session_id', 'recipient')))
        and c.relname <> 'signing_key'
      order by 1`,
  )
  return rows.map(({ name }) => name)
}
