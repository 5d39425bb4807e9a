import { createPublicKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { isSealedAnew, sealText, unsealText } from './sealed-text.ts'
import type { SecretKey } from './secret.ts'

/**
 * States of a signing key: active (signs and verifies) → retired by a rotation (verifies until its tokens have expired) → forgotten;
 * from either, withdrawn by the operator (verifies nothing from then on).
 */
type SigningKeyState = 'active' | 'retired' | 'withdrawn'

export type SigningKey = { kid: string; state: SigningKeyState; createdAt: Date; retiredAt: Date | null }

/** Makes the first signing key when there is none. The table's lock lets two first starts end with one key. */
export async function ensureSigningKey(pool: Pool, secretKey: SecretKey): Promise<void> {
  const { rows } = await pool.query("select from signing_key where state = 'active' limit 1")
  if (rows.length > 0) return
  await withTransaction(pool, async (client) => {
    await lockSigningKeys(client)
    const { rows: active } = await client.query("select from signing_key where state = 'active' limit 1")
    if (active.length === 0) await insertSigningKey(client, secretKey)
  })
}

/**
 * Makes a new key; the ones before it verify until their last token has expired. `alongside` happens in the same transaction. Returns the new
 * key's id.
 */
export async function rotateSigningKey(
  pool: Pool,
  secretKey: SecretKey,
  alongside?: (client: Queryable, kid: string) => Promise<void>,
): Promise<string> {
  return await withTransaction(pool, async (client) => {
    await lockSigningKeys(client)
    await client.query(
      `with moment as (select clock_timestamp() as at)
       update signing_key set state = 'retired', retired_at = moment.at, private_jwk = null
         from moment
        where state = 'active'`,
    )
    const kid = await insertSigningKey(client, secretKey)
    await alongside?.(client, kid)
    return kid
  })
}

/**
 * Ends every token that a key has signed, within a second on every process. When it was the active key, a new one takes its place in
 * the same transaction, in which `alongside` happens too, so that tokens can be issued on. Throws a Problem when there is no such key.
 */
export async function withdrawSigningKey(
  pool: Pool,
  secretKey: SecretKey,
  kid: string,
  alongside?: (client: Queryable) => Promise<void>,
): Promise<void> {
  await withTransaction(pool, async (client) => {
    await lockSigningKeys(client)
    const { rowCount } = await client.query(
      "update signing_key set state = 'withdrawn', private_jwk = null where kid = $1 and state <> 'withdrawn'",
      [kid],
    )
    if (rowCount === 0)
      throw new Problem('signing_key_unknown', {
        errors: `There is no signing key ${kid}, or it was already withdrawn.`,
      })
    const { rows: active } = await client.query("select from signing_key where state = 'active' limit 1")
    if (active.length === 0) await insertSigningKey(client, secretKey)
    await alongside?.(client)
  })
}

/** Every signing key that there ever was, the newest first. */
export async function listSigningKeys(pool: Queryable): Promise<SigningKey[]> {
  const { rows } = await pool.query<RowOf<SigningKey>>(
    'select kid, state, created_at, retired_at from signing_key order by created_at desc, kid',
  )
  return rows.map(fromRow<SigningKey>)
}

/** Seals every private half with the current secret key that is not yet. Returns how many it sealed. Safe to repeat. */
export async function resealSigningKeys(pool: Pool, secretKey: SecretKey): Promise<number> {
  return await withTransaction(pool, async (client) => {
    await lockSigningKeys(client)
    const outdated = await listOutdated(client, secretKey)
    for (const { kid, private_jwk } of outdated) {
      const sealed = await sealText(secretKey, await unsealText(secretKey, private_jwk))
      await client.query('update signing_key set private_jwk = to_jsonb($2::text) where kid = $1', [kid, sealed])
    }
    return outdated.length
  })
}

/** How many private halves are sealed with another secret key than the current one. */
export async function countOutdatedSigningKeys(db: Queryable, secretKey: SecretKey): Promise<number> {
  return (await listOutdated(db, secretKey)).length
}

async function listOutdated(db: Queryable, secretKey: SecretKey): Promise<{ kid: string; private_jwk: string }[]> {
  const { rows } = await db.query<{ kid: string; private_jwk: string }>(
    'select kid, private_jwk from signing_key where private_jwk is not null',
  )
  return rows.filter(({ private_jwk }) => !isSealedAnew(secretKey, private_jwk))
}

/** A key as a process that issues and verifies tokens needs it. */
export type LoadedSigningKey = {
  kid: string
  isActive: boolean
  ageMs: number
  publicJwk: JWK
  publicKey: KeyObject
  /** Null on a key that signs no more. */
  privateKey: CryptoKey | null
}

/**
 * The keys that sign or verify now, the newest first. `known` spares the import of those that were loaded before. The age is the
 * database's, so that processes whose clocks differ agree on which key signs. A retired key stays for its tokens' six hours and 5 min.
 */
export async function loadSigningKeys(
  pool: Queryable,
  secretKey: SecretKey,
  known: ReadonlyMap<string, LoadedSigningKey>,
): Promise<LoadedSigningKey[]> {
  const { rows } = await pool.query<LoadedRow>(
    `select kid, public_jwk, private_jwk, state = 'active' as is_active,
            extract(epoch from clock_timestamp() - created_at)::float8 * 1000 as age_ms
       from signing_key
      where state = 'active' or (state = 'retired' and retired_at > clock_timestamp() - interval '6 hours 5 minutes')
      order by created_at desc, kid`,
  )
  return await Promise.all(
    rows.map(async (row) => {
      const before = known.get(row.kid)
      return {
        kid: row.kid,
        isActive: row.is_active,
        ageMs: row.age_ms,
        publicJwk: row.public_jwk,
        publicKey: before?.publicKey ?? createPublicKey({ key: row.public_jwk, format: 'jwk' }),
        privateKey: before?.privateKey ?? (row.private_jwk === null ? null : await unseal(row.private_jwk, secretKey)),
      }
    }),
  )
}

type LoadedRow = { kid: string; public_jwk: JWK; private_jwk: string | null; is_active: boolean; age_ms: number }

async function lockSigningKeys(client: Queryable): Promise<void> {
  await client.query('lock table signing_key in share row exclusive mode')
}

async function insertSigningKey(client: Queryable, secretKey: SecretKey): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const publicJwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  const sealed = await sealText(secretKey, JSON.stringify(await exportJWK(privateKey)))
  await client.query(
    `insert into signing_key (kid, public_jwk, private_jwk, state, created_at)
     values ($1, $2, to_jsonb($3::text), 'active', clock_timestamp())`,
    [kid, JSON.stringify({ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' }), sealed],
  )
  return kid
}

async function unseal(sealed: string, secretKey: SecretKey): Promise<CryptoKey> {
  const key = await importJWK(JSON.parse(await unsealText(secretKey, sealed)), 'EdDSA')
  if (!(key instanceof CryptoKey)) throw new Error('a signing key is not an Ed25519 key')
  return key
}
