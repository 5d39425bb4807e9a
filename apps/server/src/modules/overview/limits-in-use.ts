import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import type { SyncType } from '../throttle/slot-operations.ts'

/** Which locations each company syncs now, by company and type. */
export async function listSlotsInUse(
  db: Queryable,
): Promise<{ companyId: CompanyId; companyName: string; syncType: SyncType; locationIds: LocationId[] }[]> {
  const { rows } = await db.query<{
    company_id: CompanyId
    name: string
    sync_type: SyncType
    location_ids: LocationId[]
  }>(
    `select s.company_id, c.name, s.sync_type, array_agg(distinct s.location_id order by s.location_id) as location_ids
       from sync_slot s
       join company c on c.id = s.company_id
      where s.expires_at > clock_timestamp()
      group by s.company_id, c.name, s.sync_type
      order by c.name, s.company_id, s.sync_type`,
  )
  return rows.map((row) => ({
    companyId: row.company_id,
    companyName: row.name,
    syncType: row.sync_type,
    locationIds: row.location_ids,
  }))
}

/** Addresses that asked for tokens within the window, those with the most first; at most a hundred. Reads a minute of addresses. */
export async function listTokenAttempts(
  db: Queryable,
  windowMs: number,
): Promise<{ address: string; admitted: number; oldestAt: Date }[]> {
  const { rows } = await db.query<{ address: string; admitted: string; oldest_at: Date }>(
    `select address, count(*) as admitted, min(at) as oldest_at
       from token_attempt, unnest(admitted_at) as at
      where at > clock_timestamp() - $1 * interval '1 millisecond'
      group by address
      order by count(*) desc, address
      limit 100`,
    [windowMs],
  )
  return rows.map((row) => ({ address: row.address, admitted: Number(row.admitted), oldestAt: row.oldest_at }))
}

/** How much waits or is in use over the whole installation, and how large the database is. Counts a few small tables. */
export async function measureBacklog(
  db: Queryable,
): Promise<{ slots_in_use: number; rerender_waiting: number; mails_waiting: number; database_bytes: number }> {
  const { rows } = await db.query<Awaited<ReturnType<typeof measureBacklog>>>(
    `select (select count(*) from sync_slot where expires_at > clock_timestamp())::float8 as slots_in_use,
            (select count(*) from rerender_work)::float8 as rerender_waiting,
            (select count(*) from mail)::float8 as mails_waiting,
            pg_database_size(current_database())::float8 as database_bytes`,
  )
  if (!rows[0]) throw new Error('the counts returned no row')
  return rows[0]
}
