import { hostname } from 'node:os'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { SecretKey } from '../credentials/secret.ts'

/** A running server, and which secret keys it has. */
export type Reader = { processId: string; name: string; keyIds: string[]; currentKeyId: string; seenAt: Date }

/**
 * Notes which keys this process has, and answers the check of the key that is current now. `isNew`: its keys have changed; then of a rotation
 * that takes place at the same moment, either this sees the new key or the rotation sees this process.
 */
export async function noteReader(
  db: Queryable,
  processId: string,
  secretKey: SecretKey,
  isNew: boolean,
): Promise<Buffer> {
  const { rows } = await db.query<{ secret_key_check: Buffer }>(
    `with noted as (
       insert into secret_key_reader (process_id, name, key_ids, current_key_id, seen_at)
       values ($1, $2, $3, $4, clock_timestamp())
       on conflict (process_id) do update
         set key_ids = excluded.key_ids, current_key_id = excluded.current_key_id, seen_at = excluded.seen_at
     )
     select secret_key_check from installation ${isNew ? 'for share' : ''}`,
    [processId, `${hostname()}, process ${process.pid}`, secretKey.all().map(({ id }) => id), secretKey.id],
  )
  if (!rows[0]) throw new Error('the installation row is missing')
  return rows[0].secret_key_check
}

/** Every process that has noted itself and did not end in order. */
export async function listReaders(db: Queryable): Promise<Reader[]> {
  const { rows } = await db.query<RowOf<Reader>>(
    'select process_id, name, key_ids, current_key_id, seen_at from secret_key_reader order by name, process_id',
  )
  return rows.map(fromRow<Reader>)
}

/** Forgets a process: it has ended, or was not seen since this moment. */
export async function forgetReader(db: Queryable, processId: string, seenAt: Date | null = null): Promise<void> {
  await db.query(
    `delete from secret_key_reader
      where process_id = $1 and date_trunc('milliseconds', seen_at) <= coalesce($2, 'infinity'::timestamptz)`,
    [processId, seenAt],
  )
}
