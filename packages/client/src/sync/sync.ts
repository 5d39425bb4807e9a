import { ApiError } from '../api-error.ts'
import type { Connection } from '../connection.ts'
import { type DatasetName, datasetNames, fetchPage, walkWhole } from '../dataset-resource.ts'
import type { LocationRecord, LocationsResource, OrganizationsResource } from '../directory-resource.ts'
import { type List, listOf, type Page, requireEpoch } from '../pages/page.ts'
import { type Feed, readFeed } from './feed.ts'
import { inParallel } from './parallel.ts'
import type { SyncKey, SyncPosition, SyncRecord, SyncStore } from './store.ts'
import { createStrayFinder, type StrayFinder } from './strays.ts'

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
  /** The service was restored from a backup: all is read again, and what it does not have any more is taken out. */
  | ({ event: 'restored' } & SyncKey)
  /** The service was restored from a backup and does not know the location any more: its copy was taken out. */
  | ({ event: 'lost' } & SyncKey)
  | ({ event: 'failed'; error: ApiError } & SyncKey)

export type SyncReport = {
  /** Datasets of locations whose copy is now as current as the service's was when it was asked. */
  current: number
  /** Records that were written. */
  records: number
  /** Copied earlier, and no longer readable: the practice ended the grant. What was copied stays; what becomes of it is yours to decide. */
  revoked: SyncKey[]
  /** Read again as a whole, because the service was restored from a backup: the copy has what the service has now. */
  restored: SyncKey[]
  /** Taken out of the copy: of locations that the service lost when it was restored. Their practices' records come again at new locations. */
  lost: SyncKey[]
  /** Asked for, and never granted, or not switched on in production yet. */
  notGranted: SyncKey[]
  /** Not readable for the moment; the next call goes on where they are. */
  failed: (SyncKey & { error: ApiError })[]
}

const pageSizeDefault = 2000

/** At most this many ids are taken out of a copy at once. */
const straysAtOnce = 5_000

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
  const report: SyncReport = {
    current: 0,
    records: 0,
    revoked: [],
    restored: [],
    lost: [],
    notGranted: [],
    failed: [],
  }
  const positions = new Map((await store.positions()).map((position) => [nameOf(position), position]))
  const feed = await readFeed(connection, store, options.signal)
  const { locations, epoch } = await directoryOf(reach, store, feed, options.signal)
  const granted = keysOf(locations)
  const isWanted = ({ locationId, dataset }: SyncKey) =>
    (options.locations?.includes(locationId) ?? true) && (options.datasets?.includes(dataset) ?? true)

  const markRevoked = (key: SyncKey) => {
    if (!positions.has(nameOf(key))) return void report.notGranted.push(key)
    report.revoked.push(key)
    onEvent({ event: 'revoked', ...key })
  }
  const grantedNames = new Set(granted.map(nameOf))
  const unlisted = [...positions.values()].filter((each) => isWanted(each) && !grantedNames.has(nameOf(each)))
  for (const left of byLocation(unlisted)) {
    const [{ locationId } = { locationId: '' }] = left
    const isOfOtherEpoch = left.some((position) => isOfAnother(epoch, position.walk?.epoch ?? position.epoch))
    const isLost = isOfOtherEpoch && store.forget && (await isUnknown(reach.locations, locationId, options.signal))
    for (const { dataset } of left) {
      const key = { locationId, dataset }
      if (!isLost) markRevoked(key)
      else {
        await store.forget?.(key)
        positions.delete(nameOf(key))
        report.lost.push(key)
        onEvent({ event: 'lost', ...key })
      }
    }
  }
  for (const locationId of options.locations ?? []) {
    // Asked for as a whole, a location may lack some datasets; none at all is not what was asked for.
    const isKnown = [...granted, ...positions.values()].some((key) => key.locationId === locationId)
    for (const dataset of options.datasets ?? (isKnown ? [] : datasetNames)) {
      const key = { locationId, dataset }
      if (!grantedNames.has(nameOf(key)) && !positions.has(nameOf(key))) markRevoked(key)
    }
  }

  /** Whether the service has said that there is nothing to ask. */
  const isTold = (key: SyncKey) => {
    const { walk = null, watermark = null, epoch = null } = positions.get(nameOf(key)) ?? {}
    if (!feed || walk || watermark === null || epoch !== feed.epoch) return false
    return feed.watermarks.get(nameOf(key)) === watermark
  }

  const walk = async (key: SyncKey, signal: AbortSignal) => {
    if (isTold(key)) {
      report.current += 1
      return onEvent({ event: 'current', ...key, records: 0 })
    }
    const kept = positions.get(nameOf(key))
    if (!kept) onEvent({ event: 'begun', ...key })
    const anew = { ...key, watermark: null, walk: null }
    const walkFromOrAnew = (begin: SyncPosition) =>
      walkFrom(begin, signal).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'epoch_changed') throw error
        return walkFrom(anew, signal, true)
      })
    let records = await walkFromOrAnew(kept ?? anew)
    const ended = positions.get(nameOf(key))
    // A walk that an earlier call began lacks what changed since then.
    if (kept?.walk && ended && !isTold(key)) records += await walkFromOrAnew(ended)
    // What changed since it was told of came with the walk.
    feed?.watermarks.set(nameOf(key), positions.get(nameOf(key))?.watermark ?? null)
    report.current += 1
    onEvent({ event: 'current', ...key, records })
  }

  /** Returns the number of records. `isAnew`: of everything, in the place of a walk or a delta of another epoch. */
  const walkFrom = async (begin: SyncPosition, signal: AbortSignal, isAnew = false) => {
    const { locationId, dataset } = begin
    const key = { locationId, dataset }
    let position = begin
    let isFirst = isAnew
    const fetchAt = ({ walk, watermark, epoch }: SyncPosition, previous: Page<SyncRecord> | null) => {
      const since = walk ? walk.since : watermark
      const size = walk?.pageSize ?? pageSize
      const asked = {
        locationId,
        pageSize: size,
        signal,
        ...(since !== null && { modifiedSince: since }),
        ...(epoch && { epoch }),
      }
      return fetchPage<SyncRecord>(connection, dataset, asked, walk?.after ?? null, previous)
    }
    const whole =
      position.watermark === null && !position.walk?.since ? firstWalk(connection, position, pageSize, signal) : null
    const pageAt = async (at: SyncPosition, previous: Page<SyncRecord> | null) => {
      const { done, value } = whole ? await whole.next() : { done: false, value: await fetchAt(at, previous) }
      if (done || !value) throw new Error('a walk without its last page')
      return value
    }
    let strays: StrayFinder | null = null
    let read = 0
    try {
      for (let coming: ReturnType<typeof pageAt> | null = pageAt(position, null); coming; ) {
        const page: Page<SyncRecord> = await coming
        const { walk: going, watermark } = position
        const since = going ? going.since : watermark
        const strayAfter = straysAfter(position, page, since, isAnew)
        const next = positionAfter(position, page, since, going?.pageSize ?? pageSize, strayAfter)
        // The next page comes while this one is written. When that fails, the signal ends the request, and no code needs its error.
        coming = next.walk ? pageAt(next, page) : null
        coming?.catch(() => {})
        const isNews = next.watermark !== watermark || next.epoch !== position.epoch || next.walk || going
        if (page.records.length > 0 || isNews) {
          if (strayAfter !== null && !strays) {
            strays = createStrayFinder(store, key, strayAfter)
            if (!going) markRestored(key)
          }
          const previous = positions.get(nameOf(key)) ?? null
          const strayIds = strays ? await straysWith(strays, page, previous) : []
          const { records, freshness } = page
          const written = { ...key, kind: 'walk', records, strayIds, previous, position: next, freshness } as const
          await store.apply({ ...written, ...(strays && { replaces: true }), ...(isFirst && { isAnew: true }) })
        }
        isFirst = false
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
      await strays?.end()
    }
    return read
  }

  /** The ids that leave the copy with this page. Takes those out now that would be many for one page. */
  const straysWith = async (strays: StrayFinder, page: Page<SyncRecord>, previous: SyncPosition | null) => {
    const named = new Set(page.records.map(({ id }) => id))
    const lastId = page.next === null ? null : (page.records.at(-1)?.id ?? '0')
    for (;;) {
      const strayIds = await strays.upTo(lastId, named, straysAtOnce)
      if (strayIds.length < straysAtOnce || !previous) return strayIds
      const { locationId, dataset } = previous
      await store.apply({ locationId, dataset, kind: 'repair', records: [], strayIds, previous, position: previous })
    }
  }

  const markRestored = (key: SyncKey) => {
    report.restored.push(key)
    onEvent({ event: 'restored', ...key })
  }

  const walkLocation = async (keys: readonly SyncKey[], signal: AbortSignal) => {
    for (const key of keys) {
      // Not served in production yet, as the service said before.
      if (feed?.off.has(nameOf(key))) {
        if (options.datasets || positions.has(nameOf(key))) markRevoked(key)
        continue
      }
      try {
        await walk(key, signal)
      } catch (error) {
        // Wrong credentials end everything; a dataset that cannot be read now keeps no other from being read.
        if (!(error instanceof ApiError) || error.status === 401) throw error
        // Not available in production yet: an error only for callers that asked for it.
        if (error.code === 'preview_off') feed?.off.add(nameOf(key))
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

/** The locations that may be read, as they are, or as they were while the service has told of no change of them; and the service's epoch. */
async function directoryOf(
  reach: { locations: LocationsResource; organizations: OrganizationsResource },
  store: SyncStore,
  feed: Feed | null,
  signal?: AbortSignal,
): Promise<{ locations: readonly LocationRecord[]; epoch: string | null }> {
  if (feed?.directory) return { locations: feed.directory.locations, epoch: feed.epoch }
  const options = signal ? { signal } : {}
  const { items: locations, epoch } = await listed(reach.locations.list(options))
  if (store.saveDirectory) {
    await store.saveDirectory({ locations, organizations: (await listed(reach.organizations.list(options))).items })
  }
  if (feed) feed.directory = { locations, at: performance.now() }
  return { locations, epoch }
}

/** The pages of a dataset that is read for the first time, or goes on being so. */
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
  return keysOf((await listed(locations.list(signal ? { signal } : {}))).items)
}

function keysOf(locations: readonly LocationRecord[]): SyncKey[] {
  return locations.flatMap(({ id, attributes }) =>
    datasetNames
      .filter((dataset) => attributes.datasets_granted.includes(dataset))
      .map((dataset) => ({ locationId: id, dataset })),
  )
}

/** All items of a list, and the service's epoch, which an earlier release does not name. */
async function listed<Item>(list: List<Item>): Promise<{ items: Item[]; epoch: string | null }> {
  const items: Item[] = []
  let epoch: string | null = null
  for await (const page of list.pages()) {
    items.push(...page.records)
    epoch = page.epoch
  }
  return { items, epoch }
}

/** Whether the service knows no location of that id: one that is not granted, it knows. */
async function isUnknown(locations: LocationsResource, locationId: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await locations.get({ locationId, ...(signal && { signal }) })
    return false
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.code === 'location_unknown'
  }
}

/** The keys of each location, together. */
export function byLocation<Key extends SyncKey>(keys: readonly Key[]): Key[][] {
  const lists = new Map<string, Key[]>()
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

/** Whether both are known, and not the same. */
function isOfAnother(epoch: string | null, known: string | null | undefined): boolean {
  return epoch !== null && known != null && known !== epoch
}

/**
 * After which id the copy is to be compared with this page, because it is of another epoch; null: not at all. Throws ApiError `epoch_changed` when
 * the page does not go on with what the copy has, and does not replace it.
 */
function straysAfter(
  { walk, epoch }: SyncPosition,
  page: Page<SyncRecord>,
  since: string | null,
  isAnew: boolean,
): string | null {
  if (walk) {
    requireEpoch(walk.epoch ?? null, page)
    return walk.strayAfter ?? null
  }
  const isWhole = since === null || page.grantedAt !== null || page.restoredAt !== null
  if (!isWhole) requireEpoch(epoch ?? null, page)
  return isAnew || page.restoredAt !== null || isOfAnother(page.epoch, epoch) ? '0' : null
}

function positionAfter(
  position: SyncPosition,
  page: Page<SyncRecord>,
  since: string | null,
  pageSize: number,
  strayAfter: string | null,
): SyncPosition {
  const first = position.walk?.watermark ?? page.watermark
  if (first === null) throw new Error('the first page of a walk came without a watermark')
  const { locationId, dataset, watermark } = position
  if (page.next === null) return { locationId, dataset, watermark: first, epoch: page.epoch, walk: null }
  const after = strayAfter === null ? null : (page.records.at(-1)?.id ?? strayAfter)
  return {
    locationId,
    dataset,
    watermark,
    epoch: position.epoch ?? null,
    walk: { since, after: page.next, watermark: first, pageSize, epoch: page.epoch, strayAfter: after },
  }
}
