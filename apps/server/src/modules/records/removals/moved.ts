import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { textArray } from '../../../platform/database/bulk/binary-array.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { listWriters, listWrittenBy } from '../../agents/location-writer.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import { findLocation } from '../../directory/location.ts'
import { hideRecords } from '../write/change.ts'
import { takeTurn } from '../write/turn.ts'
import type { ListKey } from './complete-list-store.ts'
import { deleteRemoval, findCurrentRemoval, lockRemoval, nextSourceIds, takeOffHeld } from './removal-store.ts'

/**
 * What proves that another location of the same agent has a record now, and not only from before. `read`: it was received, or a complete list was
 * finished there, since this reading began. `listed`: a complete list was just finished there. `closed`: one was begun there since then.
 */
type Proof =
  | { kind: 'read'; beganAtUpload: string }
  | { kind: 'listed'; at: LocationId }
  | { kind: 'closed'; since: Date }

/** At most this many records are looked for and hidden in one turn. */
const sliceMax = 5_000

/**
 * Hides what waits at a location though it has only moved: another location to which the same agent writes has it in the same reading. What exists
 * nowhere any more waits on. `beganAtUpload`: of the reading whose list was just held; null: the location has closed. Returns how many records were hidden.
 */
export async function hideMoved(pool: Pool, key: DatasetKey, beganAtUpload: string | null): Promise<number> {
  const agentId = (await listWriters(pool, [key.locationId])).get(key.locationId)?.agentId
  if (agentId === undefined) return 0
  if (beganAtUpload !== null) return await hideProven(pool, key, agentId, { kind: 'read', beganAtUpload })
  const closedAt = (await findLocation(pool, key.locationId))?.closedAt ?? null
  return closedAt === null ? 0 : await hideProven(pool, key, agentId, { kind: 'closed', since: closedAt })
}

/** The same at all other locations of the agent, after a complete list of one of them was finished. */
export async function hideMovedTo(pool: Pool, { locationId, dataset, agentId }: ListKey): Promise<void> {
  for (const other of await listWrittenBy(pool, agentId)) {
    if (other === locationId) continue
    await hideProven(pool, { locationId: other, dataset }, agentId, { kind: 'listed', at: locationId })
  }
}

async function hideProven(pool: Pool, key: DatasetKey, agentId: AgentId, proof: Proof): Promise<number> {
  const { locationId, dataset } = key
  const held = await findCurrentRemoval(pool, key)
  if (held?.state !== 'held') return 0
  const places = await placesOf(pool, locationId, agentId, proof)
  let total = 0
  for (let after = '', isMore = places.length > 0; isMore; ) {
    const sourceIds = await nextSourceIds(pool, { ...held, afterSourceId: after }, sliceMax)
    after = sourceIds.at(-1) ?? after
    isMore = sourceIds.length === sliceMax
    // Most of what waits has gone and not moved: no turn is taken for it.
    if ((await findAt(pool, places, dataset, agentId, proof, sourceIds)).length === 0) continue
    total += await takeTurn(pool, locationId, dataset, async (turn) => {
      const removal = await lockRemoval(turn.client, held)
      if (!removal) return 0
      const moved = await findAt(turn.client, places, dataset, agentId, proof, sourceIds)
      const hidden = await hideRecords(turn, dataset, await takeOffHeld(turn.client, removal, moved))
      const rest = await lockRemoval(turn.client, held)
      if (rest?.remaining === 0) await deleteRemoval(turn.client, removal)
      return hidden
    })
  }
  return total
}

/** The locations that may have what has moved: all to which the agent writes, or the one whose list was just finished. */
async function placesOf(
  db: Queryable,
  locationId: LocationId,
  agentId: AgentId,
  proof: Proof,
): Promise<readonly LocationId[]> {
  if (proof.kind === 'listed') return [proof.at]
  return (await listWrittenBy(db, agentId)).filter((each) => each !== locationId)
}

/** Of these source ids, those that are visible at one of the places, as proven, and are not missing there too. By the unique index. */
async function findAt(
  db: Queryable,
  places: readonly LocationId[],
  dataset: DatasetName,
  agentId: AgentId,
  proof: Proof,
  sourceIds: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ source_id: string }>(
    `select distinct r.source_id
       from record r
      where r.location_id = any($1::bigint[]) and r.dataset = $2 and r.source_id = any($3::text[]) and not r.is_hidden
        and not exists (select 1
                          from removal_record listed
                          join removal m on m.location_id = listed.location_id and m.dataset = listed.dataset and m.id = listed.removal_id
                         where listed.location_id = r.location_id and listed.dataset = r.dataset
                           and listed.source_id = r.source_id and m.state <> 'dropped')
        and ${provenBy[proof.kind]}`,
    [places, dataset, textArray(sourceIds), agentId, proofValue(proof)],
  )
  return rows.map((row) => row.source_id)
}

const finishedList = `exists (select 1
                  from complete_list c
                 where c.location_id = r.location_id and c.dataset = r.dataset and c.agent_id = $4 and c.answer is not null`

const uploadsSince =
  'from upload u where u.location_id = any($1::bigint[]) and u.dataset = $2 and u.agent_id = $4 and u.number >= $5'

const provenBy: Readonly<Record<Proof['kind'], string>> = {
  read: `((r.agent_id = $4 and r.upload_number >= $5)
          or (r.location_id, r.source_id) in (select u.location_id, unnest(u.unchanged_keys) ${uploadsSince})
          or r.id <@ (select coalesce(range_agg(u.unchanged_ids), '{}') ${uploadsSince})
          or ${finishedList} and c.began_at_upload >= $5))`,
  listed: `r.location_id = $5 and ${finishedList})`,
  closed: `${finishedList} and c.begun_at >= $5)`,
}

function proofValue(proof: Proof): string | Date {
  if (proof.kind === 'read') return proof.beganAtUpload
  return proof.kind === 'listed' ? proof.at : proof.since
}
