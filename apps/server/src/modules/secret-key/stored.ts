import type { Pool } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { countOutdatedSigningKeys, resealSigningKeys } from '../credentials/signing-key.ts'
import { countOutdatedClientSecrets, resealClientSecrets } from '../identity-provider/store.ts'
import { countOutdatedSecondFactors, resealSecondFactors } from '../sign-in/second-factor-secrets.ts'
import { countOutdatedWebhookSecrets, resealWebhookSecrets } from '../webhooks/endpoint.ts'

/**
 * What becomes of a column that was made with the secret key, when the key is rotated.
 *
 * - sealed: opened and sealed again by the rotation
 * - renewed: a hash, which is stored anew when its secret is next used. `rows`: those that can still be used
 * - expires: a hash that ends by itself. `rows` as above
 * - short: read for minutes only, under every key; the rotation does not wait for it
 * - public: made with the key's public half, and valid for ever
 */
export type KeyedColumn =
  | { kind: 'sealed'; what: string }
  | { kind: 'renewed' | 'expires'; what: string; rows: string; ends: string }
  | { kind: 'short' | 'public'; because: string }

/** Every column that was made with the secret key. A test compares it with the schema. */
export const keyedColumns: Readonly<Record<string, KeyedColumn>> = {
  'signing_key.private_jwk': { kind: 'sealed', what: 'signing keys of tokens' },
  'portal_two_factor.secret': { kind: 'sealed', what: 'second factors' },
  'portal_two_factor.backup_codes': { kind: 'sealed', what: 'second factors' },
  'identity_provider.client_secret': { kind: 'sealed', what: 'client secrets at identity providers' },
  'webhook_endpoint.secret': { kind: 'sealed', what: 'secrets of webhooks' },
  'webhook_endpoint.previous_secret': { kind: 'sealed', what: 'secrets of webhooks' },
  'agent.key_hmac': {
    kind: 'renewed',
    what: 'agents',
    rows: 'revoked_at is null',
    ends: 'each at its next request; revoke those that run no more',
  },
  'key_pair.secret_hmac': {
    kind: 'renewed',
    what: 'key pairs of vendors',
    rows: 'revoked_at is null',
    ends: 'each when its vendor next gets a token; revoke those that are not used any more',
  },
  'enrolment_code.code_hmac': {
    kind: 'expires',
    what: 'enrolment codes',
    rows: 'used_at is null and expires_at > clock_timestamp()',
    ends: 'within a day',
  },
  'invitation.token_hmac': {
    kind: 'expires',
    what: 'invitations',
    rows: 'expires_at > clock_timestamp()',
    ends: 'within seven days; invite again to end them at once',
  },
  'sign_up.token_hmac': {
    kind: 'expires',
    what: 'sign-ups',
    rows: 'expires_at > clock_timestamp()',
    ends: 'within a day',
  },
  'used_totp.code_hmac': { kind: 'short', because: 'written and read under every key, and of use for two minutes' },
  'sign_in_attempt.key': { kind: 'short', because: 'counts of tries within an hour: they begin anew' },
  'seal.signature': { kind: 'public', because: 'checked with the public key of its time' },
  'disclosure_drop.signature': { kind: 'public', because: 'checked with the public key of its time' },
  'practice_seal.signature': { kind: 'public', because: 'checked with the public key of its time' },
  'seal_key_change.previous_signature': { kind: 'public', because: 'checked with the public key that it names' },
  'seal_key_change.next_signature': { kind: 'public', because: 'checked with the public key that it names' },
}

/** Something that still needs an earlier key, and when that ends. */
export type Remaining = { what: string; rows: number; ends: string }

/** What still needs a key other than the current one. Empty: every other key can be dropped. */
export async function listRemaining(db: Queryable, secretKey: SecretKey): Promise<Remaining[]> {
  const sealed = 'repeat "secret-key rotate"'
  const found: Remaining[] = [
    { what: 'signing keys of tokens', rows: await countOutdatedSigningKeys(db, secretKey), ends: sealed },
    { what: 'second factors', rows: await countOutdatedSecondFactors(db, secretKey), ends: sealed },
    {
      what: 'client secrets at identity providers',
      rows: await countOutdatedClientSecrets(db, secretKey),
      ends: sealed,
    },
    { what: 'secrets of webhooks', rows: await countOutdatedWebhookSecrets(db, secretKey), ends: sealed },
  ]
  for (const [column, keyed] of Object.entries(keyedColumns)) {
    if (keyed.kind !== 'renewed' && keyed.kind !== 'expires') continue
    const table = column.split('.')[0]
    const { rows } = await db.query<{ count: number }>(
      `select count(*)::integer as count from ${table} where secret_key_id <> $1 and ${keyed.rows}`,
      [secretKey.id],
    )
    found.push({ what: keyed.what, rows: rows[0]?.count ?? 0, ends: keyed.ends })
  }
  // A cookie, a page that is open and a sign-in under way are signed with the key of their beginning; links that change an address are not.
  const { rows } = await db.query<{ sessions: number; challenges: number }>(
    `select (select count(*)::integer from portal_session
              where expires_at > clock_timestamp() and (secret_key_settled_at is null or created_at < secret_key_settled_at)) as sessions,
            (select count(*)::integer from portal_verification
              where identifier not like 'email-%-link %' and expires_at > clock_timestamp() and (secret_key_settled_at is null or created_at < secret_key_settled_at)) as challenges
       from installation`,
  )
  found.push(
    { what: 'sessions of the portal', rows: rows[0]?.sessions ?? 0, ends: 'within 12 hours' },
    { what: 'sign-ins and password resets under way', rows: rows[0]?.challenges ?? 0, ends: 'within an hour' },
  )
  return found.filter((each) => each.rows > 0)
}

/** Seals everything anew that another key has sealed, in slices. Killed at any moment, it goes on when it is called again. */
export async function resealAll(
  pool: Pool,
  secretKey: SecretKey,
  { signal, show }: { signal: AbortSignal; show: (done: number, total: number) => void },
): Promise<void> {
  await resealSigningKeys(pool, secretKey)
  await resealClientSecrets(pool, secretKey)
  await resealWebhookSecrets(pool, secretKey)
  const total = await countOutdatedSecondFactors(pool, secretKey)
  let done = 0
  for (let after: string = firstUuid; !signal.aborted; ) {
    const slice = await resealSecondFactors(pool, secretKey, after)
    // Again from the beginning, for rows that people changed meanwhile, until a look from there finds nothing.
    if (slice === null && after === firstUuid) return
    after = slice?.lastId ?? firstUuid
    done += slice?.sealed ?? 0
    show(done, Math.max(done, total))
  }
}

/** Before every id. */
const firstUuid = '00000000-0000-0000-0000-000000000000'
