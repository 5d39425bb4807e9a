import { createHash } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import { forgetProcesses } from './agent-process.ts'

/**
 * SQL for the name of the time since the database was made or last restored. What agents and vendors know of another epoch may be more, or something
 * else, than what the database has.
 */
export const currentEpoch = '(select id from service_epoch order by number desc limit 1)'

async function readEpoch(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ id: string | null }>(`select ${currentEpoch} as id`)
  if (!rows[0]?.id) throw new Error('the database has no epoch')
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
  const epoch = await readEpoch(db)
  const places = rows[0]?.places ?? null
  return places === null ? epoch : `${epoch}/${createHash('sha256').update(places).digest('hex').slice(0, 16)}`
}

/**
 * Begins an epoch, because the database was restored from a backup. Random, so that no epoch that was lost comes again. `stamp`: later than every
 * stamp of an earlier epoch, in microseconds.
 */
export async function beginEpoch(db: Queryable, stamp: number): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'insert into service_epoch (number, stamp) select max(number) + 1, $1 from service_epoch returning id',
    [stamp],
  )
  if (!rows[0]) throw new Error('the epoch was not stored')
  await forgetProcesses(db)
  return rows[0].id
}

/** An epoch: the stamp before which all that vendors know is of an earlier one, 0 for the first epoch; and when it began. */
export async function findEpoch(db: Queryable, id: string): Promise<{ stamp: number; beganAt: Date } | null> {
  const { rows } = await db.query<{ stamp: string; began_at: Date }>(
    'select stamp, began_at from service_epoch where id = $1',
    [id],
  )
  return rows[0] ? { stamp: Number(rows[0].stamp), beganAt: rows[0].began_at } : null
}
