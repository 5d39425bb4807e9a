import type { DatasetName } from '@bridgework/contract'
import type { IngestBodies, ReasonCode } from '@bridgework/contract/ingest'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'

/** What the service finds out by itself at a heartbeat. */
const observedCodes = ['clock_ahead', 'clock_behind', 'disk_low', 'version_old'] as const

export type ProblemCode = ReasonCode | (typeof observedCodes)[number]

/** What is wrong with what an agent reads or sends. `locationId`, `dataset` null: all of them. */
export type AgentProblem = {
  agentId: AgentId
  locationId: LocationId | null
  dataset: DatasetName | null
  code: ProblemCode
  tableName: string | null
  columnName: string | null
  since: Date
}

/** What an agent last said that it does. `rowsTotal` null: nobody knows. */
export type Heartbeat = {
  agentId: AgentId
  state: IngestBodies['heartbeat']['state']
  heardAt: Date
  readingDataset: DatasetName | null
  rowsRead: number | null
  rowsTotal: number | null
}

/** Stamps and tokens depend on clocks; the agent's own `check` warns from here on, too. */
const clockToleranceMs = 2 * 60_000
/** The state of a large practice has some hundred MB. The agent's own `check` warns below this, too. */
const freeMinBytes = 500 * 1024 * 1024

/**
 * What a heartbeat shows by itself. The agent's clock lies between two bounds, however long a request was under way: what it sent at `sent_at`
 * arrived later, and what it got at `answered.at` was answered earlier. Only where both bounds say so is the clock off.
 */
export function observedProblems(
  { sent_at, answered, disk_free_bytes: free }: IngestBodies['heartbeat'],
  { isOld, nowMs }: { isOld: boolean; nowMs: number },
): ProblemCode[] {
  const aheadMinMs = Date.parse(sent_at) - nowMs
  const aheadMaxMs = answered ? Date.parse(answered.at) - Date.parse(answered.server_time) : Number.POSITIVE_INFINITY
  const isSteady = aheadMinMs <= aheadMaxMs
  return [
    ...(isSteady && aheadMinMs > clockToleranceMs ? ['clock_ahead' as const] : []),
    ...(isSteady && aheadMaxMs < -clockToleranceMs ? ['clock_behind' as const] : []),
    ...(free !== undefined && free < freeMinBytes ? ['disk_low' as const] : []),
    ...(isOld ? ['version_old' as const] : []),
  ]
}

/** A moment of the agent's clock on the service's: never later than it was. */
export function onServiceClock(at: string, { answered }: Pick<IngestBodies['heartbeat'], 'answered'>): Date {
  if (!answered) return new Date(at)
  return new Date(Date.parse(at) - Date.parse(answered.at) + Date.parse(answered.server_time))
}

/** Notes what an agent does at the moment. */
export async function noteHeartbeat(db: Queryable, heartbeat: Heartbeat): Promise<void> {
  const { agentId, state, heardAt, readingDataset, rowsRead, rowsTotal } = heartbeat
  await db.query(
    `insert into agent_heartbeat (agent_id, state, heard_at, reading_dataset, rows_read, rows_total)
     values ($1, $2, $3, $4, $5, $6)
         on conflict (agent_id) do update
        set state = excluded.state, heard_at = excluded.heard_at, reading_dataset = excluded.reading_dataset,
            rows_read = excluded.rows_read, rows_total = excluded.rows_total`,
    [agentId, state, heardAt, readingDataset, rowsRead, rowsTotal],
  )
}

/**
 * Replaces what is known to be wrong: what is still so keeps its `since`. `reported` null: the agent does not know yet, and only what the service
 * sees by itself changes.
 */
export async function replaceProblems(
  db: Queryable,
  agentId: AgentId,
  { reported, observed }: { reported: IngestBodies['heartbeat']['problems'] | null; observed: readonly ProblemCode[] },
  now: Date,
): Promise<void> {
  const all = [...(reported ?? []), ...observed.map((code) => ({ code }))]
  await db.query(
    `with current as (
       select location_id, dataset, code, "table" as table_name, "column" as column_name
         from jsonb_to_recordset($2) as r (location_id bigint, dataset text, code text, "table" text, "column" text)),
     ended as (
       delete from agent_problem p
        where agent_id = $1 and ($3 or code = any($4::text[]))
          and not exists (
              select from current c
               where (c.location_id, c.dataset, c.code, c.table_name, c.column_name)
                     is not distinct from (p.location_id, p.dataset, p.code, p.table_name, p.column_name)))
     insert into agent_problem (agent_id, location_id, dataset, code, table_name, column_name, since)
     select distinct $1::bigint, location_id, dataset, code, table_name, column_name, $5::timestamptz
       from current
         on conflict do nothing`,
    [agentId, JSON.stringify(all), reported !== null, observedCodes, now],
  )
}

/** What is wrong with these agents, the oldest first. */
export async function listProblems(db: Queryable, agentIds: readonly AgentId[]): Promise<AgentProblem[]> {
  const { rows } = await db.query<RowOf<AgentProblem>>(
    `select agent_id, location_id, dataset, code, table_name, column_name, since
       from agent_problem
      where agent_id = any($1::bigint[])
      order by since, code, location_id, dataset, table_name, column_name`,
    [agentIds],
  )
  return rows.map(fromRow<AgentProblem>)
}

/** What these agents last said of themselves. */
export async function listHeartbeats(db: Queryable, agentIds: readonly AgentId[]): Promise<Map<AgentId, Heartbeat>> {
  const { rows } = await db.query<RowOf<Heartbeat>>(
    `select agent_id, state, heard_at, reading_dataset, rows_read::float8 as rows_read, rows_total::float8 as rows_total
       from agent_heartbeat
      where agent_id = any($1::bigint[])`,
    [agentIds],
  )
  return new Map(rows.map((row) => [row.agent_id, fromRow<Heartbeat>(row)]))
}
