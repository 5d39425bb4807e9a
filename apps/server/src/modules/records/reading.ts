import type { Pool } from 'pg'
import type { ReadPermit } from '../consent/read-permit.ts'
import type { Stamp } from '../datasets/stamp.ts'
import {
  type Count,
  countModified,
  countModifiedStarting,
  countModifiedUpTo,
  countOfPatient,
  countOfPatientStarting,
  countStarting,
  countStartingModified,
  countStartingUpTo,
  countStartingWide,
} from './count-store.ts'
import {
  readModifiedStarting,
  readOfPatient,
  readOfPatientStarting,
  readStarting,
  readStartingModified,
  readStartingWide,
} from './filter-store.ts'
import { type Document, readLargeDelta, readSmallDelta } from './read-store.ts'
import { type Range, type Selection, startsRange } from './selection.ts'

/** How the pages of one selection are read: by which statement, and how many records there are in all. */
export type Reading = {
  total: number
  read: (pool: Pool, permit: ReadPermit, after: string, limit: number) => Promise<Document[]>
}

/** So many records are always sorted: that costs a few milliseconds. */
export const sortedMaxUsual = 20_000

/**
 * Counts what a selection matches and chooses how its pages are read, so that a page costs what it returns and not what the location holds:
 * along the patient's index, from the index of the narrower filter and then sorted, or along the primary key where so much matches that
 * sorting it for every page would be quadratic.
 */
export async function chooseReading(
  pool: Pool,
  permit: ReadPermit,
  selection: Selection,
  sortedMax: number,
): Promise<Reading> {
  const { patientId, modifiedAfter } = selection
  const range = startsRange(selection)
  if (patientId !== null) return readingOfPatient(pool, permit, patientId, range, modifiedAfter ?? 0)
  if (range === null) return readingOfModified(pool, permit, modifiedAfter ?? 0, sortedMax)
  if (modifiedAfter === null) return readingOfRange(pool, permit, range, sortedMax)
  return readingOfModifiedRange(pool, permit, modifiedAfter, range, sortedMax)
}

async function readingOfPatient(
  pool: Pool,
  permit: ReadPermit,
  patientId: string,
  range: Range | null,
  modifiedAfter: Stamp,
): Promise<Reading> {
  if (range === null) {
    const { total } = await countOfPatient(pool, permit, patientId, modifiedAfter)
    return { total, read: (on, by, after, limit) => readOfPatient(on, by, patientId, modifiedAfter, after, limit) }
  }
  const { total } = await countOfPatientStarting(pool, permit, patientId, range, modifiedAfter)
  return {
    total,
    read: (on, by, after, limit) => readOfPatientStarting(on, by, patientId, range, modifiedAfter, after, limit),
  }
}

async function readingOfModified(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  sortedMax: number,
): Promise<Reading> {
  const counted = await countModified(pool, permit, modifiedAfter)
  return sortedOrWide(
    counted,
    sortedMax,
    async (on, by, after, limit) => {
      const small = await readSmallDelta(on, by, modifiedAfter, after, limit, counted.total)
      return small?.documents ?? readLargeDelta(on, by, modifiedAfter, after, limit)
    },
    (on, by, after, limit) => readLargeDelta(on, by, modifiedAfter, after, limit),
  )
}

async function readingOfRange(pool: Pool, permit: ReadPermit, range: Range, sortedMax: number): Promise<Reading> {
  const counted = await countStarting(pool, permit, range)
  return sortedOrWide(
    counted,
    sortedMax,
    (on, by, after, limit) => readStarting(on, by, range, after, limit),
    (on, by, after, limit) => readStartingWide(on, by, 0, range, after, limit),
  )
}

/** A filter that matches little leads: most often little was modified, and a count that stops at a limit says so at once. */
async function readingOfModifiedRange(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  range: Range,
  sortedMax: number,
): Promise<Reading> {
  if ((await countModifiedUpTo(pool, permit, modifiedAfter, sortedMax + 1)) <= sortedMax) {
    const { total } = await countModifiedStarting(pool, permit, modifiedAfter, range)
    return {
      total,
      read: (on, by, after, limit) => readModifiedStarting(on, by, modifiedAfter, range, after, limit),
    }
  }
  if ((await countStartingUpTo(pool, permit, range, sortedMax + 1)) <= sortedMax) {
    const { total } = await countStartingModified(pool, permit, modifiedAfter, range)
    return {
      total,
      read: (on, by, after, limit) => readStartingModified(on, by, modifiedAfter, range, after, limit),
    }
  }
  const counted = await countStartingWide(pool, permit, modifiedAfter, range)
  const walk: Reading['read'] = (on, by, after, limit) => readStartingWide(on, by, modifiedAfter, range, after, limit)
  return { total: counted.total, read: fromLowest(counted, walk) }
}

/**
 * Sorting reads all that matches for each page; walking reads, on average, as many rows as the location has for each record that matches.
 * The cheaper of the two, and always sorting where little matches.
 */
function sortedOrWide(counted: Count, sortedMax: number, sorted: Reading['read'], wide: Reading['read']): Reading {
  const walk = fromLowest(counted, wide)
  const read: Reading['read'] = (pool, permit, after, limit) => {
    const { total } = counted
    const isSorted = total <= sortedMax || total * total <= permit.state.total * limit
    return (isSorted ? sorted : walk)(pool, permit, after, limit)
  }
  return { total: counted.total, read }
}

/** A walk begins at the first record that matches, and not where none does: the rest of a large location would be read for nothing. */
function fromLowest({ total, lowestId }: Count, walk: Reading['read']): Reading['read'] {
  const before = (BigInt(lowestId) - 1n).toString()
  return async (pool, permit, after, limit) => {
    if (after !== '0') return walk(pool, permit, after, limit)
    return total === 0 ? [] : walk(pool, permit, before, limit)
  }
}
