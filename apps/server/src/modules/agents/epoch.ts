import type { Queryable } from '../../platform/database/queryable.ts'

/** The name of the time since the database was made or last restored. Agents that know another one compare everything. */
export async function currentEpoch(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ id: string }>('select id from service_epoch order by began_at desc, id limit 1')
  if (!rows[0]) throw new Error('the database has no epoch')
  return rows[0].id
}

/** Begins an epoch, because the database was restored from a backup. Random, so that no epoch that was lost comes again. */
export async function beginEpoch(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ id: string }>('insert into service_epoch default values returning id')
  if (!rows[0]) throw new Error('the epoch was not stored')
  return rows[0].id
}
