import { createHash, randomUUID } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'

/**
 * Notes a sign-in that a browser has begun at an identity provider, so that it can be ended once, in any process. `state`: random, and of this sign-in
 * alone. Stored in better-auth's table as a hash.
 */
export async function noteSignInBegun(db: Queryable, state: string, lifetimeSeconds: number): Promise<void> {
  await db.query(
    `insert into portal_verification (id, identifier, value, created_at, expires_at)
     values ($1, $2, '', clock_timestamp(), clock_timestamp() + $3 * interval '1 second')`,
    [randomUUID(), identifierOf(state), lifetimeSeconds],
  )
}

/** Takes a sign-in that was begun. False when it was taken before, by a request at the same time too, or is too old. */
export async function takeSignInBegun(db: Queryable, state: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from portal_verification where identifier = $1 and expires_at > clock_timestamp()',
    [identifierOf(state)],
  )
  return rowCount === 1
}

function identifierOf(state: string): string {
  return `identity-sign-in ${createHash('sha256').update(state).digest('base64url')}`
}
