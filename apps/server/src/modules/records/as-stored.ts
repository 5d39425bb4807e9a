import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { textArray } from '../../platform/database/binary-array.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { readLastStamp } from '../datasets/dataset-state.ts'
import type { Stamp } from '../datasets/stamp.ts'
import type { Turn } from './turn.ts'

/** A line by its key, and `hashSource` of its attributes' text as it was sent. */
export type SentHash = { sourceId: string; hash: string }

/** Lines that were found to be exactly what is stored. `stamp`: the dataset's last one before the first of them was looked at. */
export type AsStored = { sent: readonly SentHash[]; stamp: Stamp }

/** Looks lines up before they are read. An equal hash proves that a text is the canonical one of a record that was checked and stored. */
export type StoredLookup = {
  /** The indexes of those that are not stored just so. */
  findOther: (sent: readonly SentHash[]) => Promise<Set<number>>
  stamp: Stamp
}

export async function openStoredLookup(
  pool: Pool,
  locationId: LocationId,
  dataset: DatasetName,
): Promise<StoredLookup> {
  const stamp = await readLastStamp(pool, locationId, dataset)
  return { stamp, findOther: (sent) => findOther(pool, locationId, dataset, sent) }
}

/**
 * To be called in the turn that counts these lines as unchanged: refuses with `busy` when one is no longer stored so. Whatever changes a source
 * draws a stamp of its dataset, but for the removal of notes, after which such a line changes nothing either.
 */
export async function requireAsStored(turn: Turn, dataset: DatasetName, { sent, stamp }: AsStored): Promise<void> {
  if (sent.length === 0 || turn.state(dataset).lastStamp === stamp) return
  const other = await findOther(turn.client, turn.locationId, dataset, sent)
  if (other.size > 0) throw new Problem('busy', { retryAfterSeconds: 1 })
}

async function findOther(
  db: Pick<PoolClient, 'query'>,
  locationId: LocationId,
  dataset: DatasetName,
  sent: readonly SentHash[],
): Promise<Set<number>> {
  // The records are found as `findBySourceIds` finds them, whatever statistics there are; one look-up for each line might read the dataset for each.
  // The sub-selects hide the values from the planner, which would take a quarter of the time to estimate what they select.
  const { rows } = await db.query<[index: number]>({
    name: 'records.as_stored',
    text: `with stored as materialized (
             select source_id, source_hash
               from record
              where location_id = $1 and dataset = $2 and source_id = any((select $3::text[])::text[])
           )
           select (sent.place - 1)::integer
             from unnest((select $3::text[]), (select $4::text[])) with ordinality as sent (source_id, hash, place)
            where (sent.source_id, decode(sent.hash, 'hex')) not in (select source_id, source_hash from stored)`,
    values: [
      locationId,
      dataset,
      textArray(sent.map(({ sourceId }) => sourceId)),
      textArray(sent.map(({ hash }) => hash)),
    ],
    rowMode: 'array',
  })
  return new Set(rows.map(([index]) => index))
}
