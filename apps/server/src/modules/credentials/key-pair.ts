import type { Pool, PoolClient } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type KeyPairId, type MemberId, newUuid } from '../../platform/identity/identity.ts'
import { lockCompany } from '../directory/company.ts'
import { requireMember } from '../membership/member.ts'
import { companiesInForce } from './agreement.ts'
import { newSecret, type SecretKey } from './secret.ts'

/**
 * States of a key pair: live → revoked, for ever (by regeneration, or by itself). A company has at most one live pair; it may have none.
 */
export type KeyPair = {
  id: KeyPairId
  clientId: string
  createdAt: Date
  createdBy: MemberId | null
  state: { state: 'live' } | { state: 'revoked'; revokedAt: Date; revokedBy: MemberId | null }
}

/** A new pair with its secret, which exists nowhere else: shown once, it cannot be had again. */
export type NewKeyPair = { keyPairId: KeyPairId; clientId: string; clientSecret: string }

/**
 * Makes a company's key pair. Only its owner or an admin may, and only after the owner accepted the agreement (spec: Authentication 1).
 * `alongside` happens in the same transaction. Throws a Problem, also when there is a live pair: that one is replaced by
 * `regenerateKeyPair`, which says what it does.
 */
export async function generateKeyPair(
  pool: Pool,
  secretKey: SecretKey,
  by: { companyId: CompanyId; memberId: MemberId },
  alongside?: (client: Queryable, pair: NewKeyPair) => Promise<void>,
): Promise<NewKeyPair> {
  return await withTransaction(pool, async (client) => {
    await requireMayManageKeys(client, by)
    const { rows } = await client.query('select from key_pair where company_id = $1 and revoked_at is null', [
      by.companyId,
    ])
    if (rows.length > 0) {
      throw new Problem('key_pair_exists')
    }
    const pair = await insertKeyPair(client, secretKey, by)
    await alongside?.(client, pair)
    return pair
  })
}

/**
 * Replaces the live pair, if any: the old one and every token issued from it are dead with the commit that makes the new one live. Of
 * several at once that name the pair which they replace the first one's is the live one and the others are refused; of those that name none
 * each gets a pair and the last one's is the live one. `alongside` happens in the same transaction. Throws a Problem like `generateKeyPair`.
 */
export async function regenerateKeyPair(
  pool: Pool,
  secretKey: SecretKey,
  by: { companyId: CompanyId; memberId: MemberId; replacing?: string },
  alongside?: (client: Queryable, pair: NewKeyPair) => Promise<void>,
): Promise<NewKeyPair> {
  return await withTransaction(pool, async (client) => {
    await requireMayManageKeys(client, by)
    if (by.replacing !== undefined) await requireLiveKeyPair(client, by.companyId, by.replacing)
    await revokeKeyPair(client, by)
    const pair = await insertKeyPair(client, secretKey, by)
    await alongside?.(client, pair)
    return pair
  })
}

/** Holds the company's pair of this client id. Throws a Problem when it has no such pair, or not any more: another one may live by now. */
export async function requireLiveKeyPair(client: Queryable, companyId: CompanyId, clientId: string): Promise<void> {
  const { rows } = await client.query<{ revoked_at: Date | null }>(
    'select revoked_at from key_pair where company_id = $1 and client_id = $2 for update',
    [companyId, clientId.includes('\0') ? '' : clientId],
  )
  if (!rows[0]) throw new Problem('key_pair_unknown')
  if (rows[0].revoked_at) {
    throw new Problem('key_pair_not_live')
  }
}

/** Ends the live pair and every token issued from it; the operator (`memberId` null) may too. Returns false when none was live. */
export async function revokeKeyPair(
  db: Queryable,
  by: { companyId: CompanyId; memberId: MemberId | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with moment as (select clock_timestamp() as at)
     update key_pair set revoked_at = moment.at, revoked_by = $2
       from moment
      where company_id = $1 and revoked_at is null`,
    [by.companyId, by.memberId],
  )
  return rowCount === 1
}

/** The client ids of these key pairs, by id. */
export async function clientIdsOf(db: Queryable, ids: readonly KeyPairId[]): Promise<Map<KeyPairId, string>> {
  const { rows } = await db.query<{ id: KeyPairId; client_id: string }>(
    'select id, client_id from key_pair where id = any($1::uuid[])',
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row.client_id]))
}

/** A company's live pair and then its last ones, at most 200, without secrets. */
export async function listKeyPairs(db: Queryable, companyId: CompanyId): Promise<KeyPair[]> {
  const { rows } = await db.query<KeyPairRow>(
    `select id, client_id, created_at, created_by, revoked_at, revoked_by
       from key_pair
      where company_id = $1
      order by revoked_at is not null, created_at desc, id
      limit 200`,
    [companyId],
  )
  return rows.map((row) => ({
    id: row.id,
    clientId: row.client_id,
    createdAt: row.created_at,
    createdBy: row.created_by,
    state: row.revoked_at
      ? { state: 'revoked', revokedAt: row.revoked_at, revokedBy: row.revoked_by }
      : { state: 'live' },
  }))
}

type KeyPairRow = {
  id: KeyPairId
  client_id: string
  created_at: Date
  created_by: MemberId | null
  revoked_at: Date | null
  revoked_by: MemberId | null
}

/** Of these companies those that have a live pair. */
export async function companiesWithKeyPair(db: Queryable, companyIds: readonly CompanyId[]): Promise<Set<CompanyId>> {
  const { rows } = await db.query<{ company_id: CompanyId }>(
    'select company_id from key_pair where company_id = any($1::uuid[]) and revoked_at is null',
    [companyIds],
  )
  return new Set(rows.map((row) => row.company_id))
}

/**
 * The lock on the company lets those who change its pair at the same time take turns. It comes before the member's, as one who changes the
 * members of a company takes them.
 */
async function requireMayManageKeys(
  client: PoolClient,
  by: { companyId: CompanyId; memberId: MemberId },
): Promise<void> {
  const { state } = await lockCompany(client, by.companyId)
  const member = await requireMember(client, { side: 'company', id: by.companyId }, by.memberId)
  if (member.role === 'member') {
    throw new Problem('role_denied', {
      errors: 'Only the owner or an admin of the company can change its key pair. Ask one of them.',
    })
  }
  if (state !== 'active') {
    throw new Problem('company_closed', { errors: `The company is ${state}, so it cannot get a key pair.` })
  }
  if (!(await companiesInForce(client, [by.companyId])).has(by.companyId)) {
    throw new Problem('agreement_not_accepted')
  }
}

async function insertKeyPair(
  client: PoolClient,
  secretKey: SecretKey,
  by: { companyId: CompanyId; memberId: MemberId },
): Promise<NewKeyPair> {
  const pair = { keyPairId: newUuid<KeyPairId>(), clientId: newSecret('bwc'), clientSecret: newSecret('bws') }
  await client.query(
    `insert into key_pair (id, company_id, client_id, secret_hmac, secret_key_id, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp())`,
    [pair.keyPairId, by.companyId, pair.clientId, secretKey.hmac(pair.clientSecret), secretKey.id, by.memberId],
  )
  return pair
}
