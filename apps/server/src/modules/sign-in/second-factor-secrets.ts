import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto'
import type { Pool } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { authSecretsOf, secretVersion } from './auth-secrets.ts'

type Row = { id: string; secret: string; backup_codes: string }

/** Rows that one slice seals anew: a moment's work. */
const rowsAtOnce = 100

/**
 * Seals second factors that are under another secret key with the current one, a slice at a time and in order of id. Returns the last id that it
 * looked at, or null at the end. A row that a person changes at the same moment is left as they made it: the next time finds it.
 */
export async function resealSecondFactors(
  pool: Pool,
  secretKey: SecretKey,
  afterId: string,
): Promise<{ lastId: string; sealed: number } | null> {
  const { rows } = await pool.query<Row>(
    `select id, secret, backup_codes
       from portal_two_factor
      where id > $1 and ${isOutdated('$2')}
      order by id
      limit $3`,
    [afterId, `${prefixOf(secretKey)}%`, rowsAtOnce],
  )
  const key = secretConfigOf(secretKey)
  const anew = async (sealed: string) => symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data: sealed }) })
  let sealed = 0
  for (const { id, secret, backup_codes } of rows) {
    const { rowCount } = await pool.query(
      `update portal_two_factor
          set secret = $4, backup_codes = $5
        where id = $1 and secret = $2 and backup_codes = $3`,
      [id, secret, backup_codes, await anew(secret), await anew(backup_codes)],
    )
    sealed += rowCount ?? 0
  }
  const last = rows.at(-1)
  return last ? { lastId: last.id, sealed } : null
}

/** How many second factors are sealed with another secret key than the current one. */
export async function countOutdatedSecondFactors(db: Queryable, secretKey: SecretKey): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from portal_two_factor where ${isOutdated('$1')}`,
    [`${prefixOf(secretKey)}%`],
  )
  return rows[0]?.count ?? 0
}

/** An empty list of recovery codes, as better-auth stores one. */
export async function sealNoCodes(secretKey: SecretKey): Promise<string> {
  return await symmetricEncrypt({ key: secretConfigOf(secretKey), data: '[]' })
}

const isOutdated = (prefix: string) => `(secret not like ${prefix} or backup_codes not like ${prefix})`

/** What better-auth writes before everything that it seals with the current key. */
function prefixOf({ id }: SecretKey): string {
  return `$ba$${secretVersion(id)}$`
}

function secretConfigOf(secretKey: SecretKey) {
  const { secret, secrets } = authSecretsOf(secretKey)
  return {
    keys: new Map(secrets.map(({ version, value }) => [version, value])),
    currentVersion: secretVersion(secretKey.id),
    legacySecret: secret,
  }
}
