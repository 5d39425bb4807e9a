import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { textArray } from '../../../platform/database/bulk/binary-array.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'

/** `fence`: that of the location's writer when the request began. */
export type ListKey = { locationId: LocationId; dataset: DatasetName; agentId: AgentId; fence: string }

/** A complete list that is being received. `coveredTo`: the last key that was compared, '' at first. `answer`: once it is finished. */
export type OpenList = ListKey & { id: string; beganAtUpload: string; coveredTo: string; answer: string | null }

/** Begins a list in place of the dataset's last one. Returns its id. */
export async function replaceList(
  pool: Pool,
  list: ListKey & { beganAtUpload: string },
  begunAt: Date,
): Promise<string> {
  return withTransaction(pool, async (client) => {
    await client.query('delete from complete_list where location_id = $1 and dataset = $2', [
      list.locationId,
      list.dataset,
    ])
    const { rows } = await client.query<{ id: string }>(
      `insert into complete_list (location_id, dataset, agent_id, fence, began_at_upload, begun_at)
       values ($1, $2, $3, $4, $5, $6)
       returning id`,
      [list.locationId, list.dataset, list.agentId, list.fence, list.beganAtUpload, begunAt],
    )
    if (!rows[0]) throw new Error('the list was not stored')
    return rows[0].id
  })
}

/** Throws list_unknown for a list of the agent that began under another fence. */
export async function findList(pool: Pool, key: ListKey, id: string): Promise<OpenList | null> {
  const { rows } = await pool.query<{
    began_at_upload: string
    covered_to: string
    answer: string | null
    is_own: boolean
  }>(
    `select began_at_upload, covered_to, answer, fence = $5 as is_own
       from complete_list
      where location_id = $1 and dataset = $2 and agent_id = $3 and id = $4`,
    [key.locationId, key.dataset, key.agentId, id, key.fence],
  )
  const [row] = rows
  if (row?.is_own === false) throw beganBefore()
  return row ? { ...key, id, beganAtUpload: row.began_at_upload, coveredTo: row.covered_to, answer: row.answer } : null
}

/** The refusal of a list that began before another agent wrote at the location. */
export function beganBefore(): Problem {
  return new Problem('list_unknown', {
    errors: 'This list began before another agent wrote at this location. Read everything again, and begin a new list.',
  })
}

export async function saveCovered(pool: Pool, list: OpenList, to: string): Promise<void> {
  await pool.query('update complete_list set covered_to = $4 where location_id = $1 and dataset = $2 and id = $3', [
    ...keyOf(list),
    to,
  ])
}

/** Keeps what a list was answered with, and forgets what it missed. */
export async function saveAnswer(pool: Pool, list: OpenList, answer: string): Promise<void> {
  await pool.query(
    `with decided as (
       update complete_list set answer = $4 where location_id = $1 and dataset = $2 and id = $3 returning id
     )
     delete from complete_list_missing using decided where location_id = $1 and dataset = $2 and list_id = decided.id`,
    [...keyOf(list), answer],
  )
}

/** Those of these keys that the dataset has. `hash`: the first digits of it, in hex. */
export async function findListed(
  pool: Pool,
  { locationId, dataset }: ListKey,
  sourceIds: readonly string[],
  hashLength: number,
): Promise<Map<string, { isHidden: boolean; hash: string }>> {
  const { rows } = await pool.query<{ source_id: string; is_hidden: boolean; hash: string }>(
    `select source_id, is_hidden, left(encode(source_hash, 'hex'), $4) as hash
       from record
      where location_id = $1 and dataset = $2 and source_id = any($3::text[])`,
    [locationId, dataset, textArray(sourceIds), hashLength],
  )
  return new Map(rows.map((row) => [row.source_id, { isHidden: row.is_hidden, hash: row.hash }]))
}

/** Visible records after one key and up to another (null: to the end), in the order of their keys' bytes. By the unique index. */
export async function listVisibleRange(
  pool: Pool,
  { locationId, dataset }: ListKey,
  range: { after: string; to: string | null },
  limit: number,
): Promise<string[]> {
  const { rows } = await pool.query<{ source_id: string }>(
    `select source_id
       from record
      where location_id = $1 and dataset = $2 and not is_hidden
        and source_id > $3 ${range.to === null ? '' : 'and source_id <= $5'}
      order by source_id
      limit $4`,
    [locationId, dataset, range.after, limit, ...(range.to === null ? [] : [range.to])],
  )
  return rows.map((row) => row.source_id)
}

export async function deleteMissing(pool: Pool, list: OpenList, range: { after: string }): Promise<void> {
  await pool.query(
    'delete from complete_list_missing where location_id = $1 and dataset = $2 and list_id = $3 and source_id > $4',
    [...keyOf(list), range.after],
  )
}

/** Notes what a slice misses. Nothing, when another list has replaced this one. */
export async function addMissing(pool: Pool, list: OpenList, sourceIds: readonly string[]): Promise<void> {
  if (sourceIds.length === 0) return
  await pool.query(
    `insert into complete_list_missing (location_id, dataset, list_id, source_id)
     select location_id, dataset, id, missing.source_id
       from complete_list, unnest($4::text[]) as missing (source_id)
      where location_id = $1 and dataset = $2 and id = $3
         on conflict (location_id, dataset, list_id, source_id) do nothing`,
    [...keyOf(list), textArray(sourceIds)],
  )
}

/** Those of these source ids that the list misses. */
export async function findMissingIn(pool: Pool, list: OpenList, sourceIds: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ source_id: string }>(
    `select source_id
       from complete_list_missing
      where location_id = $1 and dataset = $2 and list_id = $3 and source_id = any($4::text[])`,
    [...keyOf(list), textArray(sourceIds)],
  )
  return rows.map((row) => row.source_id)
}

function keyOf({ locationId, dataset, id }: OpenList): string[] {
  return [locationId, dataset, id]
}
