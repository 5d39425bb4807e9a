import { randomUUID } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import { isSameHash, type SecretKey } from './secret.ts'

/** The database's secrets were made under another key. The message is one line for the person who starts the server. */
export class WrongSecretKey extends Error {}

/**
 * Refuses to go on with a secret key that is not the one which the stored hashes were made with: every key pair and agent key would
 * look wrong, and new ones would be lost when the right key comes back. Remembers the key of the first start. Throws WrongSecretKey.
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
  if (!isSameHash(installation.secret_key_check, secretKey.check)) {
    throw new WrongSecretKey(
      'The secret key is not the one that this database was set up with. Restore the right key, or connect to the right database.',
    )
  }
  return { installationId: installation.id }
}

type InstallationRow = { id: string; secret_key_check: Buffer }

const readInstallation = 'select id, secret_key_check from installation'
