import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, KeyPairId } from '../../platform/identity/identity.ts'
import { agreementAccepted } from './agreement.ts'
import { isSameHash, type SecretKey } from './secret.ts'

export type KeyPairVerdict =
  | Bearer
  | { refused: 'unknown' }
  /** `named`: whose pair the client id is; the caller may be anyone. */
  | { refused: 'wrong secret' | 'revoked' | 'company' | 'agreement'; named: Bearer }

type Bearer = { companyId: CompanyId; keyPairId: KeyPairId }

/**
 * Whose pair this is. The same work whatever is wrong: one statement, one hash and one comparison for each secret key, so that neither the answer nor its time
 * tells a stranger which half was right. The reason is for our log.
 */
export async function verifyKeyPair(
  pool: Queryable,
  secretKey: SecretKey,
  clientId: string,
  clientSecret: string,
): Promise<KeyPairVerdict> {
  const givenHmacs = secretKey.hmacs(clientSecret)
  const { rows } = await pool.query<VerifyRow>({
    name: 'verify-key-pair',
    text: `select k.id, k.company_id, k.secret_hmac, k.revoked_at is not null as is_revoked,
                  coalesce(c.state = 'active', false) as is_active, ${agreementAccepted('c.id')} as has_agreement
             from (values ($1::text)) asked (client_id)
             left join key_pair k on k.client_id = asked.client_id
             left join company c on c.id = k.company_id`,
    // PostgreSQL's text holds no NUL: an id with one is unknown like the empty one, and not an error of the database.
    values: [clientId.includes('\0') ? '' : clientId],
  })
  const row = rows[0]
  if (!row) throw new Error('the key pair statement returned no row')
  const storedHmac = row.secret_hmac ?? noHmac
  const isRightSecret = givenHmacs.filter((given) => isSameHash(given, storedHmac)).length > 0
  if (row.id === null || row.company_id === null) return { refused: 'unknown' }
  const named = { companyId: row.company_id, keyPairId: row.id }
  if (!isRightSecret) return { refused: 'wrong secret', named }
  if (row.is_revoked) return { refused: 'revoked', named }
  if (!row.is_active) return { refused: 'company', named }
  if (!row.has_agreement) return { refused: 'agreement', named }
  if (secretKey.isOutdated(clientSecret, storedHmac)) await storeAnew(pool, secretKey, row.id, clientSecret)
  return named
}

/** During a rotation of the secret key: the hash cannot be made anew from the old one, only when its secret is seen. */
async function storeAnew(db: Queryable, secretKey: SecretKey, id: KeyPairId, clientSecret: string): Promise<void> {
  await db.query('update key_pair set secret_hmac = $2, secret_key_id = $3 where id = $1', [
    id,
    secretKey.hmac(clientSecret),
    secretKey.id,
  ])
}

/** Compared when there is no pair; no secret is known whose hash it is. */
const noHmac = Buffer.alloc(32)

type VerifyRow = {
  id: KeyPairId | null
  company_id: CompanyId | null
  secret_hmac: Buffer | null
  is_revoked: boolean
  is_active: boolean
  has_agreement: boolean
}
