import type { QueryConfig } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf, toRow } from '../../platform/database/rows.ts'
import type { CompanyId, KeyPairId, LocationId } from '../../platform/identity/identity.ts'

/** `errors`: answers from 400 on that are not 429, which are `throttled`. */
export type UsageNumbers = { requests: number; records: number; throttled: number; errors: number }

/** What a company asked within five minutes. */
export type UsageCounts = UsageNumbers & { companyId: CompanyId; bucketAt: Date }

/** One answer, by the route's pattern: nothing of a path below a location, no parameter, no id of a record. */
export type StoredRequest = {
  companyId: CompanyId
  answeredAt: Date
  requestId: string
  method: string
  /** Below the vendor API's base. */
  route: string
  locationId: LocationId | null
  status: number
  code: string | null
  records: number
  durationMs: number
}

/** When a key pair last got a token, or a token issued from it was last used. */
export type KeyPairUse = { keyPairId: KeyPairId; at: Date }

/** How many of a company's last requests are kept. */
export const requestsKept = 100

const keptDays = 90

/** Adds to the counts of each bucket; several processes may add to one. */
export async function addUsage(db: Queryable, counts: readonly UsageCounts[]): Promise<void> {
  // All processes take the rows in one order, so that none waits for another in a circle.
  const rows = counts
    .map(toRow)
    .sort((left, right) => (left.company_id < right.company_id ? -1 : Number(left.company_id > right.company_id)))
  await db.query(
    batch(
      `insert into vendor_usage (company_id, bucket_at, requests, records, throttled, errors)
       select company_id, bucket_at, requests, records, throttled, errors
         from jsonb_to_recordset($1) as added
              (company_id uuid, bucket_at timestamptz, requests bigint, records bigint, throttled bigint, errors bigint)
           on conflict (company_id, bucket_at) do update
          set requests = vendor_usage.requests + excluded.requests,
              records = vendor_usage.records + excluded.records,
              throttled = vendor_usage.throttled + excluded.throttled,
              errors = vendor_usage.errors + excluded.errors`,
      rows,
    ),
  )
}

export async function addRequests(db: Queryable, requests: readonly StoredRequest[]): Promise<void> {
  await db.query(
    batch(
      `insert into vendor_request
              (company_id, answered_at, request_id, method, route, location_id, status, code, records, duration_ms)
       select company_id, answered_at, request_id, method, route, location_id, status, code, records, duration_ms
         from jsonb_to_recordset($1) as added
              (company_id uuid, answered_at timestamptz, request_id text, method text, route text, location_id bigint,
               status integer, code text, records integer, duration_ms real)`,
      requests.map(toRow),
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

/** A company's counts from `from` on, in buckets of so many seconds that begin at multiples of it; empty ones are not in it. */
export async function sumUsage(
  db: Queryable,
  companyId: CompanyId,
  from: Date,
  bucketSeconds: number,
): Promise<{ at: Date; numbers: UsageNumbers }[]> {
  const { rows } = await db.query<{ at: Date } & Record<keyof UsageNumbers, string>>(
    `select date_bin($3 * interval '1 second', bucket_at, to_timestamp(0)) as at,
            sum(requests) as requests, sum(records) as records, sum(throttled) as throttled, sum(errors) as errors
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
    },
  }))
}

/** A company's last requests, the newest first. By the primary key. */
export async function listRequests(db: Queryable, companyId: CompanyId): Promise<StoredRequest[]> {
  const { rows } = await db.query<RowOf<StoredRequest>>(
    `select company_id, answered_at, request_id, method, route, location_id, status, code, records, duration_ms
       from vendor_request
      where company_id = $1
      order by id desc
      limit ${requestsKept}`,
    [companyId],
  )
  return rows.map(fromRow<StoredRequest>)
}

/** When each of these companies was last answered; one that never asked is not in it. */
export async function lastRequestsOf(db: Queryable, companyIds: readonly CompanyId[]): Promise<Map<CompanyId, Date>> {
  const { rows } = await db.query<{ company_id: CompanyId; answered_at: Date }>(
    `select asked.company_id, newest.answered_at
       from unnest($1::uuid[]) as asked (company_id)
       join lateral (select answered_at from vendor_request r where r.company_id = asked.company_id order by id desc limit 1) newest on true`,
    [companyIds],
  )
  return new Map(rows.map((row) => [row.company_id, row.answered_at]))
}

/** Deletes counts older than 90 days, and all but the last 100 requests of each company that asked lately. */
export async function trimUsage(db: Queryable, now: Date): Promise<void> {
  const day = 24 * 60 * 60_000
  await db.query('delete from vendor_usage where bucket_at < $1', [new Date(now.getTime() - keptDays * day)])
  await db.query(
    `delete from vendor_request r
      using (select distinct company_id from vendor_usage where bucket_at >= $1) busy
      cross join lateral (
            select id from vendor_request v where v.company_id = busy.company_id order by id desc offset ${requestsKept} limit 1) old
      where r.company_id = busy.company_id and r.id <= old.id`,
    [new Date(now.getTime() - day)],
  )
}

/** One statement for many rows, given up when the database does not answer: the next try is a second away. */
function batch(text: string, rows: readonly object[]): QueryConfig & { query_timeout: number } {
  return { text, values: [JSON.stringify(rows)], query_timeout: 5_000 }
}
