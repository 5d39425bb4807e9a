import type { Pool } from 'pg'
import { Problem } from '../../../platform/errors/problem.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { BoundedMap } from '../../../platform/memory/bounded-map.ts'
import { createTurns } from '../../../platform/memory/turns.ts'
import type { ReadPermit } from '../../consent/read-permit.ts'
import { type PagePart, readPacked } from '../segments/packed-page.ts'
import { noteBroken } from '../segments/segment-due.ts'
import { runRecordsUsual } from '../segments/segment-store.ts'
import type { Document } from '../write/document.ts'
import { readNumbered, readSmallDelta, readWhole } from './read-store.ts'
import { chooseReading, type Reading, sortedMaxUsual } from './reading.ts'
import { isDelta, isWhole, type Selection } from './selection.ts'

/** One page: at most `items` records, whether more follow, and how many match in all. */
export type Page = { documents: Document[]; hasMore: boolean; total: number }

/** The same with segments in the place of most documents. */
export type PackedPage = { parts: PagePart[]; hasMore: boolean; total: number }

export type PageReader = {
  /** As `readAfter` of the whole dataset, for those who need no single document: with segments, where there are any. */
  readPacked: (permit: ReadPermit, after: string, items: number) => Promise<Page | PackedPage>
  /** The same with segments that can be switched to lines alone. Of every dataset: its pages by number have the same order. */
  readLines: (permit: ReadPermit, after: string, items: number) => Promise<Page | PackedPage>
  /** A page of cursor mode: records whose id is greater than `after` ('0' on the first). */
  readAfter: (permit: ReadPermit, selection: Selection, after: string, items: number) => Promise<Page>
  /** A page of page mode, numbered from 1. Such datasets are small and know no filter but the moment of change. */
  readPage: (permit: ReadPermit, selection: Selection, page: number, items: number) => Promise<Page>
}

const readingKeptMs = 10 * 60_000
const readingsKeptMax = 10_000

/**
 * One page of more records than this is read for a company at a time in a process. Two pages of 14 MB read at once keep two cores busy: measured,
 * others waited up to 290 ms for a small page, and no page came sooner.
 */
const smallItemsMax = 1_000
const ofCompany = { max: Number.POSITIVE_INFINITY, keyMax: 1, waitMs: 20_000, waitingMax: 1_000 }

/**
 * Reads pages. A small delta is counted with each page of it. How many records any other selection matches is counted on its first page;
 * later pages answer it from memory for 10 minutes, because counting a large one for every page of it would be quadratic.
 * The last argument is for tests.
 */
export function createPageReader(
  pool: Pool,
  now: () => Date,
  log: Log,
  { sortedMax = sortedMaxUsual, runRecords = runRecordsUsual } = {},
): PageReader {
  const readings = new BoundedMap<string, { reading: Reading; chosenAt: number }>(readingsKeptMax)

  const keptReading = (permit: ReadPermit, selection: Selection): Reading | null => {
    const kept = readings.get(keyOf(permit, selection))
    return kept && Math.abs(now().getTime() - kept.chosenAt) < readingKeptMs ? kept.reading : null
  }

  const readingOf = async (permit: ReadPermit, selection: Selection, isFirst: boolean): Promise<Reading> => {
    const kept = isFirst ? null : keptReading(permit, selection)
    if (kept) return kept
    const key = keyOf(permit, selection)
    const reading = await chooseReading(pool, permit, selection, sortedMax)
    readings.set(key, { reading, chosenAt: now().getTime() })
    return reading
  }

  const takeReading = createTurns({ ...ofCompany, refusal })
  const oneLarge = async <T>(permit: ReadPermit, items: number, read: () => Promise<T>): Promise<T> => {
    if (items <= smallItemsMax) return read()
    const turn = await takeReading(permit.companyId)
    try {
      return await read()
    } finally {
      turn.end()
    }
  }

  const readRuns = async (permit: ReadPermit, after: string, items: number, asLines: boolean) => {
    const { total } = permit.state
    // Segments have no notes.
    const readRecords = async () => pageOf(await readWhole(pool, permit, after, items + 1), items, total)
    if (permit.notes || items < runRecords) return await readRecords()
    const parts = await readPacked(pool, permit, after, items, runRecords, asLines)
    if (parts) return packedPageOf(parts, items, total)
    if (await noteBroken(pool, permit)) {
      log({ event: 'segments.broken', locationId: permit.locationId, dataset: permit.dataset })
    }
    return await readRecords()
  }

  return {
    readPacked: (permit, after, items) => oneLarge(permit, items, () => readRuns(permit, after, items, false)),
    readLines: (permit, after, items) => oneLarge(permit, items, () => readRuns(permit, after, items, true)),
    readAfter: (permit, selection, after, items) =>
      oneLarge(permit, items, async () => {
        if (isWhole(selection)) {
          return pageOf(await readWhole(pool, permit, after, items + 1), items, permit.state.total)
        }
        const { modifiedAfter } = selection
        if (modifiedAfter !== null && isDelta(selection) && (after === '0' || !keptReading(permit, selection))) {
          const small = await readSmallDelta(pool, permit, modifiedAfter, after, items + 1, sortedMax)
          if (small) return pageOf(small.documents, items, small.total)
        }
        const reading = await readingOf(permit, selection, after === '0')
        return pageOf(await reading.read(pool, permit, after, items + 1), items, reading.total)
      }),
    readPage: (permit, selection, page, items) =>
      oneLarge(permit, items, async () => {
        const isFirst = page === 1
        const total = isWhole(selection) ? permit.state.total : (await readingOf(permit, selection, isFirst)).total
        const offset = (page - 1) * items
        return pageOf(await readNumbered(pool, permit, selection.modifiedAfter ?? 0, offset, items + 1), items, total)
      }),
  }
}

function refusal(): Problem {
  return new Problem('requests_exceeded', { retryAfterSeconds: 2 })
}

function keyOf(permit: ReadPermit, { modifiedAfter, patientId, startsFrom, startsTo }: Selection): string {
  return [permit.locationId, permit.dataset, modifiedAfter, patientId, startsFrom, startsTo].join(' ')
}

/** The page of a list that is known to have no record. */
export const emptyPage: Page = { documents: [], hasMore: false, total: 0 }

/** One record more than asked for was read: it says whether another page follows. */
export function pageOf(documents: Document[], items: number, total: number): Page {
  return { documents: documents.slice(0, items), hasMore: documents.length > items, total }
}

function packedPageOf(read: PagePart[], items: number, total: number): Page | PackedPage {
  let records = 0
  const end = read.findIndex((part) => {
    records += recordsIn(part)
    return records > items
  })
  const parts = end < 0 ? read : read.slice(0, end)
  const documents = parts.flatMap((part): Document[] => ('document' in part ? [[part.lastId, part.document]] : []))
  const page = { hasMore: end >= 0, total }
  return documents.length === parts.length ? { documents, ...page } : { parts, ...page }
}

function recordsIn(part: PagePart): number {
  return 'document' in part ? 1 : part.records
}

/** How many records a page has, and the id of its last one; null when it has none. */
export function extentOf(page: Page | PackedPage): { records: number; lastId: string | null } {
  if ('documents' in page) return { records: page.documents.length, lastId: page.documents.at(-1)?.[0] ?? null }
  const records = page.parts.reduce((sum, part) => sum + recordsIn(part), 0)
  return { records, lastId: page.parts.at(-1)?.lastId ?? null }
}

/** About how much a page is, unpacked. */
export function unpackedBytes({ parts }: PackedPage): number {
  return parts.reduce((sum, part) => sum + ('document' in part ? part.document.length : part.packed.bytes), 0)
}
