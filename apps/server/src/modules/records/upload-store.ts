import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'

type UploadKey = { locationId: LocationId; dataset: DatasetName; agentId: AgentId; number: string }

export async function findUpload(
  client: PoolClient,
  key: UploadKey,
): Promise<{ bodyHash: string; answer: string } | null> {
  const { rows } = await client.query<{ body_hash: string; answer: string }>(
    `select encode(body_hash, 'hex') as body_hash, answer
       from upload
      where location_id = $1 and dataset = $2 and agent_id = $3 and number = $4`,
    [key.locationId, key.dataset, key.agentId, key.number],
  )
  return rows[0] ? { bodyHash: rows[0].body_hash, answer: rows[0].answer } : null
}

export async function saveUpload(
  client: PoolClient,
  upload: UploadKey & { bodyHash: string },
  answer: string,
  unchangedSourceIds: readonly string[],
  receivedAt: Date,
): Promise<void> {
  await client.query(
    `insert into upload (location_id, dataset, agent_id, number, body_hash, answer, unchanged_source_ids, received_at)
     values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, $8)`,
    [
      upload.locationId,
      upload.dataset,
      upload.agentId,
      upload.number,
      upload.bodyHash,
      answer,
      unchangedSourceIds,
      receivedAt,
    ],
  )
}

/** Forgets uploads of more than 7 days ago. Housekeeping: goes over every location. */
export async function deleteOldUploads(pool: Pool, before: Date): Promise<void> {
  await pool.query(`delete from upload where received_at < $1`, [before])
}

/**
 * Visible records that a complete list of source ids, read from upload number `beganAtUpload` on, does not name. Left alone is what was
 * received after the reading began: written by a later upload of this agent, sent again unchanged by one, or written by another agent within
 * a day (the numbers of two agents cannot be compared).
 */
export async function findMissing(
  client: PoolClient,
  key: Omit<UploadKey, 'number'> & { beganAtUpload: string },
  sourceIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const { rows } = await client.query<{ source_id: string }>(
    `select record.source_id
       from record
      where record.location_id = $1 and record.dataset = $2 and not record.is_hidden
        and not exists (select from unnest($5::text[]) as listed (source_id) where listed.source_id = record.source_id)
        and not (record.agent_id = $3 and record.upload_number >= $4)
        and not (record.agent_id <> $3 and record.received_at > $6::timestamptz - interval '1 day')
        and not exists (select from upload, unnest(upload.unchanged_source_ids) as again (source_id)
                         where upload.location_id = $1 and upload.dataset = $2 and upload.agent_id = $3 and upload.number >= $4
                           and again.source_id = record.source_id)`,
    [key.locationId, key.dataset, key.agentId, key.beganAtUpload, sourceIds, now],
  )
  return rows.map((row) => row.source_id)
}
