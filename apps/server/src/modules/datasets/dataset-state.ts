import {
  type DatasetName,
  datasetNames,
  datasets,
  getDataset,
  renderingOf,
  sinceOf,
  vendorAttribute,
} from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { deltaOverlapMicros, type Stamp } from './stamp.ts'

/** One dataset of one location. */
export type DatasetKey = { locationId: LocationId; dataset: DatasetName }

/** What is known of one dataset of a location as a whole. Stamps are microseconds since 1970, safe as numbers until the year 2255. */
export type DatasetState = {
  readonly firstStamp: number
  readonly lastStamp: number
  readonly total: number
  readonly visible: number
  readonly syncedAt: Date | null
  readonly initialSyncCompletedAt: Date | null
  /** False: the practice management system, or its export, does not have this dataset. */
  readonly isProvided: boolean
}

export type DatasetStateRow = {
  first_stamp: string
  last_stamp: string
  total: string
  visible: string
  synced_at: Date | null
  initial_sync_completed_at: Date | null
  is_provided: boolean
}

export function toDatasetState(row: DatasetStateRow): DatasetState {
  return {
    firstStamp: Number(row.first_stamp),
    lastStamp: Number(row.last_stamp),
    total: Number(row.total),
    visible: Number(row.visible),
    syncedAt: row.synced_at,
    initialSyncCompletedAt: row.initial_sync_completed_at,
    isProvided: row.is_provided,
  }
}

/**
 * Gives new locations a state of every dataset, so that a watermark and a lock for writers exist from the first moment on. Hand down the
 * transaction that inserts the locations.
 */
export async function insertDatasetStates(client: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  const stamp = await databaseStamp(client)
  await client.query(
    `insert into dataset_state (location_id, dataset, first_stamp, last_stamp, rendering)
     select location_id, named.dataset, $3, $3, named.rendering
       from unnest($1::bigint[]) location_id
      cross join unnest($2::text[], $4::smallint[]) as named (dataset, rendering)
         on conflict (location_id, dataset) do nothing`,
    [locationIds, datasetNames, stamp, renderings],
  )
}

/** Adds what these locations lack: the state of a dataset that came into the contract after them. Called at every start. */
export async function ensureDatasetStates(client: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  // Most often none lacks any, and to count them costs a tenth of looking for each.
  const { rows } = await client.query<{ states: string }>(
    `select count(*) filter (where dataset = any($2::text[])) as states from dataset_state where location_id = any($1::bigint[])`,
    [locationIds, datasetNames],
  )
  if (Number(rows[0]?.states) === locationIds.length * datasetNames.length) return
  const stamp = await databaseStamp(client)
  await client.query(
    `insert into dataset_state (location_id, dataset, first_stamp, last_stamp, rendering)
     select wanted.location_id, named.dataset, $3, $3, named.rendering
       from unnest($1::bigint[]) as wanted (location_id)
      cross join unnest($2::text[], $4::smallint[]) as named (dataset, rendering)
      where not exists (
            select 1 from dataset_state s where s.location_id = wanted.location_id and s.dataset = named.dataset)
         on conflict (location_id, dataset) do nothing`,
    [locationIds, datasetNames, stamp, renderings],
  )
}

/** The number of each dataset's rendering, in the order of `datasetNames`. */
const renderings = datasets.map(renderingOf)

/** The datasets of these locations whose stored documents have a lower rendering than the contract's. */
export async function listEarlierRenderings(
  db: Queryable,
  locationIds: readonly LocationId[],
): Promise<{ locationId: LocationId; dataset: DatasetName }[]> {
  const { rows } = await db.query<{ location_id: LocationId; dataset: DatasetName }>(
    `select location_id, s.dataset
       from dataset_state s
       join unnest($1::text[], $2::smallint[]) as current (dataset, rendering) on current.dataset = s.dataset
      where s.location_id = any($3::bigint[]) and s.rendering < current.rendering`,
    [datasetNames, renderings, locationIds],
  )
  return rows.map((row) => ({ locationId: row.location_id, dataset: row.dataset }))
}

/** All documents of this dataset have the contract's rendering now. Hand down the turn that ended it. */
export async function saveRendering(client: Queryable, locationId: LocationId, dataset: DatasetName): Promise<void> {
  await client.query('update dataset_state set rendering = $3 where location_id = $1 and dataset = $2', [
    locationId,
    dataset,
    renderingOf(getDataset(dataset)),
  ])
}

/** `attributesNotProvided`: those that the location's practice management system never has, by the names that vendors see. */
export type ListedState = DatasetState & { readonly attributesNotProvided: readonly string[] }

/** The states of these locations' datasets, in the contract's order. */
export async function listDatasetStates(
  db: Queryable,
  locationIds: readonly LocationId[],
): Promise<Map<LocationId, Map<DatasetName, ListedState>>> {
  const { rows } = await db.query<
    DatasetStateRow & { location_id: LocationId; dataset: DatasetName; attributes_not_provided: string[] }
  >(
    `select location_id, dataset, first_stamp, last_stamp, total, visible, synced_at, initial_sync_completed_at,
            is_provided, attributes_not_provided
       from dataset_state
      where location_id = any($1::bigint[])
      order by array_position($2::text[], dataset)`,
    [locationIds, datasetNames],
  )
  const byLocation = new Map<LocationId, Map<DatasetName, ListedState>>()
  for (const row of rows) {
    const states = byLocation.get(row.location_id) ?? new Map<DatasetName, ListedState>()
    const state = { ...toDatasetState(row), attributesNotProvided: row.attributes_not_provided }
    byLocation.set(row.location_id, states.set(row.dataset, state))
  }
  return byLocation
}

/** The stamp of the last change of a dataset, for a statement that proves something as of it. $1 and $2: location and dataset. */
export const lastStampOf = '(select last_stamp from dataset_state where location_id = $1 and dataset = $2)'

/** The stamp of the last change of a dataset. Refuses with `location_unknown`. */
export async function readLastStamp(db: Queryable, locationId: LocationId, dataset: DatasetName): Promise<Stamp> {
  const { rows } = await db.query<{ last_stamp: string | null }>(`select ${lastStampOf} as last_stamp`, [
    locationId,
    dataset,
  ])
  const stamp = rows[0]?.last_stamp ?? null
  if (stamp === null) throw new Problem('location_unknown')
  return Number(stamp)
}

/** What a source has: which datasets (null: every one), and which attributes of their sources it lacks, by dataset. */
export type Provided = {
  readonly datasets: readonly string[] | null
  readonly attributesLacking: Readonly<Record<string, readonly string[]>>
  /** The number of the contract that its agent knows. What came later it cannot have. */
  readonly contract: number
}

/** Notes what the source of these locations has. Locks in the order of writers: see `lockDatasetStates`. */
export async function setProvided(
  client: Queryable,
  locationIds: readonly LocationId[],
  provided: Provided,
): Promise<void> {
  await client.query(
    `with reported as (
       select dataset, is_provided, attributes_not_provided
         from jsonb_to_recordset($2::jsonb) as r (dataset text, is_provided boolean, attributes_not_provided text[])),
     changed as (
       select s.location_id, s.dataset, r.is_provided, r.attributes_not_provided
         from dataset_state s
         join reported r on r.dataset = s.dataset
        where s.location_id = any($1::bigint[])
          and (s.is_provided, s.attributes_not_provided) is distinct from (r.is_provided, r.attributes_not_provided)
        order by s.location_id, array_position($3::text[], s.dataset)
          for update of s)
     update dataset_state s
        set is_provided = changed.is_provided, attributes_not_provided = changed.attributes_not_provided
       from changed
      where s.location_id = changed.location_id and s.dataset = changed.dataset`,
    [locationIds, JSON.stringify(datasets.map((dataset) => reportedOf(dataset, provided))), datasetNames],
  )
}

function reportedOf(dataset: (typeof datasets)[number], { datasets: named, attributesLacking, contract }: Provided) {
  const { name, source, attributes } = dataset
  const later = Object.entries(source.properties).flatMap(([each, schema]) => (sinceOf(schema) > contract ? each : []))
  const lacking = Object.hasOwn(attributesLacking, name) ? (attributesLacking[name] ?? []) : []
  const hidden = new Set([...lacking, ...later].map((each) => vendorAttribute(dataset, each)))
  return {
    dataset: name,
    is_provided: named?.includes(name) ?? true,
    attributes_not_provided: Object.keys(attributes.properties).filter((each) => hidden.has(each)),
  }
}

/** Whether every dataset that these locations have was read in full at least once. */
export async function areInitiallySynced(db: Queryable, locationIds: readonly LocationId[]): Promise<boolean> {
  const { rows } = await db.query(
    `select from dataset_state where location_id = any($1::bigint[]) and is_provided and initial_sync_completed_at is null`,
    [locationIds],
  )
  return rows.length === 0
}

/** Locations whose states are raised by one statement: each statement has a time limit. */
const raisedAtOnce = 1_000

/**
 * Draws a stamp that no earlier state of this database, lost ones included, has reached, and makes it the first and last one of every dataset: a
 * delta from before it returns the whole dataset. It is as far ahead of the clock as clocks may differ, and no farther, so that of restores that
 * follow each other the later one draws the later stamp, whatever backups they take. Only where that is not after the backup's own stamps, because
 * the clock is behind, is it as far ahead of those. Writers wait meanwhile. Hand down the transaction that begins an epoch.
 */
export async function raiseStamps(client: Queryable): Promise<Stamp> {
  // A stronger lock than those of rows, which writers take in another order.
  await client.query('lock table dataset_state in exclusive mode')
  const { rows } = await client.query<{ stamp: string; location_ids: LocationId[] | null }>(
    `select case when newest < clock + $1::bigint then clock else newest end + $1::bigint as stamp, location_ids
       from (select coalesce(max(last_stamp), 0) as newest, array_agg(distinct location_id) as location_ids,
                    (extract(epoch from clock_timestamp()) * 1000000)::bigint as clock
               from dataset_state) known`,
    [deltaOverlapMicros],
  )
  if (!rows[0]) throw new Error('the database did not tell its stamps')
  const { stamp, location_ids } = rows[0]
  const locationIds = location_ids ?? []
  for (let from = 0; from < locationIds.length; from += raisedAtOnce) {
    await client.query(
      'update dataset_state set first_stamp = $1, last_stamp = $1 where location_id = any($2::bigint[])',
      [stamp, locationIds.slice(from, from + raisedAtOnce)],
    )
  }
  return Number(stamp)
}

/** The database's clock in microseconds. A value and not an expression in the insert: a cluster evaluates those on every node. */
async function databaseStamp(client: Queryable): Promise<string> {
  const { rows } = await client.query<{ stamp: string }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::bigint as stamp',
  )
  const stamp = rows[0]?.stamp
  if (stamp === undefined) throw new Error('the database did not tell its time')
  return stamp
}
