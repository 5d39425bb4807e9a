import { createHash } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'

/** The name of the time since the database was made or last restored. Agents that know another one compare everything. */
async function currentEpoch(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ id: string }>('select id from service_epoch order by began_at desc, id limit 1')
  if (!rows[0]) throw new Error('the database has no epoch')
  return rows[0].id
}

/**
 * The name under which an agent knows the copy of its organization's locations: the epoch, and where it writes in place of another. So one that a person brings back after another
 * agent wrote compares everything too.
 */
export async function epochOf(db: Queryable, agentId: AgentId, locationIds: readonly LocationId[]): Promise<string> {
  const { rows } = await db.query<{ places: string | null }>(
    `select string_agg(location_id || ':' || fence, ',' order by location_id) as places
       from location_writer
      where location_id = any($1::bigint[]) and agent_id = $2 and fence > 1`,
    [locationIds, agentId],
  )
  const epoch = await currentEpoch(db)
  const places = rows[0]?.places ?? null
  return places === null ? epoch : `${epoch}/${createHash('sha256').update(places).digest('hex').slice(0, 16)}`
}

/** Begins an epoch, because the database was restored from a backup. Random, so that no epoch that was lost comes again. */
export async function beginEpoch(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ id: string }>('insert into service_epoch default values returning id')
  if (!rows[0]) throw new Error('the epoch was not stored')
  return rows[0].id
}
