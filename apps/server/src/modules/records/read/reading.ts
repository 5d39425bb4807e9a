import type { Pool } from 'pg'
import type { ReadPermit } from '../../consent/read-permit.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import type { Document } from '../write/document.ts'
import { countModified, countStarting, countStartingWide } from './count-store.ts'
import { readSmallDelta } from './read-store.ts'
import { type Range, type Selection, startsRange, wholeDataset } from './selection.ts'
import { type Along, type Count, countAlong, countUpTo, readAlong } from './selection-sql.ts'

/** How the pages of one selection are read: by which statement, and how many records there are in all. */
export type Reading = {
  total: number
  read: (pool: Pool, permit: ReadPermit, after: string, limit: number) => Promise<Document[]>
}

/** Up to this many records are always sorted: that costs a few milliseconds. */
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
  if (patientId !== null) return await countedAlong(pool, permit, selection, 'patient')
  if (range === null) return await readingOfModified(pool, permit, modifiedAfter ?? 0, sortedMax)
  if (modifiedAfter !== null)
    return await readingOfModifiedRange(pool, permit, modifiedAfter, range, selection, sortedMax)
  const counted = await countStarting(pool, permit, range)
  return sortedOrWide(counted, sortedMax, along(selection, 'starts'), along(selection, 'id'))
}

async function readingOfModified(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  sortedMax: number,
): Promise<Reading> {
  const counted = await countModified(pool, permit, modifiedAfter)
  const wide = along({ ...wholeDataset, modifiedAfter }, 'id')
  const sorted: Reading['read'] = async (on, by, after, limit) => {
    const small = await readSmallDelta(on, by, modifiedAfter, after, limit, counted.total)
    return small?.documents ?? wide(on, by, after, limit)
  }
  return sortedOrWide(counted, sortedMax, sorted, wide)
}

/** A filter that matches little leads: most often little was modified, and a count that stops at a limit says so at once. */
async function readingOfModifiedRange(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
  range: Range,
  selection: Selection,
  sortedMax: number,
): Promise<Reading> {
  for (const [leading, alone] of [
    ['modified', { ...selection, startsFrom: null, startsTo: null }],
    ['starts', { ...selection, modifiedAfter: null }],
  ] as const) {
    if ((await countUpTo(pool, permit, alone, leading, sortedMax + 1)) <= sortedMax) {
      return await countedAlong(pool, permit, selection, leading)
    }
  }
  const counted = await countStartingWide(pool, permit, modifiedAfter, range)
  return { total: counted.total, read: fromLowest(counted, along(selection, 'id')) }
}

async function countedAlong(pool: Pool, permit: ReadPermit, selection: Selection, index: Along): Promise<Reading> {
  const { total } = await countAlong(pool, permit, selection, index)
  return { total, read: along(selection, index) }
}

function along(selection: Selection, index: Along): Reading['read'] {
  return (pool, permit, after, limit) => readAlong(pool, permit, selection, index, after, limit)
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
