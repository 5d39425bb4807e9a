import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { Problem } from '../../../platform/errors/problem.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { findNextLocationId } from '../../directory/location.ts'
import { rerenderRecords, toRenderAgain } from './change.ts'
import { readForRendering } from './reference-store.ts'
import { renderRecords } from './rendering.ts'
import { takeTurn } from './turn.ts'
import { listIdsAfter } from './write-store.ts'

/** Where a check of all records stands: the next record is the first one after this. */
export type Position = { readonly locationId: LocationId; readonly dataset: DatasetName; readonly afterId: string }

const sliceMax = 1000

/**
 * Checks some records after `from`: whether the ids in what vendors receive are those that their references lead to in their own location.
 * The service stores no other; a change by hand in the database, or a future mistake, might. Such a record is reported and
 * rendered again, so that no vendor receives it any longer. Returns where to go on; begins again after the last record.
 */
export async function findForeignReferences(
  deps: { pool: Pool; log: Log },
  from: Position,
  recordsMax: number,
): Promise<Position> {
  let position = from
  for (let checked = 0; checked < recordsMax; ) {
    const { locationId, dataset, afterId } = position
    const ids = await listIdsAfter(deps.pool, locationId, dataset, afterId, sliceMax)
    if (ids.length > 0) await check(deps, locationId, dataset, ids)
    // An empty dataset costs its statements, too.
    checked += Math.max(ids.length, 100)
    const last = ids.at(-1)
    position =
      last !== undefined && ids.length === sliceMax
        ? { ...position, afterId: last }
        : await nextDataset(deps.pool, position)
  }
  return position
}

/** In the writers' turn, so that what is rendered now and what was stored are of one moment. */
async function check(
  { pool, log }: { pool: Pool; log: Log },
  locationId: LocationId,
  dataset: DatasetName,
  ids: readonly string[],
): Promise<void> {
  await takeTurn(pool, locationId, dataset, async (turn) => {
    const stored = await readForRendering(turn.client, locationId, dataset, ids)
    const { rows } = await renderRecords(turn, dataset, await toRenderAgain(dataset, stored), 0)
    const own = new Map(rows.map((row) => [row.id, JSON.parse(row.document)]))
    const foreign = stored.filter(({ id, document, document_with_notes }) =>
      [document, document_with_notes ?? document].some((text) => hasOtherIds(JSON.parse(text), own.get(id))),
    )
    for (const { id } of foreign) log({ event: 'record.foreign_reference', locationId, dataset, recordId: id })
    await rerenderRecords(
      turn,
      dataset,
      foreign.map(({ id }) => id),
    )
  }).catch((error: unknown) => {
    // Writers come first; these records are checked the next time round.
    if (!(error instanceof Problem)) throw error
  })
}

/** Whether `one` has an id where `other` has another or none. Where only `other` has one, the target was received since. */
function hasOtherIds(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return false
  return Object.entries(one).some(([name, value]) => {
    const own: unknown = Object(other)[name]
    if (!/^id$|(?<!source)_ids?$/.test(name)) return hasOtherIds(value, own)
    return [value].flat().some((id) => id !== null && ![own].flat().includes(id))
  })
}

/** The first dataset after this one, over the locations by id; the very first after the last. Housekeeping: it names no location. */
async function nextDataset(pool: Pool, { locationId, dataset }: Position): Promise<Position> {
  const next = datasetNames[datasetNames.indexOf(dataset) + 1]
  if (next !== undefined) return { locationId, dataset: next as DatasetName, afterId: '0' }
  return {
    locationId: (await findNextLocationId(pool, locationId)) ?? locationId,
    dataset: datasetNames[0] as DatasetName,
    afterId: '0',
  }
}
