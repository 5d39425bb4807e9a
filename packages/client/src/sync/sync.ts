import { ApiError } from '../api-error.ts'
import type { Connection } from '../connection.ts'
import { type DatasetName, datasetNames, fetchPage, walkWhole } from '../dataset-resource.ts'
import type { LocationRecord, LocationsResource, OrganizationsResource } from '../directory-resource.ts'
import { listOf, type Page } from '../page.ts'
import { inParallel } from './parallel.ts'
import type { SyncKey, SyncPosition, SyncRecord, SyncStore } from './store.ts'

export type SyncOptions = {
  store: SyncStore
  /** All locations that may be read, when left out. */
  locations?: readonly string[]
  /** All datasets that may be read, when left out. */
  datasets?: readonly DatasetName[]
  pageSize?: number
  signal?: AbortSignal
  onEvent?: (event: SyncEvent) => void
}

export type SyncEvent =
  /** A dataset that is read for the first time. */
  | ({ event: 'begun' } & SyncKey)
  /** A page was written. `read` of `total` records of this walk are. */
  | ({ event: 'page'; isInitial: boolean; records: readonly SyncRecord[]; read: number; total: number } & SyncKey)
  /** The copy is as current as the service's. */
  | ({ event: 'current'; records: number } & SyncKey)
  | ({ event: 'revoked' } & SyncKey)
  | ({ event: 'failed'; error: ApiError } & SyncKey)

export type SyncReport = {
  /** Datasets of locations whose copy is now as current as the service's was when it was asked. */
  current: number
  /** Records that were written. */
  records: number
  /** Copied earlier, and no longer readable: the practice ended the grant. What was copied stays; what becomes of it is yours to decide. */
  revoked: SyncKey[]
  /** Asked for, and never granted, or not switched on in production yet. */
  notGranted: SyncKey[]
  /** Not readable for the moment; the next call goes on where they are. */
  failed: (SyncKey & { error: ApiError })[]
}

const pageSizeDefault = 2000

/** As many as may be read in full at one time; a location's datasets are read one after the other. */
const initialAtOnce = 5
/** More would hold more pages in memory than they would save time. */
const incrementalAtOnce = 8

/** Brings the copy up to date: first walks where there is none, walks that broke off, and changes. */
export async function sync(
  reach: { connection: Connection; locations: LocationsResource; organizations: OrganizationsResource },
  options: SyncOptions,
): Promise<SyncReport> {
  const { connection } = reach
  const { store, pageSize = pageSizeDefault, onEvent = () => {} } = options
  const report: SyncReport = { current: 0, records: 0, revoked: [], notGranted: [], failed: [] }
  const positions = new Map((await store.positions()).map((position) => [nameOf(position), position]))
  const signal = options.signal ? { signal: options.signal } : {}
  const locations = await allOf(reach.locations.list(signal))
  const granted = keysOf(locations)
  if (store.saveDirectory) {
    await store.saveDirectory({ locations, organizations: await allOf(reach.organizations.list(signal)) })
  }
  const isWanted = ({ locationId, dataset }: SyncKey) =>
    (options.locations?.includes(locationId) ?? true) && (options.datasets?.includes(dataset) ?? true)

  const markRevoked = (key: SyncKey) => {
    if (!positions.has(nameOf(key))) return void report.notGranted.push(key)
    report.revoked.push(key)
    onEvent({ event: 'revoked', ...key })
  }
  const grantedNames = new Set(granted.map(nameOf))
  for (const { locationId, dataset } of positions.values()) {
    const key = { locationId, dataset }
    if (isWanted(key) && !grantedNames.has(nameOf(key))) markRevoked(key)
  }
  for (const locationId of options.locations ?? []) {
    // Asked for as a whole, a location may lack some datasets; none at all is not what was asked for.
    const isKnown = [...granted, ...positions.values()].some((key) => key.locationId === locationId)
    for (const dataset of options.datasets ?? (isKnown ? [] : datasetNames)) {
      const key = { locationId, dataset }
      if (!grantedNames.has(nameOf(key)) && !positions.has(nameOf(key))) markRevoked(key)
    }
  }

  const walk = async (key: SyncKey, signal: AbortSignal) => {
    let position = positions.get(nameOf(key)) ?? { ...key, watermark: null, walk: null }
    if (!positions.has(nameOf(key))) onEvent({ event: 'begun', ...key })
    const fetchAt = ({ walk, watermark }: SyncPosition, previous: Page<SyncRecord> | null) => {
      const since = walk ? walk.since : watermark
      const size = walk?.pageSize ?? pageSize
      const asked = {
        locationId: key.locationId,
        pageSize: size,
        signal,
        ...(since !== null && { modifiedSince: since }),
      }
      return fetchPage<SyncRecord>(connection, key.dataset, asked, walk?.after ?? null, previous)
    }
    const whole =
      position.watermark === null && !position.walk?.since ? firstWalk(connection, position, pageSize, signal) : null
    const pageAt = async (at: SyncPosition, previous: Page<SyncRecord> | null) => {
      const { done, value } = whole ? await whole.next() : { done: false, value: await fetchAt(at, previous) }
      if (done || !value) throw new Error('a walk without its last page')
      return value
    }
    let read = 0
    try {
      for (let coming: ReturnType<typeof pageAt> | null = pageAt(position, null); coming; ) {
        const page: Page<SyncRecord> = await coming
        const { walk: going, watermark } = position
        const since = going ? going.since : watermark
        const next = positionAfter(position, page, since, going?.pageSize ?? pageSize)
        // The next page comes while this one is written. When that fails, the signal ends the request, and no code needs its error.
        coming = next.walk ? pageAt(next, page) : null
        coming?.catch(() => {})
        if (page.records.length > 0 || next.watermark !== watermark || next.walk || going) {
          const previous = positions.get(nameOf(key)) ?? null
          const { records, freshness } = page
          await store.apply({ ...key, kind: 'walk', records, strayIds: [], previous, position: next, freshness })
        }
        position = next
        positions.set(nameOf(key), position)
        read += page.records.length
        report.records += page.records.length
        if (page.records.length > 0) {
          onEvent({ event: 'page', ...key, isInitial: since === null, records: page.records, read, total: page.total })
        }
      }
    } finally {
      // A walk that failed leaves its export, which holds a slot until then. No code waits for a page that is still on its way.
      whole?.return?.().catch(() => {})
    }
    report.current += 1
    onEvent({ event: 'current', ...key, records: read })
  }

  const walkLocation = async (keys: readonly SyncKey[], signal: AbortSignal) => {
    for (const key of keys) {
      try {
        await walk(key, signal)
      } catch (error) {
        // Wrong credentials end everything; a dataset that cannot be read now keeps no other from being read.
        if (!(error instanceof ApiError) || error.status === 401) throw error
        // Not available in production yet: an error only for callers that asked for it.
        if (error.code === 'preview_off' && !options.datasets && !positions.has(nameOf(key))) continue
        if (isDenied(error)) markRevoked(key)
        else {
          report.failed.push({ ...key, error })
          onEvent({ event: 'failed', ...key, error })
        }
      }
    }
  }

  const lists = byLocation(granted.filter(isWanted))
  const isNew = (keys: readonly SyncKey[]) => keys.some((key) => !positions.get(nameOf(key))?.watermark)
  await inParallel(options.signal, walkLocation, [
    { items: lists.filter(isNew), atOnce: initialAtOnce },
    { items: lists.filter((keys) => !isNew(keys)), atOnce: incrementalAtOnce },
  ])
  await store.finish?.()
  return report
}

/** The pages of a dataset that is read for the first time, or goes on being so: of an export, where the service has them. */
function firstWalk(
  connection: Connection,
  { locationId, dataset, walk }: SyncPosition,
  pageSizeWanted: number,
  signal: AbortSignal,
): AsyncIterator<Page<SyncRecord>> {
  const pageSize = walk?.pageSize ?? pageSizeWanted
  const options = { locationId, pageSize, signal, ...(walk && { after: walk.after }) }
  const listFrom = (after: string | null) =>
    listOf<SyncRecord>(after, (position, previous) =>
      fetchPage(connection, dataset, options, position, previous),
    ).pages()
  return walkWhole(connection, dataset, options, (lines) => lines.parse<SyncRecord>(), listFrom)
}

/** What may be read now, in the order in which what others refer to comes first. */
export async function grantedKeys(locations: LocationsResource, signal?: AbortSignal): Promise<SyncKey[]> {
  return keysOf(await allOf(locations.list(signal ? { signal } : {})))
}

function keysOf(locations: readonly LocationRecord[]): SyncKey[] {
  return locations.flatMap(({ id, attributes }) =>
    datasetNames
      .filter((dataset) => attributes.datasets_granted.includes(dataset))
      .map((dataset) => ({ locationId: id, dataset })),
  )
}

/** Node 20 has no Array.fromAsync. */
async function allOf<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

/** The keys of each location, together. */
export function byLocation(keys: readonly SyncKey[]): SyncKey[][] {
  const lists = new Map<string, SyncKey[]>()
  for (const key of keys) lists.set(key.locationId, [...(lists.get(key.locationId) ?? []), key])
  return [...lists.values()]
}

export function nameOf({ locationId, dataset }: SyncKey): string {
  return `${locationId}/${dataset}`
}

/** Refused for good by the service: the grant ended since the locations were listed, or the operation is not switched on. */
export function isDenied({ status, code }: ApiError): boolean {
  return (status === 403 || status === 404) && code !== 'answer_invalid'
}

function positionAfter(
  position: SyncPosition,
  page: Page<SyncRecord>,
  since: string | null,
  pageSize: number,
): SyncPosition {
  const first = position.walk?.watermark ?? page.watermark
  if (first === null) throw new Error('the first page of a walk came without a watermark')
  const { locationId, dataset, watermark } = position
  if (page.next === null) return { locationId, dataset, watermark: first, walk: null }
  return { locationId, dataset, watermark, walk: { since, after: page.next, watermark: first, pageSize } }
}
