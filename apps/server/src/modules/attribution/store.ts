import { randomBytes } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { LocationId } from '../../platform/identity/identity.ts'

/** Whether a website carries the script: seen within the last 30 days on a domain of the practice. */
export type InstallState = {
  isInstalled: boolean
  /** Since when it has been there without a break; null when it is not installed. */
  installedAt: Date | null
  lastSeenAt: Date | null
}

export type AttributionScript = InstallState & {
  locationId: LocationId
  /** Names the script: 128 random bits that say nothing of the practice. */
  key: string
  /** As the practice set them; none: those of the location's website. */
  domains: string[]
  excludedPaths: string[]
}

/** A website on which a script ran, and no more than its origin. */
export type Sighting = { origin: string; isOwnDomain: boolean; firstSeenAt: Date; lastSeenAt: Date }

const keptInstalled = `interval '30 days'`

/** SQL that is true when the website of that column's location carries the script: one text for all who ask. */
export function attributionInstalled(locationColumn: 'g.location_id'): string {
  return `exists (select 1 from attribution_script s
                   where s.location_id = ${locationColumn} and s.last_seen_at > now() - ${keptInstalled})`
}

/** Gives new locations their script. Hand down the transaction that inserts them. */
export async function insertAttributionScripts(db: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  await db.query(
    `insert into attribution_script (location_id, key)
     select location_id, key from unnest($1::bigint[], $2::text[]) as given (location_id, key)
         on conflict (location_id) do nothing`,
    [locationIds, locationIds.map(() => randomBytes(16).toString('base64url'))],
  )
}

/** Adds the scripts that these locations lack: they were made before scripts existed. Called at every start. */
export async function ensureAttributionScripts(db: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  const { rows } = await db.query<{ id: LocationId }>(
    `select id
       from unnest($1::bigint[]) as wanted (id)
      where not exists (select 1 from attribution_script s where s.location_id = wanted.id)`,
    [locationIds],
  )
  await insertAttributionScripts(
    db,
    rows.map((row) => row.id),
  )
}

/** The script of that key, or null. */
export async function findScriptByKey(db: Queryable, key: string): Promise<AttributionScript | null> {
  const { rows } = await db.query<RowOf<AttributionScript>>(
    `select ${scriptColumns} from attribution_script s where s.key = $1`,
    [key],
  )
  return rows[0] ? fromRow<AttributionScript>(rows[0]) : null
}

/** The scripts of these locations, by location. */
export async function listScripts(
  db: Queryable,
  locationIds: readonly LocationId[],
): Promise<Map<LocationId, AttributionScript>> {
  const { rows } = await db.query<RowOf<AttributionScript>>(
    `select ${scriptColumns} from attribution_script s where s.location_id = any($1::bigint[])`,
    [locationIds],
  )
  return new Map(rows.map((row) => [row.location_id, fromRow<AttributionScript>(row)]))
}

/** Holds a location's script until the transaction ends, so that its sightings are counted and judged one after the other. */
export async function lockScript(client: Queryable, locationId: LocationId): Promise<AttributionScript> {
  const { rows } = await client.query<RowOf<AttributionScript>>(
    `select ${scriptColumns} from attribution_script s where s.location_id = $1 for no key update`,
    [locationId],
  )
  if (!rows[0]) throw new Error(`location ${locationId} has no attribution script`)
  return fromRow<AttributionScript>(rows[0])
}

export async function saveScriptSettings(
  client: Queryable,
  locationId: LocationId,
  settings: { domains: readonly string[]; excludedPaths: readonly string[] },
): Promise<void> {
  await client.query('update attribution_script set domains = $2, excluded_paths = $3 where location_id = $1', [
    locationId,
    settings.domains,
    settings.excludedPaths,
  ])
}

/**
 * Notes that a script ran on an origin: a known one at most once an hour, a new one while there are fewer than `max` of its kind. Call it
 * under `lockScript`, else two of them count the same.
 */
export async function saveSighting(
  client: Queryable,
  sighting: { locationId: LocationId; origin: string; isOwnDomain: boolean; max: number },
): Promise<void> {
  await client.query(
    `insert into attribution_sighting as s (location_id, origin, is_own_domain, first_seen_at, last_seen_at)
     select $1, $2, $3, now(), now()
      where exists (select 1 from attribution_sighting where location_id = $1 and origin = $2)
         or (select count(*) from attribution_sighting where location_id = $1 and is_own_domain = $3) < $4
         on conflict (location_id, origin) do update
        set is_own_domain = excluded.is_own_domain, last_seen_at = excluded.last_seen_at,
            first_seen_at = case when excluded.last_seen_at - s.last_seen_at < ${keptInstalled}
                                 then s.first_seen_at else excluded.first_seen_at end
      where excluded.last_seen_at - s.last_seen_at > interval '1 hour' or s.is_own_domain <> excluded.is_own_domain`,
    [sighting.locationId, sighting.origin, sighting.isOwnDomain, sighting.max],
  )
}

/** Notes that the script was seen on a domain of the practice, at most once an hour. After 30 days without, it is installed anew. */
export async function saveInstallation(client: Queryable, locationId: LocationId): Promise<void> {
  await client.query(
    `with moment as (
       select now() as at, now() - interval '1 hour' as an_hour_ago, now() - ${keptInstalled} as installed_since)
     update attribution_script
        set installed_at = case when last_seen_at > moment.installed_since then installed_at else moment.at end,
            last_seen_at = moment.at
       from moment
      where location_id = $1 and (last_seen_at is null or last_seen_at < moment.an_hour_ago)`,
    [locationId],
  )
}

/** Judges what was seen so far by other domains: `ownOrigins` are the practice's, no other is. */
export async function judgeSightings(
  client: Queryable,
  locationId: LocationId,
  ownOrigins: readonly string[],
): Promise<void> {
  await client.query(
    'update attribution_sighting set is_own_domain = (origin = any($2::text[])) where location_id = $1',
    [locationId, ownOrigins],
  )
  await client.query(
    `with seen as (
       select min(first_seen_at) filter (where last_seen_at > now() - ${keptInstalled}) as installed_at,
              max(last_seen_at) as last_seen_at
         from attribution_sighting
        where location_id = $1 and is_own_domain)
     update attribution_script
        set installed_at = seen.installed_at, last_seen_at = seen.last_seen_at
       from seen
      where location_id = $1`,
    [locationId],
  )
}

/** Where these locations' scripts were seen, the latest first. */
export async function listSightings(
  db: Queryable,
  locationIds: readonly LocationId[],
): Promise<Map<LocationId, Sighting[]>> {
  const { rows } = await db.query<RowOf<Sighting & { locationId: LocationId }>>(
    `select location_id, origin, is_own_domain, first_seen_at, last_seen_at
       from attribution_sighting
      where location_id = any($1::bigint[])
      order by last_seen_at desc, origin`,
    [locationIds],
  )
  const sightings = rows.map(fromRow<Sighting & { locationId: LocationId }>)
  return Map.groupBy(sightings, (sighting) => sighting.locationId)
}

/** Forgets origins of these locations that are not the practice's after 30 days, which makes room for others. */
export async function deleteOldSightings(db: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  await db.query(
    `delete from attribution_sighting
      where location_id = any($1::bigint[]) and not is_own_domain and last_seen_at < now() - ${keptInstalled}`,
    [locationIds],
  )
}

/** Every column that an InstallState is made of, under the table's name `s`. */
export const installColumns = `s.last_seen_at, coalesce(s.last_seen_at > now() - ${keptInstalled}, false) as is_installed,
  case when s.last_seen_at > now() - ${keptInstalled} then s.installed_at end as installed_at`

const scriptColumns = `s.location_id, s.key, s.domains, s.excluded_paths, ${installColumns}`
