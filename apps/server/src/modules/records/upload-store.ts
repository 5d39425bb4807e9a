import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { keyArray } from '../../platform/database/binary-array.ts'
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

/** Whether the agent has given this number to another upload, of whatever location and dataset. */
export async function isNumberUsed(client: PoolClient, agentId: AgentId, number: string): Promise<boolean> {
  const { rows } = await client.query('select from upload where agent_id = $1 and number = $2 limit 1', [
    agentId,
    number,
  ])
  return rows.length > 0
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
      keyArray(unchangedSourceIds),
      receivedAt,
    ],
  )
}

/** Whether this agent has uploaded this dataset with a higher number: what comes now is older. Uses the primary key. */
export async function isNumberPassed(client: PoolClient, key: UploadKey): Promise<boolean> {
  const { rows } = await client.query(
    `select from upload
      where location_id = $1 and dataset = $2 and agent_id = $3 and number > $4
      limit 1`,
    [key.locationId, key.dataset, key.agentId, key.number],
  )
  return rows.length > 0
}

/**
 * Forgets uploads of more than 7 days ago, but for the last one of each agent and dataset: it tells which numbers come too late. Housekeeping:
 * goes over every location.
 */
export async function deleteOldUploads(pool: Pool, before: Date): Promise<void> {
  await pool.query(
    `delete from upload
      where received_at < $1
        and exists (select from upload later
                     where later.location_id = upload.location_id and later.dataset = upload.dataset
                       and later.agent_id = upload.agent_id and later.number > upload.number)`,
    [before],
  )
}
