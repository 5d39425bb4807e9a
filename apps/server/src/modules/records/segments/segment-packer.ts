import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { withTransaction } from '../../../platform/database/pool.ts'
import { packRun } from '../../../platform/gzip/packed-run.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import type { LoadWatch } from '../../../platform/memory/load-watch.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { createWorker, noLocation, type Worker } from '../write/background-work.ts'
import type { Document } from '../write/document.ts'
import { addSegmentState, forgetSegments } from '../write/segment-state.ts'
import { type DueDataset, endDue, putOff, searchUnpacked, takeDue } from './segment-due.ts'
import {
  areWhole,
  deleteSegmentState,
  listStaleRuns,
  lockSegmentState,
  markStale,
  readRun,
  runRecordsUsual,
  type Segment,
  saveSegmentState,
  saveSegments,
} from './segment-store.ts'

export type PackOptions = {
  /** Changes are looked at no more often than this. Until then a page looks for them itself. */
  checkMs: number
  /** A segment is packed again when it has been stale for this long, not at each change. */
  staleMs: number
  /** Records in a segment. */
  runRecords: number
  /** A check looks at this many changes; the next one goes on. */
  checkedMax: number
}

const usual: PackOptions = { checkMs: 15_000, staleMs: 15_000, runRecords: runRecordsUsual, checkedMax: 50_000 }

/** Packs the documents of every dataset into segments, and again what changed in them, while the process has time for it. */
export function createSegmentPacker(deps: { pool: Pool; log: Log; load: LoadWatch; pollMs?: number }): Worker {
  const { pool, log, load } = deps
  const rest = async (workedMs: number) => {
    const ms = workedMs * restsOf(load)
    if (ms > 0) await sleep(Math.min(ms, restMaxMs))
  }
  return createWorker({ ...deps, task: 'segments', slice: () => packNext(pool, log, { rest }) })
}

/**
 * How many times as long as it works the packer rests. Uploads of many records come first: it takes a sixteenth of the time then, so that it does
 * not fall behind for ever where some agent always sends. Requests do too: an event loop that is late for them is left alone for half of the time.
 */
export function restsOf(load: Pick<LoadWatch, 'isWorking' | 'lagMs'>): number {
  if (load.isWorking()) return 15
  return load.lagMs() > lateMs ? 1 : 0
}

const lateMs = 25
/** The service stops when a rest has ended. */
const restMaxMs = 1_000

/**
 * Packs what is due of the dataset that has waited for the longest, for about a second. Returns its location, or `noLocation` where it only searched
 * for what is to be packed; null when nothing is due.
 */
export async function packNext(
  pool: Pool,
  log: Log,
  {
    rest = async () => {},
    options: given = {},
  }: { rest?: (workedMs: number) => Promise<void>; options?: Partial<PackOptions> } = {},
): Promise<LocationId | null> {
  const options = { ...usual, ...given }
  const due = await takeDue(pool, options)
  if (!due) return (await searchUnpacked(pool, options.runRecords)) ? noLocation : null
  const { locationId, dataset } = due
  const key = { locationId, dataset }
  await addSegmentState(pool, key)
  const begun = performance.now()
  let records = 0
  for (;;) {
    const sliceBegun = performance.now()
    const slice = await withTransaction(pool, (client) => packSlice(client, key, options))
    if (slice === 'broken') log({ event: 'segments.broken', ...key })
    else if (slice !== 'held') records += slice.records
    await rest(performance.now() - sliceBegun)
    const isWorking = slice !== 'held' && slice !== 'broken' && slice.records >= sliceRuns * options.runRecords
    if (isWorking && performance.now() - begun <= turnMs) continue
    await settle(pool, due, slice, options)
    break
  }
  if (records > 0) log({ event: 'segments.packed', ...key, records, durationMs: Math.round(performance.now() - begun) })
  return locationId
}

const turnMs = 1_000
/** A transaction packs at most this many stale runs, and as many new ones. */
const sliceRuns = 20

/**
 * What a transaction did: `held` where another process has the lock; `broken` where the segments were not whole or did not adjoin, and all were forgotten.
 * `isAll`: nothing is left but what became stale `staleSince`.
 */
type Slice = 'held' | 'broken' | { records: number; checkedStamp: Stamp; isAll: boolean; staleSince: string | null }

/** Says when the dataset is due again, if it is. Where another process is at it, that is when this one had taken it for. */
async function settle(pool: Pool, due: DueDataset, slice: Slice, { staleMs }: PackOptions): Promise<void> {
  if (slice === 'held') return
  if (slice === 'broken' || !slice.isAll) return await putOff(pool, due, null)
  const { staleSince, checkedStamp } = slice
  if (staleSince !== null) return await putOff(pool, due, { since: staleSince, staleMs })
  await endDue(pool, due, checkedStamp)
}

async function packSlice(client: PoolClient, key: DatasetKey, options: PackOptions): Promise<Slice> {
  const state = await lockSegmentState(client, key)
  if (!state) return 'held'
  // The changes are looked at before the documents are read: a change in between is found by the next check.
  const checked = await markStale(client, key, state, options)
  if (!checked) {
    await deleteSegmentState(client, key)
    return { records: 0, checkedStamp: 0, isAll: true, staleSince: null }
  }
  const { checkedStamp } = checked
  const again = await packStale(client, key, options)
  const added = again === null ? null : await packTail(client, key, state.lastId, options)
  const packed = added && { lastId: added.lastId, records: state.records + added.records }
  if (again === null || !packed || !(await areWhole(client, key, packed, options.runRecords))) {
    await forgetSegments(client, key)
    return 'broken'
  }
  const staleSince = await saveSegmentState(client, key, { checkedStamp, ...packed })
  const records = again + packed.records - state.records
  return { records, checkedStamp, staleSince, isAll: checked.isAll && records < sliceRuns * options.runRecords }
}

/** Returns how many records were packed; null when a run has not the records that it was packed from: then nothing of it is stored. */
async function packStale(
  client: PoolClient,
  key: DatasetKey,
  { staleMs, runRecords }: PackOptions,
): Promise<number | null> {
  const runs = await listStaleRuns(client, key, { staleMs, limit: sliceRuns })
  let records = 0
  for (const run of runs) {
    const { documents, stamp } = await readRun(client, key, run, runRecords + 1)
    if (documents.length !== runRecords || documents.at(-1)?.[0] !== run.lastId) return null
    await saveSegments(client, key, [{ ...run, ...(await pack(documents)), stamp }])
    records += documents.length
  }
  return records
}

/**
 * Packs what follows the last segment, a few runs at a time: documents may be large. While zlib's threads pack some runs, PostgreSQL reads the next
 * ones and stores those before.
 */
async function packTail(client: PoolClient, key: DatasetKey, after: string, { runRecords }: PackOptions) {
  let lastId = after
  let records = 0
  const readNext = () => readRun(client, key, { afterId: lastId }, tailRuns * runRecords)
  let reading = readNext()
  let saving: Promise<void> = Promise.resolve()
  try {
    for (let isLast = false; !isLast; ) {
      const { documents, stamp } = await reading
      const segments: Promise<Segment>[] = []
      for (let end = runRecords; end <= documents.length; end += runRecords) {
        const run = { afterId: lastId, lastId: documents[end - 1]?.[0] ?? lastId }
        const packing = pack(documents.slice(end - runRecords, end))
        segments.push(packing.then((packed) => ({ ...run, ...packed, stamp })))
        lastId = run.lastId
      }
      records += segments.length * runRecords
      isLast = segments.length < tailRuns || records >= sliceRuns * runRecords
      if (!isLast) reading = readNext()
      // Errors are thrown where the promises are awaited, which others may precede.
      reading.catch(() => {})
      const packed = await Promise.all(segments)
      await saving
      if (packed.length > 0) saving = saveSegments(client, key, packed)
      saving.catch(() => {})
    }
    await saving
  } finally {
    // No statement may begin after the transaction's end.
    await Promise.allSettled([reading, saving])
  }
  return { lastId, records }
}

const tailRuns = 4

/** zlib's usual level: packed once, sent many times. Level 4 takes two thirds of the time and makes a third more of it. */
const level = 6

async function pack(documents: readonly Document[]) {
  const texts = documents.map(([, document]) => document)
  return { records: documents.length, ...(await packRun(texts, level)) }
}
