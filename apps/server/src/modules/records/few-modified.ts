import type { Pool } from 'pg'
import { askPrepared, plainArray } from '../../platform/database/prepared.ts'
import { askTogether } from '../../platform/database/together.ts'
import type { ReadPermit } from '../consent/read-permit.ts'
import type { Stamp } from '../datasets/stamp.ts'
import { type Document, documentOf } from './read-store.ts'

/** Most deltas have no more. 32 requests that ask together have fewer records in memory than one page may have. */
export const fewMaxUsual = 50

/**
 * What was modified after a stamp, in id order, where that is at most `fewMaxUsual` records; null where it is more. One walk along
 * record_modified, without the counting and sorting of `readSmallDelta`, and one statement for all that ask in one turn of the event loop.
 */
export async function readFewModified(
  pool: Pool,
  permit: ReadPermit,
  modifiedAfter: Stamp,
): Promise<Document[] | null> {
  const found = await (permit.notes ? askWithNotes : ask)(pool, { permit, modifiedAfter })
  if (found.length > fewMaxUsual) return null
  return found.toSorted(([one], [other]) => (BigInt(one) < BigInt(other) ? -1 : 1))
}

type Asked = { permit: ReadPermit; modifiedAfter: Stamp }

const ask = askTogether(readBatch)
const askWithNotes = askTogether(readBatch)

/** All of a batch have notes, or none has. */
async function readBatch(pool: Pool, batch: readonly Asked[]): Promise<Document[][]> {
  const [first] = batch
  if (!first) return []
  const { named, document } = documentOf(first.permit)
  // The sub-selects hide the values from the planner. With them it expects fewer rows, and plans the statement anew at each call.
  const rows = await askPrepared(pool, {
    name: `records.few_modified${named}`,
    text: `select one.place, record.id, record.document
       from unnest((select $1::bigint[]), (select $2::text[]), (select $3::bigint[])) with ordinality
              as one (location_id, dataset, modified_after, place)
      cross join lateral (
        select id, ${document} as document
          from record
         where location_id = one.location_id and dataset = one.dataset and modified_at > one.modified_after
         order by modified_at
         limit ${fewMaxUsual + 1}
      ) record`,
    values: [
      plainArray(batch.map(({ permit }) => permit.locationId)),
      plainArray(batch.map(({ permit }) => permit.dataset)),
      plainArray(batch.map(({ modifiedAfter }) => modifiedAfter)),
    ],
  })
  const found = batch.map((): Document[] => [])
  for (const [place, id, text] of rows as [string, string, string][]) found[Number(place) - 1]?.push([id, text])
  return found
}
