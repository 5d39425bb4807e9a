import { hash } from 'node:crypto'
import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import type { LocationId } from '../../../platform/identity/identity.ts'
import { lastStampOf } from '../../datasets/dataset-state.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { findIds } from './write-store.ts'

type Db = Pick<PoolClient, 'query'>

/** Stored records that follow each other by id. `recordsSha256`: of `hashRecords`. */
export type Neighbours = { firstId: string; lastId: string; records: number; recordsSha256: string }

/** The records of an upload's lines, in its order, of which each line is in canonical form. */
export type SentRecords = Pick<Neighbours, 'records' | 'recordsSha256'> & {
  firstSourceId: string
  lastSourceId: string
}

/** An upload's body. `sha256`, in hex: of the body as it was sent, packed; `unpackedSha256`: of its lines. */
export type PackedBody = SentRecords & { sha256: string; unpackedSha256: string }

/** The SHA-256, in hex, of records by their keys, which have no line feed, and the `hashSource` of each. With their number it tells them apart. */
export function hashRecords(sourceIds: Iterable<string>, hashes: readonly string[]): string {
  const keys = [...sourceIds].join('\n')
  return hash('sha256', Buffer.concat([Buffer.from(keys), Buffer.from(hashes.join(''), 'hex')]))
}

/** What is stored of the records of `body`, in the form of `hashRecords`. Along the primary key. $1 and $2: location and dataset. */
const storedRecords = `lateral (
  select count(*) as records,
         sha256(convert_to(string_agg(source_id, E'\\n' order by id), 'UTF8') || string_agg(source_hash, '' order by id)) as sha256
    from (select id, source_id, source_hash
            from record
           where location_id = $1 and dataset = $2 and id >= body.first_id and id <= body.last_id
           order by id
           limit body.records + 1) as neighbours
  ) as stored`
const isStored = 'stored.records = body.records and stored.sha256 = body.records_sha256'

/** What is known of a packed body whose lines are all stored just so; null where it is not, or not known. `stamp`: the dataset's last one then. */
export async function findPackedBody(
  db: Db,
  locationId: LocationId,
  dataset: DatasetName,
  sha256: string,
): Promise<{ unpackedSha256: string; neighbours: Neighbours; stamp: Stamp } | null> {
  const { rows } = await db.query<[string, string, number, sha256: string, unpacked: string, stamp: string]>({
    name: 'records.packed_body',
    text: `select body.first_id, body.last_id, body.records, encode(body.records_sha256, 'hex'),
                  encode(body.unpacked_sha256, 'hex'), ${lastStampOf}
             from packed_body as body
            cross join ${storedRecords}
            where body.location_id = $1 and body.dataset = $2 and body.sha256 = decode($3, 'hex') and ${isStored}
            limit 1`,
    values: [locationId, dataset, sha256],
    rowMode: 'array',
  })
  const [row] = rows
  if (!row) return null
  const [firstId, lastId, records, recordsSha256, unpackedSha256, stamp] = row
  return { unpackedSha256, neighbours: { firstId, lastId, records, recordsSha256 }, stamp: Number(stamp) }
}

/** Whether these records are still stored as they were when they were found. */
export async function areStored(
  db: Db,
  locationId: LocationId,
  dataset: DatasetName,
  { firstId, lastId, records, recordsSha256 }: Neighbours,
): Promise<boolean> {
  const { rows } = await db.query<{ is_stored: boolean }>(
    `select ${isStored} as is_stored
       from (select $3::bigint as first_id, $4::bigint as last_id, $5::integer as records,
                    decode($6, 'hex') as records_sha256) as body
      cross join ${storedRecords}`,
    [locationId, dataset, firstId, lastId, records, recordsSha256],
  )
  return rows[0]?.is_stored === true
}

/**
 * Stores a body for later, in the turn that stores its records, if these are neighbours by id. One that begins within it goes. Both ends are looked up
 * at once: without statistics, as in a first sync, PostgreSQL may read the dataset through for each look-up by key.
 */
export async function savePackedBody(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  body: PackedBody,
): Promise<void> {
  const ends = await findIds(client, locationId, dataset, [body.firstSourceId, body.lastSourceId])
  const idOf = (sourceId: string) => ends.find((end) => end.source_id === sourceId)?.id
  await client.query(
    `with body as materialized (
       select body.*
         from (select $3::bigint as first_id, $4::bigint as last_id, $5::integer as records,
                      decode($6, 'hex') as records_sha256) as body
        cross join ${storedRecords}
        where ${isStored}
     ), overlapping as (
       delete from packed_body using body
        where packed_body.location_id = $1 and packed_body.dataset = $2
          and packed_body.first_id > body.first_id and packed_body.first_id <= body.last_id
     )
     insert into packed_body (location_id, dataset, first_id, last_id, records, records_sha256, sha256, unpacked_sha256)
     select $1, $2, first_id, last_id, records, records_sha256, decode($7, 'hex'), decode($8, 'hex') from body
         on conflict (location_id, dataset, first_id)
         do update set last_id = excluded.last_id, records = excluded.records, records_sha256 = excluded.records_sha256,
                       sha256 = excluded.sha256, unpacked_sha256 = excluded.unpacked_sha256`,
    [
      locationId,
      dataset,
      idOf(body.firstSourceId),
      idOf(body.lastSourceId),
      body.records,
      body.recordsSha256,
      body.sha256,
      body.unpackedSha256,
    ],
  )
}
