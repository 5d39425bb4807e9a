import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { requireInstallation } from '../credentials/installation.ts'
import { sealText, unsealText } from '../credentials/sealed-text.ts'
import { createSecretKey, type SecretKey } from '../credentials/secret.ts'
import { sealNoCodes } from '../sign-in/second-factor-secrets.ts'
import { keyedColumns, listRemaining, resealAll } from './stored.ts'

/** Columns that may look as if they were made with the secret key, and were not. A new one gets its line here or in `keyedColumns`. */
const notKeyed: Readonly<Record<string, string>> = {
  'agent_release.file': 'signed by the publisher, on a computer without the service',
  'attribution_script.key': 'a public name, which stands in pages of websites',
  'company.name_key': 'the name in the form in which names are compared',
  'company_domain.token': 'public: it stands in a DNS record or a file of the website',
  'company_former_name.name_key': 'a name in the form in which names are compared',
  'company_profile.logo': 'an image',
  'installation.secret_key_check': 'names the current key; a rotation replaces it',
  'portal_account.access_token': 'of other providers: never written',
  'portal_account.id_token': 'of other providers: never written',
  'portal_account.password': 'scrypt with a salt',
  'portal_account.refresh_token': 'of other providers: never written',
  'portal_passkey.credential_id': 'public, from the authenticator',
  'portal_passkey.public_key': 'public, from the authenticator',
  'portal_session.token': 'random; its cookie is signed, which a rotation waits for',
  'portal_verification.identifier': 'random, or SHA-256',
  'portal_verification.value': 'the id of a person, with an e-mail address of theirs, or a challenge',
  'practice_head.head': 'SHA-256',
  'practice_seal.head': 'SHA-256',
  'packed_body.sha256': 'SHA-256',
  'packed_body.unpacked_sha256': 'SHA-256',
  'packed_body.records_sha256': 'SHA-256',
  'record.source_hash': 'SHA-256',
  'removal.list_hash': 'SHA-256',
  'seal.act_marks': 'SHA-256',
  'seal.acts_sha256': 'SHA-256',
  'seal.disclosure_marks': 'SHA-256',
  'seal.disclosures_sha256': 'SHA-256',
  'seal.practices_sha256': 'SHA-256',
  'seal.previous': 'SHA-256',
  'seal_key_change.last_seal_sha256': 'SHA-256',
  'seal_key_change.next_key': 'the public half',
  'seal_key_change.previous_key': 'the public half',
  'segment.data': 'documents of records, compressed',
  'sign_up.password_hash': 'scrypt with a salt',
  'signing_key.public_jwk': 'the public half',
  'upload.body_hash': 'SHA-256',
  'webhook_delivery.row_hash': 'SHA-256',
}

/** What a hash, a sealed text or a signature is stored in: bytes of any name, and texts that are called so. */
const mayBeKeyed = (column: string, type: string) =>
  type === 'bytea' ||
  (/^(text|jsonb?|character varying)$/.test(type) &&
    /hmac|hash|secret|token|password|private|public|signature|^signed|_signed|sealed|codes|cookie|credential|crypt|wrapped|identifier|^value$|(^|_)j?w?k(ey)?$/.test(
      column,
    ) &&
    !/(^|_)key_id$/.test(column))

test('F27: every column that was made with the secret key has its place in a rotation', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { rows } = await pool.query<{ table: string; column: string; type: string }>(
    `select table_name as "table", column_name as "column", data_type as type
       from information_schema.columns
      where table_schema = any(current_schemas(false))
      order by table_name, ordinal_position`,
  )
  const suspects = rows
    .filter(({ column, type }) => mayBeKeyed(column, type))
    .map(({ table, column }) => `${table}.${column}`)
  const known = [...Object.keys(keyedColumns), ...Object.keys(notKeyed)]
  assert.deepEqual(suspects.toSorted(), known.toSorted())

  // A hash is counted by the key that it was made with.
  const named = rows.filter(({ column }) => column === 'secret_key_id').map(({ table }) => table)
  const hashes = Object.entries(keyedColumns).filter(([, { kind }]) => kind === 'renewed' || kind === 'expires')
  assert.deepEqual(named, hashes.map(([column]) => column.split('.')[0]).toSorted())
})

test('F27: what was made with another key and can still be used needs that key, and nothing else does', async (t) => {
  const { pool } = await createTestDatabase(t)
  const [older, earlier, secretKey] = [createKey(), createKey(), createKey()]
  await requireInstallation(pool, secretKey)
  await pool.query(practiceAndPerson)
  const remaining = async () => {
    const found = await listRemaining(pool, secretKey)
    for (const { what, ends } of found) assert.notEqual(ends, '', what)
    return Object.fromEntries(found.map(({ what, rows }) => [what, rows]))
  }

  for (const made of [secretKey.id, earlier.id, older.id]) await pool.query(hashes(made, 'ended'))
  await pool.query(hashes(secretKey.id, 'live'))
  for (const [text, values] of await sealedWith(secretKey, 1)) await pool.query(text, values)
  assert.deepEqual(await remaining(), {})
  for (const made of [earlier.id, older.id]) await pool.query(hashes(made, 'live'))
  // A code that was used has ended.
  await pool.query('update enrolment_code set used_at = now() where secret_key_id = $1', [older.id])
  const ofHashes = { agents: 2, 'key pairs of vendors': 2, 'enrolment codes': 1, invitations: 2, 'sign-ups': 2 }
  assert.deepEqual(await remaining(), ofHashes)

  // No key is named beside what is signed: what began before every server signed with the current one is counted.
  await pool.query('update installation set secret_key_settled_at = now()')
  for (const [minutes, state] of [
    [0, 'live'],
    [1, 'live'],
    [-1, 'ended'],
  ] as const)
    await pool.query(signed(minutes, state))
  assert.deepEqual(await remaining(), ofHashes)
  await pool.query(signed(-1, 'live'))
  const ofSigned = { 'sessions of the portal': 1, 'sign-ins and password resets under way': 1 }
  assert.deepEqual(await remaining(), { ...ofHashes, ...ofSigned })
  await pool.query('update installation set secret_key_settled_at = null')
  const ofAllSigned = { 'sessions of the portal': 3, 'sign-ins and password resets under way': 3 }
  assert.deepEqual(await remaining(), { ...ofHashes, ...ofAllSigned })
})

test('F27: whatever is sealed with another key is sealed anew, in as many slices as it takes, and then needs no other key', async (t) => {
  const { pool } = await createTestDatabase(t)
  const keys = [randomBytes(32), randomBytes(32)]
  const [earlier, secretKey] = [createSecretKey(...keys.slice(0, 1)), createSecretKey(...keys)]
  await requireInstallation(pool, secretKey)
  const { signal } = new AbortController()
  const shown: [number, number][] = []
  const sealAgain = () => resealAll(pool, secretKey, { signal, show: (...progress) => void shown.push(progress) })
  const remaining = async () => (await listRemaining(pool, secretKey)).map(({ what, rows, ends }) => [what, rows, ends])
  for (const [text, values] of await sealedWith(earlier, 101)) await pool.query(text, values)
  const again = 'repeat "secret-key rotate"'
  assert.deepEqual(await remaining(), [
    ['signing keys of tokens', 101, again],
    ['second factors', 101, again],
    ['client secrets at identity providers', 101, again],
    ['secrets of webhooks', 202, again],
  ])

  await sealAgain()

  assert.deepEqual(await remaining(), [])
  assert.deepEqual(
    [shown[0], shown.at(-1)],
    [
      [100, 101],
      [101, 101],
    ],
  )
  const { rows } = await pool.query('select client_secret from identity_provider')
  const alone = createSecretKey(...keys.slice(1))
  for (const { client_secret } of rows) assert.equal(await unsealText(alone, client_secret), 'secret')
  await pool.query('update portal_two_factor set backup_codes = $1', [await sealNoCodes(earlier)])
  await resealAll(pool, secretKey, { signal: AbortSignal.abort(), show: () => {} })
  assert.deepEqual(await remaining(), [['second factors', 101, again]])
  await sealAgain()
  assert.deepEqual(await remaining(), [])
})

const practiceAndPerson = `
  insert into organization (id, name) values (1, 'Practice');
  insert into portal_user (id, name, email) values ('00000000-0000-0000-0000-000000000001', 'Person', 'p@example.com')`

type State = 'live' | 'ended'

function createKey(): SecretKey {
  return createSecretKey(randomBytes(32))
}

/** A row in each table of hashes, made with the key of this name. */
function hashes(keyId: string, state: State): string {
  const bytes = randomBytes(32).toString('hex')
  const [hash, number] = [`'\\x${bytes}'`, Number.parseInt(bytes.slice(0, 8), 16) + 1]
  const [made, revoked] = [`'${keyId}'`, state === 'live' ? 'null' : 'now()']
  const expires = expiryOf(state)
  return `
    insert into agent (id, organization_id, name, key_hmac, revoked_at, secret_key_id)
    values (${number}, 1, 'Office', ${hash}, ${revoked}, ${made});
    with vendor as (insert into company (id, name, name_key) values (gen_random_uuid(), 'Vendor ${number}', 'vendor ${number}') returning id)
    insert into key_pair (id, company_id, client_id, secret_hmac, revoked_at, secret_key_id)
    select gen_random_uuid(), id, 'bwc_${number}', ${hash}, ${revoked}, ${made} from vendor;
    insert into enrolment_code (code_hmac, organization_id, expires_at, secret_key_id)
    values (${hash}, 1, ${expires}, ${made});
    with invited as (
      insert into membership (id, side, organization_id, email, name, role)
      values (gen_random_uuid(), 'organization', 1, '${number}@example.com', 'Guest', 'member') returning id)
    insert into invitation (member_id, token_hmac, expires_at, secret_key_id)
    select id, ${hash}, ${expires}, ${made} from invited;
    insert into sign_up (token_hmac, side, tenant_name, name, email, password_hash, expires_at, secret_key_id)
    values (${hash}, 'company', 'Vendor', 'Person', '${number}@example.com', '', ${expires}, ${made})`
}

/** A session, a sign-in under way, and two links that change an address, which began so long after all servers signed with the current key. */
function signed(minutes: number, state: State): string {
  const began = `secret_key_settled_at + interval '${minutes} minutes'`
  return `
    insert into portal_session (id, user_id, token, expires_at, created_at)
    select gen_random_uuid(), '00000000-0000-0000-0000-000000000001', gen_random_uuid(), ${expiryOf(state)}, ${began} from installation;
    insert into portal_verification (id, identifier, value, expires_at, created_at)
    select gen_random_uuid(), identifier, 'x', ${expiryOf(state)}, ${began}
      from installation, unnest(array['2fa-x', 'email-change-link x', 'email-undo-link x']) identifier`
}

function expiryOf(state: State): string {
  return `now() ${state === 'live' ? '+' : '-'} interval '1 minute'`
}

/** Statements that insert so many of each thing that is sealed, with their values. */
async function sealedWith(key: SecretKey, count: number): Promise<[string, unknown[]][]> {
  const [text, noCodes] = [await sealText(key, 'secret'), await sealNoCodes(key)]
  return [
    [
      `insert into signing_key (kid, public_jwk, private_jwk) select $1 || n, '{}', to_jsonb($2::text) from generate_series(1, $3::integer) n`,
      [key.id, text, count],
    ],
    [
      `insert into identity_provider (id, tenant_id, sign_in_name, name, issuer, client_id, client_secret, counts_as_second_factor, is_required)
       select gen_random_uuid(), n, n, 'Provider', 'https://issuer.example', 'client', $1, false, false from generate_series(1, $2::integer) n`,
      [text, count],
    ],
    [
      `with vendor as (insert into company (id, name, name_key) values (gen_random_uuid(), 'Webhooks', $1) returning id)
       insert into webhook_endpoint (id, company_id, url, types, secret, previous_secret, previous_until)
       select gen_random_uuid(), vendor.id, n, '{key}', $1, $1, now() from vendor, generate_series(1, $2::integer) n`,
      [text, count],
    ],
    [
      `with people as (
         insert into portal_user (id, name, email)
         select gen_random_uuid(), 'Person', n || '@two-factor.example' from generate_series(1, $2::integer) n returning id)
       insert into portal_two_factor (id, user_id, secret, backup_codes) select gen_random_uuid(), id, $1, $1 from people`,
      [noCodes, count],
    ],
  ]
}
