import type { Queryable } from '../../platform/database/queryable.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { sealNoCodes } from '../sign-in/second-factor-secrets.ts'

/** A means of signing in, as it is stored. */
type Means = {
  table: string
  /** Since when it counts. */
  addedAt: string
  /** The rows of the accounts whose ids a select finds. */
  of: (ids: string) => string
  /** Of those the rows that can be used, where not all can. */
  usable?: string
  /** What tells one from another; left out: nothing does, or there is only one. */
  name?: string
}

const ofAccount = (ids: string) => `user_id in (${ids})`
/** Every link and challenge names its account, as its whole value or in it. */
const inValue = (ids: string) =>
  `exists (select 1 from (${ids}) account (id) where strpos(value, account.id::text) > 0)`
const undoLink = `identifier like 'email-undo-link %'`
const notExpired = 'expires_at > now()'

/**
 * Every means of signing in: what undo of an e-mail change, a new password, a lost second factor and erasing go by, and what an operator sees.
 * A test compares the tables with the schema, so a new means fails it until it stands here.
 */
export const means = {
  password: { table: 'portal_account', addedAt: 'updated_at', of: ofAccount, usable: 'password is not null' },
  one_time_password: { table: 'portal_two_factor', addedAt: 'added_at', of: ofAccount, usable: 'verified' },
  recovery_codes: {
    table: 'portal_two_factor',
    addedAt: 'codes_made_at',
    of: ofAccount,
    usable: 'verified and codes_made_at is not null',
  },
  passkey: { table: 'portal_passkey', addedAt: 'created_at', of: ofAccount, name: 'name' },
  provider_identity: {
    table: 'identity_link',
    addedAt: 'linked_at',
    of: (ids) => `membership_id in (select m.id from membership m where m.user_id in (${ids}))`,
    name: '(select p.name from identity_provider p where p.id = provider_id)',
  },
  session: { table: 'portal_session', addedAt: 'created_at', of: ofAccount, usable: notExpired },
  /** For a new password or address, and what a sign-in that is under way has proved. */
  link: {
    table: 'portal_verification',
    addedAt: 'created_at',
    of: (ids) => `not ${undoLink} and ${inValue(ids)}`,
    usable: notExpired,
  },
  /** Restores an earlier address. A stranger must not be able to end it. */
  undo_link: {
    table: 'portal_verification',
    addedAt: 'created_at',
    of: (ids) => `${undoLink} and ${inValue(ids)}`,
    usable: notExpired,
  },
} as const satisfies Record<string, Means>

export type MeansName = keyof typeof means
const all = Object.entries(means) as [MeansName, Means][]

/** The rows of each table that hold means of the accounts whose ids a select finds, as conditions. */
export function rowsOfMeans(ids: string): Record<string, string> {
  const conditions = new Map<string, Set<string>>()
  for (const [, { table, of }] of all) conditions.set(table, (conditions.get(table) ?? new Set()).add(of(ids)))
  return Object.fromEntries(
    [...conditions].map(([table, each]) => [table, [...each].map((one) => `(${one})`).join(' or ')]),
  )
}

/** One that an account has. */
export type HeldMeans = { means: MeansName; name: string | null; addedAt: Date }

/** All that an account can be signed in with at this moment, in the order of the list, the latest first. */
export async function listMeans(db: Queryable, userId: string): Promise<HeldMeans[]> {
  const selects = all.map(
    ([name, { table, addedAt, of, usable = 'true', name: label = 'null' }], at) =>
      `select ${at} as at, '${name}' as means, ${label}::text as name, ${addedAt} as "addedAt"
         from ${table}
        where (${of('select $1::uuid')}) and ${usable}`,
  )
  const { rows } = await db.query<HeldMeans>(
    `select means, name, "addedAt" from (${selects.join(' union all ')}) held order by at, "addedAt" desc, name`,
    [userId],
  )
  return rows
}

/** Of each means: all are removed, none, or those that were added at this moment or later (a text keeps the microseconds). */
export type Removal = Readonly<Record<MeansName, 'all' | 'none' | { since: Date | string }>>

/**
 * Removes means of an account, and answers what went that could be used. Holds the account and its memberships until the transaction ends, so
 * that whatever is added just then was added before, or finds the account held and is added after (`RequestBeginning`).
 */
export async function removeMeans(
  client: Queryable,
  secretKey: SecretKey,
  userId: string,
  removal: Removal,
): Promise<HeldMeans[]> {
  await client.query('select from portal_user where id = $1 for update', [userId])
  await client.query('select from membership where user_id = $1 order by id for update', [userId])
  const before = await listMeans(client, userId)
  for (const [name, { table, addedAt, of }] of all) {
    const which = removal[name]
    if (which === 'none') continue
    const rows = `(${of('select $1::uuid')}) and ${addedAt} >= $2::timestamptz`
    const values = [userId, which === 'all' ? '-infinity' : which.since]
    // The codes are in the row of the app, which may stay.
    if (name === 'recovery_codes') {
      const emptied = `update ${table} set backup_codes = $3, codes_made_at = null where ${rows}`
      await client.query(emptied, [...values, await sealNoCodes(secretKey)])
    } else await client.query(`delete from ${table} where ${rows}`, values)
  }
  await client.query(
    `update portal_user set two_factor_enabled = false
      where id = $1 and two_factor_enabled and not exists (select 1 from portal_two_factor where user_id = $1)`,
    [userId],
  )
  const left = (await listMeans(client, userId)).map(keyOf)
  return before.filter((each) => !left.includes(keyOf(each)))
}

function keyOf({ means: kind, name, addedAt }: HeldMeans): string {
  return `${kind} ${addedAt.getTime()} ${name}`
}
