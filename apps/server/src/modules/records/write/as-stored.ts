import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { keyArray } from '../../../platform/database/bulk/binary-array.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import { readLastStamp } from '../../datasets/dataset-state.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { hashSource } from './document.ts'
import { areStored, findPackedBody, type Neighbours } from './packed-body.ts'
import type { Turn } from './turn.ts'

/** Lines by their keys, which have no line feed, and `hashSource` of their attributes' texts as they were sent, one after the other. */
export type SentHashes = { sourceIds: readonly string[]; hashes: string }

/**
 * Lines that were found to be exactly what is stored, by themselves (`sent`) or as a whole body (`neighbours`). `stamp`: the dataset's last one before
 * the first of them was looked at.
 */
export type AsStored = { sent: readonly SentHashes[]; neighbours: Neighbours | null; stamp: Stamp }

/** Looks lines up before they are read. An equal hash proves that a text is the canonical one of a record that was checked and stored. */
export type StoredLookup = {
  /** The places of those that are not stored just so. */
  findOther: (sent: SentHashes) => Promise<ReadonlySet<number>>
  /** The lines of a packed body with this SHA-256; null where it is not known, or they are not all stored just so. */
  findBody: (sha256: string) => Promise<{ unpackedSha256: string; asStored: AsStored } | null>
  /** The dataset's last one before anything was looked up; 0: nothing was. */
  readonly stamp: Stamp
}

export function openStoredLookup(pool: Pool, locationId: LocationId, dataset: DatasetName): StoredLookup {
  let stamp: Stamp = 0
  let stampRead: Promise<Stamp> | null = null
  let isInOrder = true
  return {
    get stamp() {
      return stamp
    },
    async findBody(sha256) {
      const found = await findPackedBody(pool, locationId, dataset, sha256)
      if (!found) return null
      const { unpackedSha256, neighbours, stamp } = found
      return { unpackedSha256, asStored: { sent: [], neighbours, stamp } }
    },
    async findOther(sent) {
      stampRead ??= readLastStamp(pool, locationId, dataset)
      stamp = await stampRead
      if (!isInOrder) return findOther(pool, locationId, dataset, sent)
      const run = await readRun(pool, locationId, dataset, sent)
      // A stored key with a line feed would be taken for two: then there are fewer hashes than were sent.
      if (run.hashes === sent.hashes && run.sourceIds === sent.sourceIds.join('\n')) return new Set()
      const { other, elsewhere } = compare(run, sent)
      isInOrder = elsewhere.length < sent.sourceIds.length / 2
      for (const place of await findOther(pool, locationId, dataset, pick(sent, elsewhere))) {
        other.add(elsewhere[place] ?? -1)
      }
      return other
    },
  }
}

/** Those at these places. */
export function pick({ sourceIds, hashes }: SentHashes, places: readonly number[]): SentHashes {
  return {
    sourceIds: places.map((place) => sourceIds[place] ?? ''),
    hashes: places.map((place) => hashAt(hashes, place)).join(''),
  }
}

/**
 * To be called in the turn that counts these lines as unchanged: refuses with `busy` when one is no longer stored so. Whatever changes a source
 * draws a stamp of its dataset, but for the removal of notes, after which such a line changes nothing either.
 */
export async function requireAsStored(
  turn: Turn,
  dataset: DatasetName,
  { sent, neighbours, stamp }: AsStored,
): Promise<void> {
  if (turn.state(dataset).lastStamp === stamp) return
  const areSame = neighbours === null || (await areStored(turn.client, turn.locationId, dataset, neighbours))
  if (!areSame) throw new Problem('busy', { retryAfterSeconds: 1 })
  for (const part of sent) {
    const other = await findOther(turn.client, turn.locationId, dataset, part)
    if (other.size > 0) throw new Problem('busy', { retryAfterSeconds: 1 })
  }
}

/** Stored records that follow each other by id: their keys, one a line, and their hashes in hex, one after the other. */
type Run = { sourceIds: string; hashes: string }

/**
 * As many records by id as were sent, from the first that was sent on. An agent sends records again in the order in which they came first, so most
 * often these are the very same. Rows that are neighbours take PostgreSQL a fifth of the time that it takes to find each by its key.
 */
async function readRun(db: Pool, locationId: LocationId, dataset: DatasetName, sent: SentHashes): Promise<Run> {
  const { rows } = await db.query<[sourceIds: string | null, hashes: string | null]>({
    name: 'records.stored_run',
    text: `select string_agg(source_id, E'\n' order by id), encode(string_agg(source_hash, '' order by id), 'hex')
             from (select id, source_id, source_hash
                     from record
                    where location_id = $1 and dataset = $2
                      and id >= (select id from record where location_id = $1 and dataset = $2 and source_id = $3)
                    order by id
                    limit $4) as run`,
    values: [locationId, dataset, sent.sourceIds[0], sent.sourceIds.length],
    rowMode: 'array',
  })
  return { sourceIds: rows[0]?.[0] ?? '', hashes: rows[0]?.[1] ?? '' }
}

/** The places of what is stored in another way, and of what is not in the run. */
function compare({ sourceIds, hashes }: Run, sent: SentHashes): { other: Set<number>; elsewhere: number[] } {
  const stored = new Map<string, number>()
  const keys = sourceIds.split('\n')
  if (keys.length * hashLength === hashes.length) for (const [place, key] of keys.entries()) stored.set(key, place)
  const other = new Set<number>()
  const elsewhere: number[] = []
  for (const [place, sourceId] of sent.sourceIds.entries()) {
    const found = stored.get(sourceId)
    if (found === undefined) elsewhere.push(place)
    else if (hashAt(hashes, found) !== hashAt(sent.hashes, place)) other.add(place)
  }
  return { other, elsewhere }
}

function hashAt(hashes: string, place: number): string {
  return hashes.slice(place * hashLength, (place + 1) * hashLength)
}

const hashLength = hashSource('').length

async function findOther(
  db: Pick<PoolClient, 'query'>,
  locationId: LocationId,
  dataset: DatasetName,
  { sourceIds, hashes }: SentHashes,
): Promise<Set<number>> {
  if (sourceIds.length === 0) return new Set()
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
    values: [locationId, dataset, keyArray(sourceIds), keyArray(sourceIds.map((_, place) => hashAt(hashes, place)))],
    rowMode: 'array',
  })
  return new Set(rows.map(([index]) => index))
}
