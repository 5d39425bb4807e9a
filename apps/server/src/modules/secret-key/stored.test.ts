import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { keyedColumns } from './stored.ts'

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
      where table_schema = 'public'
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
