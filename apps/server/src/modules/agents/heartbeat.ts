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
  /** The export file by its name in the mapping, and the first place in it that is wrong. */
  fileName: string | null
  fileLine: number | null
  fileColumn: string | null
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

/** The same with when the agent was first heard with what it reads, and how far it was then. */
export type ListedHeartbeat = Heartbeat & { readingSince: Date | null; rowsReadAtFirst: number | null }

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
    `insert into agent_heartbeat as h (agent_id, state, heard_at, reading_dataset, rows_read, rows_total, reading_since, rows_read_at_first)
     values ($1, $2, $3, $4, $5, $6, case when $4::text is not null then $3::timestamptz end, $5)
         on conflict (agent_id) do update
        set state = excluded.state, heard_at = excluded.heard_at, reading_dataset = excluded.reading_dataset,
            rows_read = excluded.rows_read, rows_total = excluded.rows_total,
            (reading_since, rows_read_at_first) = (
              select case when goes_on then h.reading_since else excluded.reading_since end,
                     case when goes_on then h.rows_read_at_first else excluded.rows_read_at_first end
                from (select excluded.reading_dataset = h.reading_dataset and excluded.rows_read >= h.rows_read as goes_on) same)`,
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
  const all = [
    ...(reported ?? []).map(({ file, ...problem }) => ({
      ...problem,
      ...(file && { file_name: file.name, file_line: file.line, file_column: file.column }),
    })),
    ...observed.map((code) => ({ code })),
  ]
  await db.query(
    `with current as (
       select distinct on (location_id, dataset, code, "table", "column")
              location_id, dataset, code, "table" as table_name, "column" as column_name, file_name, file_line, file_column
         from jsonb_to_recordset($2) as r (location_id bigint, dataset text, code text, "table" text, "column" text,
                                           file_name text, file_line bigint, file_column text)),
     ended as (
       delete from agent_problem p
        where agent_id = $1 and ($3 or code = any($4::text[]))
          and not exists (
              select 1 from current c
               where (c.location_id, c.dataset, c.code, c.table_name, c.column_name)
                     is not distinct from (p.location_id, p.dataset, p.code, p.table_name, p.column_name)))
     insert into agent_problem as p (agent_id, location_id, dataset, code, table_name, column_name, since, file_name, file_line, file_column)
     select $1::bigint, location_id, dataset, code, table_name, column_name, $5::timestamptz, file_name, file_line, file_column
       from current
         on conflict (agent_id, location_id, dataset, code, table_name, column_name) do update
        set file_name = excluded.file_name, file_line = excluded.file_line, file_column = excluded.file_column
      where (p.file_name, p.file_line, p.file_column)
            is distinct from (excluded.file_name, excluded.file_line, excluded.file_column)`,
    [agentId, JSON.stringify(all), reported !== null, observedCodes, now],
  )
}

/** What is wrong with these agents, the oldest first. */
export async function listProblems(db: Queryable, agentIds: readonly AgentId[]): Promise<AgentProblem[]> {
  const { rows } = await db.query<RowOf<AgentProblem>>(
    `select agent_id, location_id, dataset, code, table_name, column_name, since, file_name, file_line::float8 as file_line, file_column
       from agent_problem
      where agent_id = any($1::bigint[])
      order by since, code, location_id, dataset, table_name, column_name`,
    [agentIds],
  )
  return rows.map(fromRow<AgentProblem>)
}

/** What these agents last said of themselves. */
export async function listHeartbeats(
  db: Queryable,
  agentIds: readonly AgentId[],
): Promise<Map<AgentId, ListedHeartbeat>> {
  const { rows } = await db.query<RowOf<ListedHeartbeat>>(
    `select agent_id, state, heard_at, reading_dataset, rows_read::float8 as rows_read, rows_total::float8 as rows_total,
            reading_since, rows_read_at_first::float8 as rows_read_at_first
       from agent_heartbeat
      where agent_id = any($1::bigint[])`,
    [agentIds],
  )
  return new Map(rows.map((row) => [row.agent_id, fromRow<ListedHeartbeat>(row)]))
}
