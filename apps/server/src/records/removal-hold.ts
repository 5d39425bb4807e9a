import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import type { AgentId, LocationId } from '../directory/identity.ts'
import { Refusal } from '../directory/refusal.ts'
import { Problem } from '../http/problem.ts'
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

/** Every removal that waits, oldest first. */
export async function listRemovalHolds(pool: Pool): Promise<RemovalHold[]> {
  const { rows } = await pool.query(
    `select h.location_id, l.name, h.dataset, cardinality(h.source_ids) as missing, h.visible, h.held_at
       from removal_hold h join location l on l.id = h.location_id
      order by h.held_at, h.location_id, h.dataset`,
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

/**
 * A person confirms a held removal: what it lists is hidden, but for records received since. Throws a Refusal when nothing is held there.
 */
export async function confirmRemoval(
  pool: Pool,
  locationId: LocationId,
  dataset: DatasetName,
): Promise<{ hidden: number }> {
  return takeTurn(pool, locationId, dataset, async (turn) => {
    const { rows } = await turn.client.query<{ source_ids: string[]; held_at: Date }>(
      `delete from removal_hold where location_id = $1 and dataset = $2 returning source_ids, held_at`,
      [locationId, dataset],
    )
    const hold = rows[0]
    if (!hold)
      throw new Refusal('removal_unknown', 'No removal of this dataset waits for confirmation at this location.')
    const received = await turn.client.query<{ source_id: string }>(
      `select source_id from record
        where location_id = $1 and dataset = $2 and source_id = any($3::text[]) and (is_hidden or received_at > $4)`,
      [locationId, dataset, hold.source_ids, hold.held_at],
    )
    const spared = new Set(received.rows.map((row) => row.source_id))
    return {
      hidden: await hideBySourceIds(
        turn,
        dataset,
        hold.source_ids.filter((id) => !spared.has(id)),
      ),
    }
  })
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
