import type { Queryable } from '../../platform/database/queryable.ts'
import { toRow } from '../../platform/database/rows.ts'
import type { CompanyId, KeyPairId } from '../../platform/identity/identity.ts'
import { batch } from './batch.ts'
import { type Durations, durationsLength } from './durations.ts'

/** `errors`: answers from 400 on that are not 429, which are `throttled`. */
export type UsageNumbers = { requests: number; records: number; throttled: number; errors: number }

/** Numbers, and how long the requests took. */
export type UsageSum = UsageNumbers & { durations: Durations }

/** What a company asked within five minutes. */
export type UsageCounts = UsageSum & { companyId: CompanyId; bucketAt: Date }

/** When a key pair last got a token, or a token issued from it was last used. */
export type KeyPairUse = { keyPairId: KeyPairId; at: Date }

const keptDays = 90

/** Adds to the counts of each bucket; several processes may add to one. */
export async function addUsage(db: Queryable, counts: readonly UsageCounts[]): Promise<void> {
  // All processes take the rows in one order, so that none waits for another in a circle.
  const rows = counts
    .map(toRow)
    .sort((left, right) => (left.company_id < right.company_id ? -1 : Number(left.company_id > right.company_id)))
  await db.query(
    batch(
      `insert into vendor_usage (company_id, bucket_at, requests, records, throttled, errors, durations)
       select company_id, bucket_at, requests, records, throttled, errors, durations
         from jsonb_to_recordset($1) as added
              (company_id uuid, bucket_at timestamptz, requests bigint, records bigint, throttled bigint, errors bigint,
               durations integer[])
           on conflict (company_id, bucket_at) do update
          set requests = vendor_usage.requests + excluded.requests,
              records = vendor_usage.records + excluded.records,
              throttled = vendor_usage.throttled + excluded.throttled,
              errors = vendor_usage.errors + excluded.errors,
              durations = (
                select array_agg(coalesce(stored, 0) + coalesce(added, 0) order by position)
                  from unnest(vendor_usage.durations, excluded.durations) with ordinality as pair (stored, added, position))`,
      rows,
    ),
  )
}

/** Moves each key pair's last use forward. */
export async function addKeyPairUses(db: Queryable, uses: readonly KeyPairUse[]): Promise<void> {
  const rows = uses
    .map(({ keyPairId, at }) => ({ key_pair_id: keyPairId, last_used_at: at }))
    .sort((left, right) => (left.key_pair_id < right.key_pair_id ? -1 : 1))
  await db.query(
    batch(
      `insert into key_pair_use (key_pair_id, last_used_at)
       select key_pair_id, last_used_at
         from jsonb_to_recordset($1) as added (key_pair_id uuid, last_used_at timestamptz)
           on conflict (key_pair_id) do update
          set last_used_at = greatest(key_pair_use.last_used_at, excluded.last_used_at)`,
      rows,
    ),
  )
}

/** When these pairs were last used; one that never was is not in it. */
export async function lastUsesOf(db: Queryable, keyPairIds: readonly KeyPairId[]): Promise<Map<KeyPairId, Date>> {
  const { rows } = await db.query<{ key_pair_id: KeyPairId; last_used_at: Date }>(
    'select key_pair_id, last_used_at from key_pair_use where key_pair_id = any($1::uuid[])',
    [keyPairIds],
  )
  return new Map(rows.map((row) => [row.key_pair_id, row.last_used_at]))
}

/** A company's counts from `from` on, in buckets of `bucketSeconds` that begin at multiples of it, without empty ones. */
export async function sumUsage(
  db: Queryable,
  companyId: CompanyId,
  from: Date,
  bucketSeconds: number,
): Promise<{ at: Date; numbers: UsageSum }[]> {
  const { rows } = await db.query<{ at: Date; durations: number[] } & Record<keyof UsageNumbers, string>>(
    `select date_bin($3 * interval '1 second', bucket_at, to_timestamp(0)) as at,
            sum(requests) as requests, sum(records) as records, sum(throttled) as throttled, sum(errors) as errors,
            array[${sumOfEach}]::integer[] as durations
       from vendor_usage
      where company_id = $1 and bucket_at >= $2
      group by 1
      order by 1`,
    [companyId, from, bucketSeconds],
  )
  return rows.map((row) => ({
    at: row.at,
    numbers: {
      requests: Number(row.requests),
      records: Number(row.records),
      throttled: Number(row.throttled),
      errors: Number(row.errors),
      durations: row.durations,
    },
  }))
}

/** Position by position: unnesting the arrays and grouping what comes out took six times as long. */
const sumOfEach = Array.from(
  { length: durationsLength },
  (_, index) => `coalesce(sum(durations[${index + 1}]), 0)`,
).join(', ')

/** Deletes counts older than 90 days. */
export async function trimUsage(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from vendor_usage where bucket_at < $1', [
    new Date(now.getTime() - keptDays * 24 * 60 * 60_000),
  ])
}
