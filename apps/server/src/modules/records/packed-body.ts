import { hash } from 'node:crypto'
import type { DatasetName } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import type { LocationId } from '../../platform/identity/identity.ts'
import { lastStampOf } from '../datasets/dataset-state.ts'
import type { Stamp } from '../datasets/stamp.ts'
import { isStored, type Neighbours, type StoredRun, storedRecords } from './line-run.ts'

type Db = Pick<PoolClient, 'query'>

/** An upload's body that is nothing but these runs, in its order. `sha256`, in hex: of the body as it was sent, packed; `unpackedSha256`: of its lines. */
export type PackedBody<Run> = { sha256: string; unpackedSha256: string; runs: readonly Run[] }

/**
 * What is known of a packed body whose lines are all stored just so; null where it is not, or not known. `stamp`: the dataset's last one then. What
 * is read is no more than an upload may have.
 */
export async function findPackedBody(
  db: Db,
  locationId: LocationId,
  dataset: DatasetName,
  sha256: string,
): Promise<{ unpackedSha256: string; runs: Neighbours[]; stamp: Stamp } | null> {
  type Row = [string, string, number, string, sha256: string, unpacked: string, runsSha256: string, stamp: string]
  const { rows } = await db.query<Row>({
    name: 'records.packed_body',
    text: `select run.first_id, run.last_id, run.records, encode(run.records_sha256, 'hex'), encode(run.sha256, 'hex'),
                  encode(body.unpacked_sha256, 'hex'), encode(body.runs_sha256, 'hex'), ${lastStampOf}
             from packed_body as body
             join line_run as run
               on run.location_id = $1 and run.dataset = $2 and run.first_id = any(body.first_ids)
            cross join ${storedRecords}
            where body.location_id = $1 and body.dataset = $2 and body.sha256 = decode($3, 'hex') and ${isStored}
            order by run.first_id`,
    values: [locationId, dataset, sha256],
    rowMode: 'array',
  })
  const [first] = rows
  if (!first) return null
  const [, , , , , unpackedSha256, runsSha256, stamp] = first
  if (hashRuns(rows.map((row) => ({ sha256: row[4] }))) !== runsSha256) return null
  const runs = rows.map(([firstId, lastId, records, recordsSha256]) => ({ firstId, lastId, records, recordsSha256 }))
  return { unpackedSha256, runs, stamp: Number(stamp) }
}

/** Stores a body for later, in the turn that stores its records. One that begins within it goes, so there are never more of them than runs. */
export async function savePackedBody(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  { sha256, unpackedSha256, runs }: PackedBody<Pick<StoredRun, 'firstId' | 'lastId' | 'sha256'>>,
): Promise<void> {
  const [first, last] = [runs[0], runs.at(-1)]
  if (!first || !last) return
  await client.query(
    `with overlapping as (
       delete from packed_body where location_id = $1 and dataset = $2 and first_id > $3 and first_id <= $4
     )
     insert into packed_body (location_id, dataset, first_id, first_ids, sha256, unpacked_sha256, runs_sha256)
     values ($1, $2, $3, $5, decode($6, 'hex'), decode($7, 'hex'), decode($8, 'hex'))
         on conflict (location_id, dataset, first_id)
         do update set first_ids = excluded.first_ids, sha256 = excluded.sha256,
                       unpacked_sha256 = excluded.unpacked_sha256, runs_sha256 = excluded.runs_sha256`,
    [
      locationId,
      dataset,
      first.firstId,
      last.lastId,
      runs.map((run) => run.firstId),
      sha256,
      unpackedSha256,
      hashRuns(runs),
    ],
  )
}

function hashRuns(runs: readonly Pick<StoredRun, 'sha256'>[]): string {
  return hash('sha256', Buffer.from(runs.map((run) => run.sha256).join(''), 'hex'))
}
