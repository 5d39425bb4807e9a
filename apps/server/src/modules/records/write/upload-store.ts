import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { keyArray, textArray } from '../../../platform/database/bulk/binary-array.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'

type UploadKey = { locationId: LocationId; dataset: DatasetName; agentId: AgentId; number: string }

/** What is known of an upload's number. To be asked after `noteNumber`, behind which no other upload of the agent can take it. */
export async function findNumber(
  client: PoolClient,
  key: UploadKey,
): Promise<{
  /** The upload that has this key; null: there is none. */
  earlier: { bodyHash: string; answer: string } | null
  /** Whether the agent has given the number to any upload, of whatever location and dataset. */
  isUsed: boolean
  /** Whether the agent has uploaded this dataset with a higher number: what comes now is older. */
  isPassed: boolean
}> {
  const { rows } = await client.query<{
    body_hash: string
    answer: string | null
    is_used: boolean
    is_passed: boolean
  }>(
    `select encode(same.body_hash, 'hex') as body_hash, same.answer,
            exists (select 1 from upload where agent_id = $3 and number = $4) as is_used,
            exists (select 1 from upload
                     where location_id = $1 and dataset = $2 and agent_id = $3 and number > $4) as is_passed
       from (values (1)) one
       left join upload same on location_id = $1 and dataset = $2 and agent_id = $3 and number = $4`,
    [key.locationId, key.dataset, key.agentId, key.number],
  )
  const [row] = rows
  if (!row) throw new Error('the statement of a number returned no row')
  const earlier = row.answer === null ? null : { bodyHash: row.body_hash, answer: row.answer }
  return { earlier, isUsed: row.is_used, isPassed: row.is_passed }
}

/** Records that an upload names: some by their keys, others by their ids, as a value of int8multirange. */
export type Named = { keys: readonly string[]; ids: string }

export async function saveUpload(
  client: PoolClient,
  upload: UploadKey & { bodyHash: string },
  answer: string,
  unchanged: Named,
  receivedAt: Date,
): Promise<void> {
  await client.query(
    `insert into upload (location_id, dataset, agent_id, number, body_hash, answer, unchanged_keys, unchanged_ids, received_at)
     values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, $8, $9)`,
    [
      upload.locationId,
      upload.dataset,
      upload.agentId,
      upload.number,
      upload.bodyHash,
      answer,
      keyArray(unchanged.keys),
      unchanged.ids,
      receivedAt,
    ],
  )
}

/**
 * Forgets uploads of these locations from before then, but for the last one of each agent and dataset: it tells which numbers come too late. By
 * upload_received.
 */
export async function deleteOldUploads(pool: Pool, locationIds: readonly LocationId[], before: Date): Promise<void> {
  await pool.query(
    `delete from upload
      where location_id = any($1::bigint[]) and received_at < $2
        and exists (select 1 from upload later
                     where later.location_id = upload.location_id and later.dataset = upload.dataset
                       and later.agent_id = upload.agent_id and later.number > upload.number)`,
    [locationIds, before],
  )
}

/**
 * Takes what an upload names off every list of its dataset: the practice management system has it, or the upload removed it itself. A decision
 * to keep ends with its last record. To be called under the writers' turn of the upload. Costs one look at `removal` where there is no list.
 */
export async function takeOffRemovals(client: PoolClient, key: DatasetKey, { keys, ids }: Named): Promise<void> {
  // Most datasets have none, and the statement below costs more than this look even then.
  const { rows } = await client.query('select from removal_record where location_id = $1 and dataset = $2 limit 1', [
    key.locationId,
    key.dataset,
  ])
  if (rows.length === 0) return
  await client.query(
    `with taken as (
       delete from removal_record
        using removal
        where (removal.location_id, removal.dataset, removal_record.location_id, removal_record.dataset) = ($1, $2, $1, $2)
          and removal_record.removal_id = removal.id
          and removal_record.source_id in (select unnest($3::text[])
                                            union all
                                           select record.source_id
                                             from unnest($4::int8multirange) as ids
                                             join record on record.location_id = $1 and record.dataset = $2
                                                        and record.id >= lower(ids) and record.id < upper(ids))
        returning removal_id
     )
     update removal set remaining = remaining - counted.records,
            state = case when state = 'kept' and remaining = counted.records then 'dropped' else state end
       from (select removal_id, count(*) as records from taken group by removal_id) counted
      where removal.location_id = $1 and removal.dataset = $2 and removal.id = counted.removal_id`,
    [key.locationId, key.dataset, textArray(keys), ids],
  )
}
