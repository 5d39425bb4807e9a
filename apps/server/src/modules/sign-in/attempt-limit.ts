import { instantText } from '../../platform/database/instant-text.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { limitKey } from '../../platform/http/client-address.ts'
import type { SecretKey } from '../credentials/secret.ts'

const minutesMs = 60_000
const hoursMs = 60 * minutesMs

/**
 * How many failures in how long. By account, only passwords and mails to one address are counted: a stranger who fails on purpose stops
 * those, and never the passkey of the person. Second factors have better-auth's own count, which needs the right password first.
 */
const limits = {
  password: { address: { max: 50, windowMs: 15 * minutesMs }, account: { max: 100, windowMs: hoursMs } },
  second_factor: { address: { max: 30, windowMs: 15 * minutesMs } },
  passkey: { address: { max: 50, windowMs: 15 * minutesMs } },
  /** Links that were mailed: they cannot be guessed, and trying costs us a query. */
  link: { address: { max: 50, windowMs: 15 * minutesMs } },
  /** Questions while a password is typed, a few for each that is chosen: each takes some milliseconds. */
  password_check: { address: { max: 600, windowMs: 15 * minutesMs } },
  /** Beginnings and failures at identity providers: each makes the server call another one. */
  identity_provider: { address: { max: 200, windowMs: 15 * minutesMs } },
  /** Requests of one account to change its address: each sends a mail to an address of its choice. */
  email_change: { address: { max: 30, windowMs: hoursMs }, account: { max: 5, windowMs: hoursMs } },
  /** Mails that a stranger can have us send; each one counts. */
  mail: { address: { max: 30, windowMs: hoursMs }, account: { max: 5, windowMs: hoursMs } },
} as const satisfies Record<string, { address: Limit; account?: Limit }>

type Limit = { max: number; windowMs: number }

/** A try that is counted. `succeeded` takes it out of the count. */
export type Attempt = { succeeded: () => Promise<void> }

/**
 * Counts a try before it is made, so that tries at the same time cannot pass together, over all processes: a sliding log in the database.
 * `account`: the e-mail address as the person gave it, known or not, or the id of who is signed in. Throws Problem sign_in_throttled.
 */
export async function admitAttempt(
  db: Queryable,
  secretKey: SecretKey,
  kind: keyof typeof limits,
  who: { ip: string; account?: string },
): Promise<Attempt> {
  const { address, account }: { address: Limit; account?: Limit } = limits[kind]
  const counts = [{ limit: address, key: secretKey.hmac(`attempt ${kind} address ${limitKey(who.ip)}`) }]
  if (account && who.account !== undefined) {
    counts.push({ limit: account, key: secretKey.hmac(accountText(kind, who.account)) })
  }
  const counted: { key: Buffer; at: string }[] = []
  for (const { limit, key } of counts) {
    const at = await count(db, key, limit)
    if (at === null) {
      throw tooManyAttempts(await secondsUntilFree(db, key, limit))
    }
    counted.push({ key, at })
  }
  return {
    succeeded: async () => {
      for (const { key, at } of counted) await forget(db, key, at)
    },
  }
}

/** The refusal of a further try, with the wait in minutes: people do not count in seconds. */
export function tooManyAttempts(retryAfterSeconds: number): Problem {
  const minutes = Math.ceil(retryAfterSeconds / 60)
  const errors = `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
  return new Problem('sign_in_throttled', { errors, retryAfterSeconds })
}

/**
 * Tells of an e-mail address whether at least `min` passwords were refused at it since then; null: there is none of which that is true. Addresses are
 * kept as hashes alone.
 */
export async function findRefused(
  db: Queryable,
  secretKey: SecretKey,
  { min, since }: { min: number; since: Date },
): Promise<((email: string) => boolean) | null> {
  const { rows } = await db.query<{ key: Buffer }>(
    `select key from sign_in_attempt
      where cardinality(attempted_at) >= $1
        and (select count(*) from unnest(attempted_at) each where each > $2) >= $1`,
    [min, since],
  )
  if (rows.length === 0) return null
  const refused = new Set(rows.map(({ key }) => key.toString('hex')))
  return (email) => refused.has(secretKey.hmac(accountText('password', email)).toString('hex'))
}

function accountText(kind: keyof typeof limits, email: string): string {
  return `attempt ${kind} account ${email.trim().toLowerCase()}`
}

/** When it was counted, as text that keeps the microseconds; null when the log is full. The row's lock makes tries of one key take turns. */
async function count(db: Queryable, key: Buffer, { max, windowMs }: Limit): Promise<string | null> {
  const { rows } = await db.query<{ at: string }>(
    `insert into sign_in_attempt as kept (key, attempted_at, forget_at)
     values ($1, array[clock_timestamp()], clock_timestamp() + $2 * interval '1 millisecond')
     on conflict (key) do update
       set attempted_at = array(
             select each from unnest(kept.attempted_at) each
              where each > clock_timestamp() - $2 * interval '1 millisecond' order by each
           ) || clock_timestamp(),
           forget_at = excluded.forget_at
       where (
         select count(*) from unnest(kept.attempted_at) each
          where each > clock_timestamp() - $2 * interval '1 millisecond'
       ) < $3
     returning ${instantText('attempted_at[cardinality(attempted_at)]')} as at`,
    [key, windowMs, max],
  )
  return rows[0]?.at ?? null
}

async function secondsUntilFree(db: Queryable, key: Buffer, { max, windowMs }: Limit): Promise<number> {
  const { rows } = await db.query<{ seconds: number }>(
    `select ceil(extract(epoch from attempted_at[cardinality(attempted_at) - $3 + 1]
              + $2 * interval '1 millisecond' - clock_timestamp()))::integer as seconds
       from sign_in_attempt where key = $1`,
    [key, windowMs, max],
  )
  return Math.max(rows[0]?.seconds ?? 1, 1)
}

async function forget(db: Queryable, key: Buffer, at: string): Promise<void> {
  await db.query(
    'update sign_in_attempt set attempted_at = array_remove(attempted_at, $2::timestamptz) where key = $1',
    [key, at],
  )
}
