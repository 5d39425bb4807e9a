import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import { hideRecords } from './change.ts'
import { takeTurn } from './turn.ts'
import { findBySourceIds } from './write-store.ts'

/** A removal that waits for a person: so much of a dataset was missing that a mistake is likelier than the truth. */
export type RemovalHold = {
  locationId: LocationId
  locationName: string
  dataset: DatasetName
  missing: number
  visible: number
  heldAt: Date
}

/** Held is what would hide all visible records, or more than a fifth of them and at least 10. */
export function mustBeHeld(missing: number, visible: number): boolean {
  return missing > 0 && (missing === visible || (missing >= 10 && missing > visible * 0.2))
}

/** Keeps the newest list, in place of an older one. */
export async function saveRemovalHold(
  client: PoolClient,
  hold: {
    locationId: LocationId
    dataset: DatasetName
    agentId: AgentId
    sourceIds: readonly string[]
    visible: number
    heldAt: Date
  },
): Promise<void> {
  await client.query(
    `insert into removal_hold (location_id, dataset, agent_id, source_ids, visible, held_at)
     values ($1, $2, $3, $4, $5, $6)
         on conflict (location_id, dataset) do update
        set agent_id = excluded.agent_id, source_ids = excluded.source_ids, visible = excluded.visible, held_at = excluded.held_at`,
    [hold.locationId, hold.dataset, hold.agentId, hold.sourceIds, hold.visible, hold.heldAt],
  )
}

export async function deleteRemovalHold(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
): Promise<void> {
  await client.query(`delete from removal_hold where location_id = $1 and dataset = $2`, [locationId, dataset])
}

/** Every removal that waits, or those of these locations, oldest first. */
export async function listRemovalHolds(db: Queryable, locationIds?: readonly LocationId[]): Promise<RemovalHold[]> {
  const { rows } = await db.query(
    `select h.location_id, l.name, h.dataset, cardinality(h.source_ids) as missing, h.visible, h.held_at
       from removal_hold h join location l on l.id = h.location_id
      ${locationIds === undefined ? '' : 'where h.location_id = any($1::bigint[])'}
      order by h.held_at, h.location_id, h.dataset`,
    locationIds === undefined ? [] : [locationIds],
  )
  return rows.map((row) => ({
    locationId: row.location_id,
    locationName: row.name,
    dataset: row.dataset,
    missing: row.missing,
    visible: Number(row.visible),
    heldAt: row.held_at,
  }))
}

/** A record that a held removal would hide. `source` is what the agent sent. */
export type HeldRecord = { sourceId: string; source: string; modifiedAtMs: number }

/** The first records, by source id, that a held removal would hide now: not those that were received since. */
export async function listHeldRecords(
  db: Queryable,
  locationId: LocationId,
  dataset: DatasetName,
  limit: number,
): Promise<HeldRecord[]> {
  const { rows } = await db.query<{ source_id: string; source: string; modified_at: string }>(
    `select r.source_id, r.source, r.modified_at
       from removal_hold h
       join record r on r.location_id = h.location_id and r.dataset = h.dataset and r.source_id = any(h.source_ids)
      where h.location_id = $1 and h.dataset = $2 and not r.is_hidden and r.received_at <= h.held_at
      order by r.source_id
      limit $3`,
    [locationId, dataset, limit],
  )
  return rows.map((row) => ({
    sourceId: row.source_id,
    source: row.source,
    modifiedAtMs: Math.floor(Number(row.modified_at) / 1000),
  }))
}

/**
 * A person confirms a held removal: what it lists is hidden, but for records received since. `missing`: how many it listed when the person
 * saw it; another list by now is refused. `alongside` happens in the same transaction. Throws a Problem, also when nothing is held there.
 */
export async function confirmRemoval(
  pool: Pool,
  locationId: LocationId,
  dataset: DatasetName,
  { missing, alongside }: { missing?: number; alongside?: (client: Queryable, hidden: number) => Promise<void> } = {},
): Promise<{ hidden: number }> {
  return takeTurn(pool, locationId, dataset, async (turn) => {
    const hold = await takeHold(turn.client, locationId, dataset)
    if (missing !== undefined && hold.source_ids.length !== missing) {
      throw new Problem('removal_changed', {
        errors: `The list has changed: it has ${hold.source_ids.length} records now, not ${missing}. Review it again.`,
      })
    }
    const received = await turn.client.query<{ source_id: string }>(
      `select source_id from record
        where location_id = $1 and dataset = $2 and source_id = any($3::text[]) and (is_hidden or received_at > $4)`,
      [locationId, dataset, hold.source_ids, hold.held_at],
    )
    const spared = new Set(received.rows.map((row) => row.source_id))
    const hidden = await hideBySourceIds(
      turn,
      dataset,
      hold.source_ids.filter((id) => !spared.has(id)),
    )
    await alongside?.(turn.client, hidden)
    return { hidden }
  })
}

/**
 * A person rejects a held removal: the list is dropped, nothing is hidden, and the agent's next complete read asks again when the records are
 * still missing. `alongside` happens in the same transaction. Throws a Problem when nothing is held there.
 */
export async function rejectRemoval(
  pool: Pool,
  locationId: LocationId,
  dataset: DatasetName,
  alongside: (client: Queryable) => Promise<void>,
): Promise<void> {
  await takeTurn(pool, locationId, dataset, async (turn) => {
    await takeHold(turn.client, locationId, dataset)
    await alongside(turn.client)
  })
}

async function takeHold(client: PoolClient, locationId: LocationId, dataset: DatasetName) {
  const { rows } = await client.query<{ source_ids: string[]; held_at: Date }>(
    `delete from removal_hold where location_id = $1 and dataset = $2 returning source_ids, held_at`,
    [locationId, dataset],
  )
  if (rows[0]) return rows[0]
  throw new Problem('removal_unknown')
}

/** Hides the visible records of these source ids; returns how many there were. */
export async function hideBySourceIds(
  turn: Parameters<typeof hideRecords>[0],
  dataset: DatasetName,
  sourceIds: readonly string[],
): Promise<number> {
  const records = await findBySourceIds(turn.client, turn.locationId, dataset, sourceIds, true)
  const visible = records.filter((record) => !record.isHidden)
  await hideRecords(turn, dataset, visible)
  return visible.length
}

/** The answer to an agent whose list would remove too much. */
export function removalHeld(missing: number, visible: number): Problem {
  return new Problem('removal_held', { members: { missing, visible } })
}

/** What waits at a location, as its sync status tells it, by dataset. */
export async function listHoldsOf(pool: Pool, locationId: LocationId) {
  const { rows } = await pool.query<{ dataset: DatasetName; missing: number; visible: string; held_at: Date }>(
    `select dataset, cardinality(source_ids) as missing, visible, held_at from removal_hold where location_id = $1`,
    [locationId],
  )
  return new Map(
    rows.map((row) => [row.dataset, { missing: row.missing, visible: Number(row.visible), held_at: row.held_at }]),
  )
}
