import { type DatasetName, getDataset, type SourceRecord } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import { type SourceColumns, sourceOf } from '../write/stored-source.ts'
import { takeTurn } from '../write/turn.ts'
import { hideSlice } from './removal.ts'
import { dropKept, findCurrentRemoval, keepRemoval, listRemovals, type Removal } from './removal-store.ts'

/** A record that a held removal would hide. `source` is what the agent sent. */
export type HeldRecord = { sourceId: string; source: SourceRecord; modifiedAtMs: number }

/** The first records, by source id, that a removal would hide now. */
export async function listHeldRecords(
  db: Queryable,
  removal: DatasetKey & { id: string },
  limit: number,
): Promise<HeldRecord[]> {
  const { rows } = await db.query<SourceColumns & { source_id: string; modified_at: string }>(
    `select record.source_id, record.source, record.document, record.document_with_notes, record.modified_at
       from removal_record listed
       join record on record.location_id = $1 and record.dataset = $2 and record.source_id = listed.source_id
      where listed.location_id = $1 and listed.dataset = $2 and listed.removal_id = $3 and not record.is_hidden
      order by listed.source_id
      limit $4`,
    [removal.locationId, removal.dataset, removal.id, limit],
  )
  const definition = getDataset(removal.dataset)
  return rows.map((row) => ({
    sourceId: row.source_id,
    source: sourceOf(definition, row),
    modifiedAtMs: Math.floor(Number(row.modified_at) / 1000),
  }))
}

/**
 * A person confirms a held removal: what is on the list is hidden, at once up to 5,000 records; the remover hides the rest. `listHash`: the
 * list that the person saw; another list by now is refused. A record that was received since is not on the list any more, and stays.
 * `alongside` happens in the same transaction. Throws Problem removal_changed, or removal_unknown when nothing is held there.
 */
export async function confirmRemoval(
  pool: Pool,
  locationId: LocationId,
  dataset: DatasetName,
  listHash: string,
  alongside: (client: Queryable, done: { hidden: number; remaining: number }) => Promise<void> = async () => {},
): Promise<{ hidden: number; remaining: number }> {
  return takeTurn(pool, locationId, dataset, async (turn) => {
    const removal = await requireHeld(turn.client, { locationId, dataset })
    requireSeen(removal, listHash)
    const done = await hideSlice(turn, removal)
    turn.stamp(dataset)
    await alongside(turn.client, done)
    return done
  })
}

/**
 * A person rejects a held removal: nothing is hidden, and its records are not asked about again while they are missing. `listHash`: the list
 * that the person saw. `alongside` happens in the same transaction. Throws Problem removal_changed, or removal_unknown when nothing is held there.
 */
export async function rejectRemoval(
  pool: Pool,
  rejected: DatasetKey & { listHash: string; now: Date },
  alongside: (client: Queryable, kept: { records: number }) => Promise<void> = async () => {},
): Promise<void> {
  await takeTurn(pool, rejected.locationId, rejected.dataset, async (turn) => {
    const removal = await requireHeld(turn.client, rejected)
    requireSeen(removal, rejected.listHash)
    await keepRemoval(turn.client, removal, rejected.now)
    turn.stamp(rejected.dataset)
    await alongside(turn.client, { records: removal.remaining })
  })
}

/**
 * A person takes back the decision to keep records of a dataset: the agent's next complete read asks again where they are still missing.
 * `alongside` happens in the same transaction. Throws Problem removal_unknown when nothing is kept there.
 */
export async function reviewKept(
  pool: Pool,
  key: DatasetKey,
  alongside: (client: Queryable) => Promise<void>,
): Promise<void> {
  await takeTurn(pool, key.locationId, key.dataset, async ({ client }) => {
    if (!(await dropKept(client, key))) throw new Problem('removal_unknown')
    await alongside(client)
  })
}

/** Throws Problem removal_changed when the list is another one than the person saw. */
function requireSeen(removal: Removal, listHash: string): void {
  if (removal.listHash === listHash) return
  throw new Problem('removal_changed', {
    errors: `The list has changed since you saw it. It names ${removal.remaining} records now. Review it again, then decide.`,
  })
}

async function requireHeld(db: Queryable, key: DatasetKey): Promise<Removal> {
  const removal = await findCurrentRemoval(db, key)
  if (removal?.state === 'held') return removal
  throw new Problem('removal_unknown')
}

/** What waits at a location, as its sync status tells it, by dataset. */
export async function listHeldOf(db: Queryable, locationId: LocationId) {
  const held = (await listRemovals(db, [locationId])).filter((removal) => removal.state === 'held')
  return new Map(
    held.map(({ dataset, remaining, visible, heldAt }) => [dataset, { missing: remaining, visible, held_at: heldAt }]),
  )
}
