import { type RequestOutcome, requestOutcomes } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf, toRow } from '../../platform/database/rows.ts'
import type { CompanyId, KeyPairId, LocationId } from '../../platform/identity/identity.ts'
import { batch } from './batch.ts'

/** One answer, by the route's pattern: nothing of a path below a location, no parameter, no id of a record. */
export type StoredRequest = {
  companyId: CompanyId
  answeredAt: Date
  requestId: string
  method: string
  /** Below the vendor API's base. */
  route: string
  locationId: LocationId | null
  /** That of the token, or that the caller of POST /auth/token named. */
  keyPairId: KeyPairId | null
  outcome: RequestOutcome
  status: number
  code: string | null
  /** Why a key pair or token was refused: our own words. Null for all but 401. */
  because: string | null
  /** Which parameter broke which rule; never its value. A name that only the caller gave is null. */
  parameter: string | null
  rule: string | null
  records: number
  durationMs: number
}

export const requestsKeptDays = 30

/**
 * How many requests of a company are kept, by outcome. Each has a bound of its own: neither a client that fails in a loop nor a stranger who
 * tries a company's client id displaces the requests that one looks for.
 */
export const requestsKept: Readonly<Record<RequestOutcome, number>> = {
  ok: 50_000,
  throttled: 10_000,
  error: 20_000,
  unauthenticated: 1_000,
}

/** All that is not null narrows the list. `from` included, `until` not. */
export type RequestFilter = {
  from: Date
  until: Date
  outcomes: readonly RequestOutcome[]
  /** The first and the last status. */
  statuses: readonly [number, number]
  code: string | null
  /** A part of the route's pattern, in any case. */
  route: string | null
  parameter: string | null
  rule: string | null
  /** Any of these; null: all. */
  locationIds: readonly LocationId[] | null
  keyPairId: KeyPairId | null
  requestId: string | null
}

/** A filter that every request passes. */
export const anyRequest: RequestFilter = {
  from: new Date(0),
  until: new Date('2200-01-01T00:00:00Z'),
  outcomes: requestOutcomes,
  statuses: [0, 999],
  code: null,
  route: null,
  parameter: null,
  rule: null,
  locationIds: null,
  keyPairId: null,
  requestId: null,
}

export async function addRequests(db: Queryable, requests: readonly StoredRequest[]): Promise<void> {
  await db.query(
    batch(
      `insert into vendor_request (company_id, answered_at, request_id, method, route, location_id, key_pair_id, outcome,
                                   status, code, because, parameter, rule, records, duration_ms)
       select company_id, answered_at, request_id, method, route, location_id, key_pair_id, outcome, status, code,
              because, parameter, rule, records, duration_ms
         from jsonb_to_recordset($1) as added
              (company_id uuid, answered_at timestamptz, request_id text, method text, route text, location_id bigint,
               key_pair_id uuid, outcome text, status integer, code text, because text, parameter text,
               rule text, records integer, duration_ms real)`,
      requests.map(toRow),
    ),
  )
}

/**
 * A page of a company's requests, the newest first, `before` an id of the page before. Reads each outcome from the end of its part of the
 * primary key and filters as it goes: that costs at most what is kept of one company, which is why no filter needs an index.
 */
export async function listRequests(
  db: Queryable,
  companyId: CompanyId,
  filter: RequestFilter,
  { before, limit }: { before: string | null; limit: number },
): Promise<(StoredRequest & { id: string })[]> {
  const values: unknown[] = [companyId, filter.outcomes, before ?? '9223372036854775807', limit]
  const { rows } = await db.query<RowOf<StoredRequest> & { id: string }>(
    `select found.*
       from unnest($2::text[]) as asked (outcome)
      cross join lateral (
            select ${columns}
              from vendor_request r
             where r.company_id = $1 and r.outcome = asked.outcome and r.id < $3 and ${conditionsOf(filter, values)}
             order by r.id desc
             limit $4) found
      order by found.id desc
      limit $4`,
    values,
  )
  return rows.map(({ id, ...row }) => ({ ...fromRow<StoredRequest>(row), id }))
}

/** Answers from 400 on that have the same route, status, code, parameter and rule. */
export type RequestErrors = {
  method: string
  route: string
  status: number
  code: string | null
  parameter: string | null
  rule: string | null
  requests: number
  firstAt: Date
  lastAt: Date
}

/** The errors of a company that pass the filter, by what they have in common, the most frequent first; at most a hundred. Reads as `listRequests` does. */
export async function groupErrors(
  db: Queryable,
  companyId: CompanyId,
  filter: RequestFilter,
): Promise<RequestErrors[]> {
  const values: unknown[] = [companyId, filter.outcomes.filter((outcome) => outcome !== 'ok')]
  const { rows } = await db.query<RowOf<RequestErrors>>(
    `select method, route, status, code, parameter, rule,
            count(*)::integer as requests, min(answered_at) as first_at, max(answered_at) as last_at
       from vendor_request r
      where company_id = $1 and outcome = any($2::text[]) and ${conditionsOf(filter, values)}
      group by method, route, status, code, parameter, rule
      order by requests desc, last_at desc
      limit 100`,
    values,
  )
  return rows.map((row) => fromRow<RequestErrors>(row))
}

/** The request with this id, of whichever company; null: it is not kept. By vendor_request_of_id. For the operator. */
export async function findRequest(db: Queryable, requestId: string): Promise<(StoredRequest & { id: string }) | null> {
  const { rows } = await db.query<RowOf<StoredRequest> & { id: string }>(
    `select ${columns} from vendor_request where request_id = $1 order by id desc limit 1`,
    [requestId],
  )
  const [found] = rows.map(({ id, ...row }) => ({ ...fromRow<StoredRequest>(row), id }))
  return found ?? null
}

const columns = `company_id, id, answered_at, request_id, method, route, location_id, key_pair_id, outcome, status, code,
                   because, parameter, rule, records, duration_ms`

/** The conditions of a filter but for its outcomes; adds what they compare with to the values. */
function conditionsOf(filter: RequestFilter, values: unknown[]): string {
  const add = (value: unknown) => `$${values.push(value)}`
  const conditions = [
    `answered_at >= ${add(filter.from)} and answered_at < ${add(filter.until)}`,
    `status between ${add(filter.statuses[0])} and ${add(filter.statuses[1])}`,
  ]
  if (filter.code !== null) conditions.push(`code = ${add(filter.code)}`)
  if (filter.route !== null) conditions.push(`strpos(lower(route), lower(${add(filter.route)})) > 0`)
  if (filter.parameter !== null) conditions.push(`parameter = ${add(filter.parameter)}`)
  if (filter.rule !== null) conditions.push(`rule = ${add(filter.rule)}`)
  if (filter.locationIds !== null) conditions.push(`location_id = any(${add(filter.locationIds)}::bigint[])`)
  if (filter.keyPairId !== null) conditions.push(`key_pair_id = ${add(filter.keyPairId)}`)
  if (filter.requestId !== null) conditions.push(`request_id = ${add(filter.requestId)}`)
  return conditions.join(' and ')
}

/** When each of these companies last sent an authenticated request, within the last 30 days; one that did not is not in it. */
export async function lastRequestsOf(db: Queryable, companyIds: readonly CompanyId[]): Promise<Map<CompanyId, Date>> {
  const { rows } = await db.query<{ company_id: CompanyId; answered_at: Date }>(
    `select asked.company_id, max(newest.answered_at) as answered_at
       from unnest($1::uuid[]) as asked (company_id)
      cross join unnest(array['ok', 'throttled', 'error']) as kind (outcome)
      cross join lateral (
            select answered_at from vendor_request r
             where r.company_id = asked.company_id and r.outcome = kind.outcome
             order by r.id desc
             limit 1) newest
      group by 1`,
    [companyIds],
  )
  return new Map(rows.map((row) => [row.company_id, row.answered_at]))
}

/**
 * Deletes requests older than 30 days, and of each company and outcome what is beyond its bound: one statement for each that has any, so that
 * none runs for long.
 */
export async function trimRequests(db: Queryable, now: Date): Promise<void> {
  for (const { companyId, outcome, lastId } of await findSurplus(db, now)) {
    await db.query('delete from vendor_request where company_id = $1 and outcome = $2 and id <= $3', [
      companyId,
      outcome,
      lastId,
    ])
  }
}

/**
 * The companies and outcomes that have too many or too old requests, with the last id that goes. Walks the primary key from one to the next; of
 * each it counts to the bound, and from the other end it reads what is too old and one row more.
 */
async function findSurplus(db: Queryable, now: Date): Promise<Surplus[]> {
  const oldest = new Date(now.getTime() - requestsKeptDays * 24 * 60 * 60_000)
  const { rows } = await db.query<Surplus>(
    `with recursive part (company_id, outcome, first_id) as (
          (select company_id, outcome, id from vendor_request order by company_id, outcome, id limit 1)
          union all
          select next.company_id, next.outcome, next.id
            from part
           cross join lateral (
                 select company_id, outcome, id from vendor_request r
                  where (r.company_id, r.outcome) > (part.company_id, part.outcome)
                  order by r.company_id, r.outcome, r.id
                  limit 1) next),
          cut as materialized (
          select company_id, outcome, first_id,
                 greatest(
                   (select id from vendor_request r
                     where r.company_id = part.company_id and r.outcome = part.outcome
                     order by id desc
                    offset ($1::jsonb ->> part.outcome)::integer
                     limit 1),
                   coalesce(
                     (select id - 1 from vendor_request r
                       where r.company_id = part.company_id and r.outcome = part.outcome and r.answered_at >= $2
                       order by id
                       limit 1),
                     9223372036854775807)) as last_id
            from part)
     select company_id as "companyId", outcome, last_id as "lastId" from cut where last_id >= first_id`,
    [JSON.stringify(requestsKept), oldest],
  )
  return rows
}

type Surplus = { companyId: CompanyId; outcome: RequestOutcome; lastId: string }
