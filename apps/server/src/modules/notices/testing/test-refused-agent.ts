import type { Queryable } from '../../../platform/database/queryable.ts'

/** The location is written by the one agent, which another one wanted to do just now. */
export async function refuseAgent(
  db: Queryable,
  { location, by, refused }: { location: string; by: string; refused: string },
): Promise<void> {
  await db.query(
    `insert into location_writer (location_id, agent_id, taken_at, refused_agent_id, refused_at) values ($1, $2, now(), $3, now())
         on conflict (location_id) do update set refused_agent_id = excluded.refused_agent_id, refused_at = excluded.refused_at`,
    [location, by, refused],
  )
}
