import { createHash } from 'node:crypto'
import { ApiError } from '../api-error.ts'
import type { Connection } from '../connection.ts'
import { type DatasetName, fetchPage } from '../dataset-resource.ts'
import type { LocationsResource } from '../directory-resource.ts'
import type { Page } from '../page.ts'
import { inParallel } from './parallel.ts'
import type { SyncKey, SyncPosition, SyncRecord, SyncStore } from './store.ts'
import { byLocation, grantedKeys, isDenied, nameOf } from './sync.ts'

export type VerifyOptions = {
  store: SyncStore
  locations?: readonly string[]
  datasets?: readonly DatasetName[]
  /** False: only say what differs. */
  repair?: boolean
  pageSize?: number
  signal?: AbortSignal
}

/** One dataset of one location, the service's and the copy's. */
export type Verification = SyncKey & {
  serverCount: number
  storeCount: number
  /** SHA-256 over all records, each as JSON with sorted members, in order of id. */
  serverDigest: string
  storeDigest: string
  /** Not in the copy. */
  missing: number
  /** Not in the service. */
  stray: number
  /** In both, and not the same, though the service's is not newer. */
  wrong: number
  /** The service's changed after the copy was last brought up to date: no fault, and mended all the same. */
  newer: number
}

/**
 * Reads everything that was copied once more, compares it record by record, and writes what differs. Costs as much as a first sync; the sync
 * itself never needs it. It is there for copies that something else has written to.
 */
export async function verify(
  { connection, locations }: { connection: Connection; locations: LocationsResource },
  options: VerifyOptions,
): Promise<Verification[]> {
  const { store, repair = true, pageSize = 2000 } = options
  const positions = new Map((await store.positions()).map((position) => [nameOf(position), position]))
  const results: Verification[] = []

  const check = async (position: SyncPosition, signal: AbortSignal) => {
    const { locationId, dataset } = position
    const key = { locationId, dataset }
    const local = store.read(key)[Symbol.asyncIterator]()
    let kept = await local.next()
    const [server, copy] = [digest(), digest()]
    const found = { missing: 0, stray: 0, wrong: 0, newer: 0 }
    let after: string | null = null
    let last = 0n
    let page: Page<SyncRecord> | null = null
    const mend: SyncRecord[] = []
    const strayIds: string[] = []
    const mendNow = async () => {
      if (repair && mend.length + strayIds.length > 0) {
        await store.apply({ ...key, kind: 'repair', records: [...mend], strayIds: [...strayIds], position })
      }
      mend.length = 0
      strayIds.length = 0
    }
    const isStray = (stored: SyncRecord) => {
      copy.add(stored)
      found.stray += 1
      strayIds.push(stored.id)
    }
    do {
      page = await fetchPage<SyncRecord>(connection, dataset, { locationId, pageSize, signal }, after, page)
      for (const record of page.records) {
        // A list by page number may repeat a record while others change.
        if (BigInt(record.id) <= last) continue
        last = BigInt(record.id)
        server.add(record)
        while (!kept.done && BigInt(kept.value.id) < last) {
          isStray(kept.value)
          kept = await local.next()
        }
        if (kept.done || BigInt(kept.value.id) !== last) {
          found.missing += 1
          mend.push(record)
          continue
        }
        copy.add(kept.value)
        if (canonical(kept.value) !== canonical(record)) {
          if (String(record.attributes.updated_at) > String(kept.value.attributes.updated_at)) found.newer += 1
          else found.wrong += 1
          mend.push(record)
        }
        kept = await local.next()
      }
      after = page.next
      if (mend.length + strayIds.length >= 5000) await mendNow()
    } while (after !== null)
    for (; !kept.done; kept = await local.next()) isStray(kept.value)
    await mendNow()
    const [serverSum, storeSum] = [server.sum(), copy.sum()]
    results.push({
      ...key,
      serverCount: serverSum.count,
      storeCount: storeSum.count,
      serverDigest: serverSum.hex,
      storeDigest: storeSum.hex,
      ...found,
    })
  }

  const isWanted = ({ locationId, dataset }: SyncKey) =>
    (options.locations?.includes(locationId) ?? true) && (options.datasets?.includes(dataset) ?? true)
  const keys = (await grantedKeys(locations, options.signal)).filter(isWanted)
  const checkLocation = async (list: readonly SyncKey[], signal: AbortSignal) => {
    for (const key of list) {
      // What has not been walked to its end is not to be compared: the sync goes on with it.
      const position = positions.get(nameOf(key))
      if (!position?.watermark || position.walk) continue
      try {
        await check(position, signal)
      } catch (error) {
        if (!(error instanceof ApiError) || !isDenied(error)) throw error
      }
    }
  }
  await inParallel(options.signal, checkLocation, [{ items: byLocation(keys), atOnce: 5 }])
  return results
}

function digest() {
  const hash = createHash('sha256')
  let count = 0
  return {
    add(record: SyncRecord) {
      count += 1
      hash.update(`${canonical(record)}\n`)
    },
    sum: () => ({ count, hex: hash.digest('hex') }),
  }
}

/** The same text for the same record: stores need not keep the order of members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
  })
}
