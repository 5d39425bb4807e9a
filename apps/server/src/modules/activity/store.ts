import type { Queryable } from '../../platform/database/queryable.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'

/** What happened at a location within an hour. */
export type LocationCounts = {
  reads: number
  records_read: number
  read_errors: number
  uploads: number
  records_changed: number
  upload_errors: number
}

/** What an agent asked of the ingest API within an hour. */
export type AgentCounts = { requests: number; errors: number }

const keptDays = 30

/** Adds to the hours of locations; several processes may add to one. */
export async function addLocationHours(
  db: Queryable,
  rows: readonly ({ id: string; hour_at: Date } & LocationCounts)[],
): Promise<void> {
  await db.query(
    `insert into location_hour (location_id, hour_at, reads, records_read, read_errors, uploads, records_changed, upload_errors)
     select id, hour_at, reads, records_read, read_errors, uploads, records_changed, upload_errors
       from jsonb_to_recordset($1) as added (id bigint, hour_at timestamptz, reads integer, records_read bigint,
            read_errors integer, uploads integer, records_changed bigint, upload_errors integer)
      order by id, hour_at
         on conflict (location_id, hour_at) do update
        set reads = location_hour.reads + excluded.reads,
            records_read = location_hour.records_read + excluded.records_read,
            read_errors = location_hour.read_errors + excluded.read_errors,
            uploads = location_hour.uploads + excluded.uploads,
            records_changed = location_hour.records_changed + excluded.records_changed,
            upload_errors = location_hour.upload_errors + excluded.upload_errors`,
    [JSON.stringify(rows)],
  )
}

/** Adds to the hours of agents; several processes may add to one. */
export async function addAgentHours(
  db: Queryable,
  rows: readonly ({ id: string; hour_at: Date } & AgentCounts)[],
): Promise<void> {
  await db.query(
    `insert into agent_hour (agent_id, hour_at, requests, errors)
     select id, hour_at, requests, errors
       from jsonb_to_recordset($1) as added (id bigint, hour_at timestamptz, requests integer, errors integer)
      order by id, hour_at
         on conflict (agent_id, hour_at) do update
        set requests = agent_hour.requests + excluded.requests, errors = agent_hour.errors + excluded.errors`,
    [JSON.stringify(rows)],
  )
}

/**
 * The sum of these locations' hours, in buckets of `bucketSeconds` that begin at multiples of it. Empty buckets are not in it.
 */
export async function sumLocationHours(
  db: Queryable,
  locationIds: readonly LocationId[],
  from: Date,
  bucketSeconds: number,
): Promise<({ at: Date } & LocationCounts)[]> {
  const { rows } = await db.query<{ at: Date } & Record<keyof LocationCounts, string>>(
    `select date_bin($3 * interval '1 second', hour_at, to_timestamp(0)) as at, sum(reads) as reads,
            sum(records_read) as records_read, sum(read_errors) as read_errors, sum(uploads) as uploads,
            sum(records_changed) as records_changed, sum(upload_errors) as upload_errors
       from location_hour
      where location_id = any($1::bigint[]) and hour_at >= $2
      group by 1
      order by 1`,
    [locationIds, from, bucketSeconds],
  )
  return rows.map((row) => ({
    at: row.at,
    reads: Number(row.reads),
    records_read: Number(row.records_read),
    read_errors: Number(row.read_errors),
    uploads: Number(row.uploads),
    records_changed: Number(row.records_changed),
    upload_errors: Number(row.upload_errors),
  }))
}

/** An agent's requests, in buckets of `bucketSeconds` that begin at multiples of it. */
export async function sumAgentHours(
  db: Queryable,
  agentId: AgentId,
  from: Date,
  bucketSeconds: number,
): Promise<({ at: Date } & AgentCounts)[]> {
  const { rows } = await db.query<{ at: Date } & Record<keyof AgentCounts, string>>(
    `select date_bin($3 * interval '1 second', hour_at, to_timestamp(0)) as at, sum(requests) as requests, sum(errors) as errors
       from agent_hour
      where agent_id = $1 and hour_at >= $2
      group by 1
      order by 1`,
    [agentId, from, bucketSeconds],
  )
  return rows.map((row) => ({ at: row.at, requests: Number(row.requests), errors: Number(row.errors) }))
}

/** Forgets what is older than 30 days of these locations. */
export async function deleteOldLocationHours(db: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  await db.query(
    `delete from location_hour where location_id = any($1::bigint[]) and hour_at < now() - $2 * interval '1 day'`,
    [locationIds, keptDays],
  )
}

/** Forgets what is older than 30 days of these agents. */
export async function deleteOldAgentHours(db: Queryable, agentIds: readonly AgentId[]): Promise<void> {
  await db.query(
    `delete from agent_hour where agent_id = any($1::bigint[]) and hour_at < now() - $2 * interval '1 day'`,
    [agentIds, keptDays],
  )
}
