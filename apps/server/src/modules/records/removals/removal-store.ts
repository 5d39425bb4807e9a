import { randomUUID } from 'node:crypto'
import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { textArray } from '../../../platform/database/bulk/binary-array.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../../platform/database/rows.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import { findDue } from '../write/background-work.ts'

export type RemovalState = 'requested' | 'listing' | 'held' | 'running' | 'kept' | 'dropped'

/** A list of records of a location's dataset that are to be hidden. `0001_schema.sql` describes its states. */
export type Removal = {
  locationId: LocationId
  dataset: DatasetName
  id: string
  state: RemovalState
  /** Names the list that a person saw; null while it is being made. */
  listHash: string | null
  /** Visible records when it was held. */
  visible: number
  /** Records that are still on the list. */
  remaining: number
  hidden: number
  afterSourceId: string
  heldAt: Date | null
  /** When a person decided that its records stay. */
  decidedAt: Date | null
  attempts: number
  lastError: string | null
}

/** A removal whose list is whole. */
export type CurrentRemoval = Removal & { state: 'held' | 'running'; listHash: string; heldAt: Date }

/** A removal that a person rejected: its records stay visible though the practice management system does not have them. */
export type KeptRemoval = Removal & { state: 'kept'; listHash: string; heldAt: Date; decidedAt: Date }

const columns = `location_id, dataset, id, state, list_hash, visible, remaining, hidden, after_source_id, held_at, decided_at, attempts, last_error`

type Row = RowOf<Omit<Removal, Counter> & Record<Counter, string>>
type Counter = 'visible' | 'remaining' | 'hidden'

function toRemoval(row: Row): Removal {
  const removal = fromRow<Omit<Removal, Counter> & Record<Counter, string>>(row)
  const { visible, remaining, hidden } = removal
  return { ...removal, visible: Number(visible), remaining: Number(remaining), hidden: Number(hidden) }
}

/** Of a row that is held or running: `finishList` gave it the rest. */
function toCurrent(row: Row): CurrentRemoval {
  return toRemoval(row) as CurrentRemoval
}

/** The removal that is held or running. A dataset has one at most. */
export async function findCurrentRemoval(db: Queryable, key: DatasetKey): Promise<CurrentRemoval | null> {
  const { rows } = await db.query<Row>(
    `select ${columns} from removal where location_id = $1 and dataset = $2 and state in ('held', 'running')`,
    [key.locationId, key.dataset],
  )
  return rows[0] ? toCurrent(rows[0]) : null
}

/** The removals that are held or running, of these locations or of all (null), the oldest first. */
export async function listRemovals(
  db: Queryable,
  locationIds: readonly LocationId[] | null,
): Promise<CurrentRemoval[]> {
  const { rows } = await db.query<Row>(
    `select ${columns}
       from removal
      where state in ('held', 'running') ${locationIds === null ? '' : 'and location_id = any($1::bigint[])'}
      order by created_at, location_id, dataset`,
    locationIds === null ? [] : [locationIds],
  )
  return rows.map(toCurrent)
}

/** What people decided to keep at these locations, as far as it is still missing, the oldest decision first. */
export async function listKept(db: Queryable, locationIds: readonly LocationId[]): Promise<KeptRemoval[]> {
  const { rows } = await db.query<Row>(
    `select ${columns}
       from removal
      where location_id = any($1::bigint[]) and state = 'kept'
      order by decided_at, location_id, dataset, id`,
    [locationIds],
  )
  // `keepRemoval` makes them of held ones.
  return rows.map((row) => toRemoval(row) as KeptRemoval)
}

/** A person decided that the records of a held removal stay. */
export async function keepRemoval(db: Queryable, removal: DatasetKey & { id: string }, now: Date): Promise<void> {
  await db.query(
    `update removal set state = 'kept', decided_at = $4 where location_id = $1 and dataset = $2 and id = $3`,
    [removal.locationId, removal.dataset, removal.id, now],
  )
}

/** Ends the decisions to keep records of a dataset: the next complete list that misses them asks again. False: there was none. */
export async function dropKept(db: Queryable, { locationId, dataset }: DatasetKey): Promise<boolean> {
  const { rowCount } = await db.query(
    `update removal set state = 'dropped', after_source_id = '' where location_id = $1 and dataset = $2 and state = 'kept'`,
    [locationId, dataset],
  )
  return rowCount !== 0
}

/** How many records of a dataset are kept by decisions. */
export async function countKept(db: Queryable, { locationId, dataset }: DatasetKey): Promise<number> {
  const { rows } = await db.query<{ kept: string }>(
    `select coalesce(sum(remaining), 0) as kept from removal where location_id = $1 and dataset = $2 and state = 'kept'`,
    [locationId, dataset],
  )
  return Number(rows[0]?.kept)
}

/** A removal as it stands now that the turn is held; null when it is not in that state any more. */
export async function lockRemoval(
  client: PoolClient,
  removal: DatasetKey & Pick<Removal, 'id' | 'state'>,
): Promise<Removal | null> {
  const { rows } = await client.query<Row>(
    `select ${columns} from removal where location_id = $1 and dataset = $2 and id = $3 and state = $4 for update`,
    [removal.locationId, removal.dataset, removal.id, removal.state],
  )
  return rows[0] ? toRemoval(rows[0]) : null
}

/** Begins a list, empty as yet. */
export async function insertRemoval(db: Queryable, key: DatasetKey): Promise<string> {
  const id = randomUUID()
  await db.query(`insert into removal (location_id, dataset, id, state) values ($1, $2, $3, 'listing')`, [
    key.locationId,
    key.dataset,
    id,
  ])
  return id
}

/** Asks the remover for a list of all records of these datasets, where none is asked for, held or running. */
export async function requestRemovals(db: Queryable, keys: readonly DatasetKey[]): Promise<void> {
  await db.query(
    `insert into removal (location_id, dataset, id, state)
     select asked.location_id, asked.dataset, gen_random_uuid(), 'requested'
       from unnest($1::bigint[], $2::text[]) as asked (location_id, dataset)
      where not exists (select 1 from removal
                         where removal.location_id = asked.location_id and removal.dataset = asked.dataset
                           and removal.state not in ('kept', 'dropped'))
         on conflict do nothing`,
    [keys.map((key) => key.locationId), keys.map((key) => key.dataset)],
  )
}

/** Puts source ids on a list that is being made. The writers' turn must be held, or an upload's records could get on it. */
export async function addToRemoval(
  client: PoolClient,
  key: DatasetKey,
  id: string,
  sourceIds: readonly string[],
): Promise<void> {
  if (sourceIds.length === 0) return
  await client.query(
    `insert into removal_record (location_id, dataset, removal_id, source_id) select $1, $2, $3, unnest($4::text[])`,
    [key.locationId, key.dataset, id, textArray(sourceIds)],
  )
  await client.query(
    `update removal set remaining = remaining + $4 where location_id = $1 and dataset = $2 and id = $3`,
    [key.locationId, key.dataset, id, sourceIds.length],
  )
}

/** Ends the making of a list: it is held or running now. */
export async function finishList(
  client: PoolClient,
  listed: DatasetKey & { id: string },
  end: Pick<CurrentRemoval, 'state' | 'listHash' | 'visible' | 'heldAt'>,
): Promise<void> {
  await client.query(
    `update removal set state = $4, list_hash = $5, visible = $6, held_at = $7
      where location_id = $1 and dataset = $2 and id = $3`,
    [listed.locationId, listed.dataset, listed.id, end.state, end.listHash, end.visible, end.heldAt],
  )
}

/** Hashes of one length: no two lists run together into the same bytes. */
const hash = `encode(substring(sha256(string_agg(sha256(convert_to(source_id, 'UTF8')), '' order by source_id)) for 8), 'hex') as hash`

/** The name of a list: the same for the same source ids, in whichever order. */
export async function hashSourceIds(db: Queryable, sourceIds: readonly string[]): Promise<string> {
  const { rows } = await db.query<{ hash: string }>(`select ${hash} from unnest($1::text[]) as listed (source_id)`, [
    textArray(sourceIds),
  ])
  return rows[0]?.hash ?? ''
}

/** The same of what is on a list. */
export async function hashRemoval(db: Queryable, key: DatasetKey, id: string): Promise<string> {
  const { rows } = await db.query<{ hash: string }>(
    `select ${hash} from removal_record where location_id = $1 and dataset = $2 and removal_id = $3`,
    [key.locationId, key.dataset, id],
  )
  return rows[0]?.hash ?? ''
}

/** How many of these source ids are on a list. */
export async function countListed(
  db: Queryable,
  key: DatasetKey,
  id: string,
  sourceIds: readonly string[],
): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from removal_record
      where location_id = $1 and dataset = $2 and removal_id = $3 and source_id = any($4::text[])`,
    [key.locationId, key.dataset, id, textArray(sourceIds)],
  )
  return Number(rows[0]?.count)
}

/** The next source ids of a list after the slices that are done. */
export async function nextSourceIds(db: Queryable, removal: Removal, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ source_id: string }>(
    `select source_id from removal_record
      where location_id = $1 and dataset = $2 and removal_id = $3 and source_id > $4
      order by source_id
      limit $5`,
    [removal.locationId, removal.dataset, removal.id, removal.afterSourceId, limit],
  )
  return rows.map((row) => row.source_id)
}

/** Saves that a slice is done: its rows go, and the removal runs on after them. */
export async function saveSlice(
  client: PoolClient,
  removal: Removal,
  done: { sourceIds: readonly string[]; hidden: number },
): Promise<void> {
  await deleteListed(client, removal, done.sourceIds)
  await client.query(
    `update removal
        set state = 'running', remaining = remaining - $4, hidden = hidden + $5, after_source_id = $6, attempts = 0, last_error = null
      where location_id = $1 and dataset = $2 and id = $3`,
    [
      removal.locationId,
      removal.dataset,
      removal.id,
      done.sourceIds.length,
      done.hidden,
      done.sourceIds.at(-1) ?? removal.afterSourceId,
    ],
  )
}

/** Takes source ids off a held list, which has another name then. Returns those that were on it. */
export async function takeOffHeld(
  client: PoolClient,
  removal: Removal,
  sourceIds: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ source_id: string }>(
    `delete from removal_record
      where location_id = $1 and dataset = $2 and removal_id = $3 and source_id = any($4::text[])
     returning source_id`,
    [removal.locationId, removal.dataset, removal.id, textArray(sourceIds)],
  )
  await client.query(
    `update removal set remaining = remaining - $4, list_hash = $5 where location_id = $1 and dataset = $2 and id = $3`,
    [removal.locationId, removal.dataset, removal.id, rows.length, await hashRemoval(client, removal, removal.id)],
  )
  return rows.map((row) => row.source_id)
}

/** Rows of a list. Those of a dropped one need no turn: they are never read again. */
export async function deleteListed(db: Queryable, removal: Removal, sourceIds: readonly string[]): Promise<void> {
  await db.query(
    `delete from removal_record
      where location_id = $1 and dataset = $2 and removal_id = $3 and source_id = any($4::text[])`,
    [removal.locationId, removal.dataset, removal.id, textArray(sourceIds)],
  )
}

export async function deleteRemoval(db: Queryable, removal: DatasetKey & { id: string }): Promise<void> {
  await db.query(`delete from removal where location_id = $1 and dataset = $2 and id = $3`, [
    removal.locationId,
    removal.dataset,
    removal.id,
  ])
}

/** No decision about this list is possible any more; the remover deletes its rows. */
export async function dropRemoval(db: Queryable, removal: DatasetKey & { id: string }): Promise<void> {
  await db.query(
    `with moment as (select now() as at)
     update removal set state = 'dropped', after_source_id = '', attempts = 0, next_attempt_at = moment.at, last_error = null
       from moment
      where location_id = $1 and dataset = $2 and id = $3`,
    [removal.locationId, removal.dataset, removal.id],
  )
}

/** Drops what waits or is kept at these locations, and what is being listed there: they have closed, or are open again. What runs goes on. */
export async function dropWaitingRemovals(db: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  await db.query(
    `update removal set state = 'dropped'
      where location_id = any($1::bigint[]) and state in ('requested', 'listing', 'held', 'kept')`,
    [locationIds],
  )
}

/** Drops lists whose making was broken off an hour ago or earlier, or before the clock went back by more. Housekeeping: goes over every location. */
export async function dropBrokenLists(db: Queryable): Promise<void> {
  await db.query(
    `update removal set state = 'dropped'
      where state = 'listing' and created_at not between now() - interval '1 hour' and now() + interval '1 hour'`,
  )
}

/** A removal that the remover has something to do for, of the next location after this one. Housekeeping: goes over every location. */
export async function findRemovalWork(pool: Pool, after: LocationId): Promise<Removal | null> {
  const row = await findDue<Row>(pool, 'removal', columns, `and state in ('requested', 'running', 'dropped')`, after)
  return row && toRemoval(row)
}
