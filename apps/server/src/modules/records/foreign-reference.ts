import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { rerenderRecords } from './change.ts'
import { readForRendering } from './reference-store.ts'
import { renderRecords } from './rendering.ts'
import { takeTurn } from './turn.ts'
import { listIdsAfter } from './write-store.ts'

/** Where a look over all records stands: the next record is the first one after this. */
export type Place = { readonly locationId: LocationId; readonly dataset: DatasetName; readonly afterId: string }

const sliceMax = 1000

/**
 * Looks at some records after `from` whether the ids that stand in what vendors receive are those that their references lead to in their
 * own location. No write of ours makes another; a hand in the database, or a mistake of ours to come, might. Such a record is reported, and
 * rendered again, so that nobody is shown it any longer. Gives where to go on; begins again after the last record.
 */
export async function findForeignReferences(
  deps: { pool: Pool; log: Log },
  from: Place,
  recordsMax: number,
): Promise<Place> {
  let place = from
  for (let looked = 0; looked < recordsMax; ) {
    const { locationId, dataset, afterId } = place
    const ids = await listIdsAfter(deps.pool, locationId, dataset, afterId, sliceMax)
    if (ids.length > 0) await lookAt(deps, locationId, dataset, ids)
    // An empty dataset costs its statements, too.
    looked += Math.max(ids.length, 100)
    const last = ids.at(-1)
    place =
      last !== undefined && ids.length === sliceMax ? { ...place, afterId: last } : await nextDataset(deps.pool, place)
  }
  return place
}

/** In the writers' turn: what is rendered now and what was stored are then of one moment. */
async function lookAt(
  { pool, log }: { pool: Pool; log: Log },
  locationId: LocationId,
  dataset: DatasetName,
  ids: readonly string[],
): Promise<void> {
  await takeTurn(pool, locationId, dataset, async (turn) => {
    const stored = await readForRendering(turn.client, locationId, dataset, ids)
    const records = stored.map((row) => ({ id: row.id, sourceId: row.source_id, source: row.source }))
    const { rows } = await renderRecords(turn, dataset, records, 0)
    const own = new Map(rows.map((row) => [row.id, row.document]))
    const foreign = stored.filter((row) => hasOtherIds(JSON.parse(row.document), JSON.parse(own.get(row.id) ?? '{}')))
    for (const { id } of foreign) log({ event: 'record.foreign_reference', locationId, dataset, recordId: id })
    await rerenderRecords(
      turn,
      dataset,
      foreign.map(({ id }) => id),
    )
  }).catch((error: unknown) => {
    // Writers come first; these records have their turn the next time round.
    if (!(error instanceof Problem)) throw error
  })
}

/** Whether an id stands in the one where the other has another or none. Nothing where the other has one is a target that came since. */
function hasOtherIds(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return false
  return Object.entries(one).some(([name, value]) => {
    const own: unknown = Object(other)[name]
    if (!/^id$|(?<!source)_ids?$/.test(name)) return hasOtherIds(value, own)
    return [value].flat().some((id) => id !== null && ![own].flat().includes(id))
  })
}

/** The first dataset after this one, over the locations by id; the very first after the last. Housekeeping: it names no location. */
async function nextDataset(pool: Pool, { locationId, dataset }: Place): Promise<Place> {
  const next = datasetNames[datasetNames.indexOf(dataset) + 1]
  if (next !== undefined) return { locationId, dataset: next as DatasetName, afterId: '0' }
  const { rows } = await pool.query<{ id: LocationId }>('select id from location order by id <= $1, id limit 1', [
    locationId,
  ])
  return { locationId: rows[0]?.id ?? locationId, dataset: datasetNames[0] as DatasetName, afterId: '0' }
}
