import { ApiError } from '../api-error.ts'
import type { Connection } from '../connection.ts'
import { type DatasetName, fetchPage, pageSizeDefault } from '../dataset-resource.ts'
import type { LocationsResource } from '../directory-resource.ts'
import { datasets } from '../generated.ts'
import { listOf, type Page } from '../pages/page.ts'
import { createDigest, digestRanges } from './digest.ts'
import { inParallel } from './parallel.ts'
import type { SyncKey, SyncPosition, SyncRecord, SyncStore } from './store.ts'
import { byLocation, grantedKeys, isDenied, nameOf } from './sync.ts'

export type VerifyOptions = {
  store: SyncStore
  locations?: readonly string[]
  datasets?: readonly DatasetName[]
  /** False: only say what differs. */
  repair?: boolean
  signal?: AbortSignal
}

/** One dataset of one location, the service's and the copy's. */
export type Verification = SyncKey & {
  serverCount: number
  storeCount: number
  /** Exclusive or of the SHA-256 of each record's JSON, as the service sends it but for members that are null: the same for a copy that keeps the order of members, as the shipped stores do. */
  serverDigest: string
  storeDigest: string
  /** Records that were read from the service: those near to what differs. */
  read: number
  /** Not in the copy, though it was there when the copy was last brought up to date. */
  missing: number
  /** Not in the service. */
  stray: number
  /** In both, and not the same, though the service's is not newer. */
  wrong: number
  /** Created or changed at the service after the copy was last brought up to date: no fault, and mended all the same. */
  newer: number
  /** Records whose rows in the tables of a SQL store were not those that the record gives, and rows that no record gives. */
  wrongRows: number
}

/**
 * Compares what was copied with the service's digests, reads the ranges of records that differ, and writes what is not the same in them. Then
 * compares the rows of a SQL store with their records. It is there for copies that something else has written to; the sync itself never needs it.
 */
export async function verify(
  { connection, locations }: { connection: Connection; locations: LocationsResource },
  options: VerifyOptions,
): Promise<Verification[]> {
  const positions = new Map((await options.store.positions()).map((position) => [nameOf(position), position]))
  const results: Verification[] = []
  const isWanted = ({ locationId, dataset }: SyncKey) =>
    (options.locations?.includes(locationId) ?? true) && (options.datasets?.includes(dataset) ?? true)
  const keys = (await grantedKeys(locations, options.signal)).filter(isWanted)
  const checkLocation = async (list: readonly SyncKey[], signal: AbortSignal) => {
    for (const key of list) {
      // What has not been walked to its end is not to be compared: the sync goes on with it.
      const position = positions.get(nameOf(key))
      if (!position?.watermark || position.walk) continue
      try {
        results.push(await verifyOne(connection, options, position, signal))
      } catch (error) {
        // A service that knows no digest takes the word for a record's id: it has not denied anything.
        if (!(error instanceof ApiError) || !isDenied(error) || error.code === 'record_unknown') throw error
      }
    }
  }
  await inParallel(options.signal, checkLocation, [{ items: byLocation(keys), atOnce: 5 }])
  return results
}

async function verifyOne(
  connection: Connection,
  { store, repair = true }: VerifyOptions,
  position: SyncPosition,
  signal: AbortSignal,
): Promise<Verification> {
  const { locationId, dataset } = position
  const key = { locationId, dataset }
  const [server, copy] = [createDigest(), createDigest()]
  const found = { read: 0, missing: 0, stray: 0, wrong: 0, newer: 0 }
  const local = store.read(key)[Symbol.asyncIterator]()
  let next = await local.next()

  /** The copy's records up to this id; null: all that are left. */
  const takeUpTo = async (lastId: string | null) => {
    const taken: SyncRecord[] = []
    for (; !next.done && (lastId === null || BigInt(next.value.id) <= BigInt(lastId)); next = await local.next()) {
      taken.push(next.value)
    }
    return taken
  }

  const different = new Map<string, 'wrong' | 'missing'>()
  const mend: SyncRecord[] = []
  const strayIds: string[] = []
  // Many at once: a folder is written anew for each of these.
  const mendNow = async () => {
    if (repair && mend.length + strayIds.length > 0) {
      await store.apply({ ...key, kind: 'repair', records: mend, strayIds, previous: position, position })
    }
    mend.length = 0
    strayIds.length = 0
  }

  const compare = async (kept: readonly SyncRecord[], range: Range) => {
    const left = new Map(kept.map((record) => [record.id, record]))
    for await (const record of recordsIn(connection, key, range, signal)) {
      found.read += 1
      const stored = left.get(record.id)
      left.delete(record.id)
      if (stored && canonical(stored) === canonical(record)) continue
      mend.push(record)
      different.set(record.id, stored ? 'wrong' : 'missing')
    }
    // The service was asked after the copy was read, and it never loses a record: what is left was never its own.
    found.stray += left.size
    for (const id of left.keys()) strayIds.push(id)
    if (mend.length + strayIds.length >= 5000) await mendNow()
  }

  let afterId = '0'
  let recordsBefore = 0
  let rangeRecords = 0
  for await (const range of digestRanges(connection, key, signal)) {
    const kept = await takeUpTo(range.lastId)
    const own = createDigest()
    for (const record of kept) own.add(record)
    const { count, sha256 } = own.sum()
    copy.addSum(count, sha256)
    server.addSum(range.records, range.sha256)
    rangeRecords ||= range.records
    if (sha256 !== range.sha256 || count !== range.records) {
      await compare(kept, { afterId: range.afterId, lastId: range.lastId, recordsBefore, rangeRecords })
    }
    afterId = range.lastId
    recordsBefore += range.records
  }
  const rest = await takeUpTo(null)
  for (const record of rest) copy.add(record)
  if (rest.length > 0) await compare(rest, { afterId, lastId: null, recordsBefore, rangeRecords })
  // Asked for after the records were read, so it has every one of them that came after the copy's watermark.
  if (different.size > 0) {
    for await (const id of changedSince(connection, position, signal)) {
      if (different.delete(id)) found.newer += 1
    }
  }
  for (const kind of different.values()) found[kind] += 1
  await mendNow()
  // Last: what was mended has its rows.
  const wrongRows = (await store.checkRows?.(key, { repair })) ?? 0

  const [serverSum, storeSum] = [server.sum(), copy.sum()]
  return {
    ...key,
    serverCount: serverSum.count,
    storeCount: storeSum.count,
    serverDigest: serverSum.sha256,
    storeDigest: storeSum.sha256,
    ...found,
    wrongRows,
  }
}

/** The ids of the records that the next delta of this copy brings. */
async function* changedSince(
  connection: Connection,
  { locationId, dataset, watermark }: SyncPosition,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const options = { locationId, pageSize: pageSizeDefault, signal, modifiedSince: watermark ?? '' }
  const fetchNext = (next: string | null, previous: Page<SyncRecord> | null) =>
    fetchPage<SyncRecord>(connection, dataset, options, next, previous)
  for await (const { id } of listOf(null, fetchNext)) yield id
}

/** Records to read: after one id and up to another, or to the end. */
type Range = { afterId: string; lastId: string | null; recordsBefore: number; rangeRecords: number }

/** Where a list has pages by number, the range's page is counted out: records keep their places in it, because none is ever taken away. */
async function* recordsIn(
  connection: Connection,
  { locationId, dataset }: SyncKey,
  { afterId, lastId, recordsBefore, rangeRecords }: Range,
  signal: AbortSignal,
): AsyncGenerator<SyncRecord> {
  const pageSize = rangeRecords || 1000
  const isCursor = datasets[dataset].pagination === 'cursor'
  let next: string | null = isCursor ? afterId : String(Math.floor(recordsBefore / pageSize) + 1)
  let page: Page<SyncRecord> | null = null
  let last = BigInt(afterId)
  while (next !== null) {
    page = await fetchPage<SyncRecord>(connection, dataset, { locationId, pageSize, signal }, next, page)
    for (const record of page.records) {
      const id = BigInt(record.id)
      if (lastId !== null && id > BigInt(lastId)) return
      if (id > last) yield record
      last = id > last ? id : last
    }
    next = last === BigInt(lastId ?? -1) ? null : page.next
  }
}

/** The same text for the same record: stores need not keep the order of members, nor those that are null. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    const some = Object.entries(member).filter(([, each]) => each !== null)
    return Object.fromEntries(some.sort(([left], [right]) => (left < right ? -1 : 1)))
  })
}
