import { textArray } from '../../../platform/database/bulk/binary-array.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { AgentId } from '../../../platform/identity/identity.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'

/** Records of a dataset that are visible, by source id, after this one. By the unique index. */
export async function listVisible(
  db: Queryable,
  { locationId, dataset }: DatasetKey,
  afterSourceId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ source_id: string }>(
    `select source_id
       from record
      where location_id = $1 and dataset = $2 and source_id > $3 and not is_hidden
      order by source_id
      limit $4`,
    [locationId, dataset, afterSourceId, limit],
  )
  return rows.map((row) => row.source_id)
}

/** The reading of a complete list: by which agent, under which fence, and the number that its next upload had when it began. */
export type Reading = { agentId: AgentId; fence: string; beganAtUpload: string }

/**
 * Of these source ids, neighbours in their order, those of visible records that were not received since the reading began: neither written by a
 * later upload of the agent, nor sent again unchanged by one. What other agents sent was before: a location has one writer. Without a reading,
 * all that are visible. What a person decided to keep is not missing.
 */
export async function findMissing(
  db: Queryable,
  { locationId, dataset }: DatasetKey,
  reading: Reading | null,
  sourceIds: readonly string[],
): Promise<string[]> {
  const { agentId, beganAtUpload } = reading ?? noReading
  const { rows } = await db.query<{ source_id: string }>(
    `select source_id
       from record
      where location_id = $1 and dataset = $2 and ${among(5)} and not is_hidden
        and not (agent_id = $3 and upload_number >= $4)
        and source_id not in (select unnest(unchanged_keys)
                                from upload
                               where location_id = $1 and dataset = $2 and agent_id = $3 and number >= $4)
        and not id <@ (select coalesce(range_agg(unchanged_ids), '{}')
                         from upload
                        where location_id = $1 and dataset = $2 and agent_id = $3 and number >= $4)
        and source_id not in (select source_id
                                from removal_record
                               where location_id = $1 and dataset = $2 and ${among(5)}
                                 and removal_id in (select id from removal
                                                     where location_id = $1 and dataset = $2 and state = 'kept'))
      order by source_id`,
    [locationId, dataset, agentId, beganAtUpload, textArray(sourceIds)],
  )
  return rows.map((row) => row.source_id)
}

/** Nothing is later than it. */
const noReading = { agentId: '0', beganAtUpload: '9223372036854775807' }

/**
 * Names the rows between the first and the last of the source ids in `$n`, then those of them. So a slice of neighbours is read as a range of
 * the unique index; the many probes of `any` alone seem dear to a plan without statistics, which then reads the whole dataset each time.
 */
function among(n: number): string {
  const edge = (end: 'min' | 'max') => `(select ${end}(listed) from unnest($${n}::text[]) as listed)`
  return `source_id >= ${edge('min')} and source_id <= ${edge('max')} and (source_id = any($${n}::text[])) is true`
}
