import { randomUUID } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import { type DerivedKeys, isSameHash, type SecretKey } from './secret.ts'

/** The database's secrets are made with a key that the file does not have. The message is one line for the person who starts the server. */
export class WrongSecretKey extends Error {}

/**
 * Makes that key current which the database says, of those that the file has. Refuses to go on without it: every key pair and agent key
 * would look wrong, and new ones would be lost when the right key comes back. Remembers the key of the first start. Throws WrongSecretKey.
 */
export async function requireInstallation(pool: Queryable, secretKey: SecretKey): Promise<{ installationId: string }> {
  const { rows: before } = await pool.query<InstallationRow>(readInstallation)
  if (!before[0]) {
    await pool.query('insert into installation (id, secret_key_check) values ($1, $2) on conflict do nothing', [
      randomUUID(),
      secretKey.check,
    ])
  }
  // Read again after an insert: of two first starts at once only one has written.
  const installation = before[0] ?? (await pool.query<InstallationRow>(readInstallation)).rows[0]
  if (!installation) throw new Error('the installation row is missing')
  if (!secretKey.adopt(secretKey.all(), installation.secret_key_check)) throw wrongKey()
  return { installationId: installation.id }
}

/** The refusal of a file that does not have the key in use. */
export function wrongKey(): WrongSecretKey {
  return new WrongSecretKey(
    'The secret key is not the one that this database uses. Restore the right key file, or connect to the right database.',
  )
}

/** The current key as the database says it in this transaction, which no later rotation has changed yet. */
export async function currentKeyOf(db: Queryable, secretKey: SecretKey): Promise<DerivedKeys> {
  const { rows } = await db.query<InstallationRow>(readInstallation)
  const check = rows[0]?.secret_key_check ?? secretKey.check
  const key = secretKey.all().find((each) => isSameHash(each.check, check))
  if (!key) throw wrongKey()
  return key
}

type InstallationRow = { id: string; secret_key_check: Buffer }

const readInstallation = 'select id, secret_key_check from installation'
