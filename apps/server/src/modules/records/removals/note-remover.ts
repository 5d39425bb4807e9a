import { type DatasetName, getDataset } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { bigintArray, textArray } from '../../../platform/database/bulk/binary-array.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { mapWithPauses } from '../../../platform/memory/pauses.ts'
import { hasNotesGranted, lockNoteRemoval, type NoteRemoval, saveNoteRemoval } from '../../consent/notes.ts'
import { attemptWork, createWorker, findDue, noLocation, type Worker } from '../write/background-work.ts'
import { hashSource, withoutNotes } from '../write/document.ts'
import { type SourceColumns, sourceOf, sourceText, storedSource } from '../write/stored-source.ts'
import { takeTurn } from '../write/turn.ts'

const task = 'note_removal'

/** At most this many notes, of at most 20,000 characters each, are in memory at once. */
const sliceMax = 1000

/**
 * Removes the notes of datasets for which the last grant with notes has ended. No record gets a new stamp: what other companies receive stays
 * as it was, and the company that lost the notes gets everything again because its grant did.
 */
export function createNoteRemover(deps: { pool: Pool; log: Log; pollMs?: number }): Worker {
  return createWorker({ ...deps, task, slice: (after) => removeNotesSlice(deps.pool, deps.log, after) })
}

/** One slice of the next location after this one. Returns that location; null when nothing is due anywhere. */
export async function removeNotesSlice(
  pool: Pool,
  log: Log,
  after: LocationId = noLocation,
): Promise<LocationId | null> {
  const row = await findDue<{ location_id: LocationId; dataset: DatasetName }>(
    pool,
    'note_removal',
    'location_id, dataset',
    '',
    after,
  )
  if (!row) return null
  const removal = { locationId: row.location_id, dataset: row.dataset }
  await attemptWork({ db: pool, log, task }, 'note_removal', [removal.locationId, removal.dataset], () =>
    takeTurn(pool, removal.locationId, removal.dataset, ({ client }) => removeNext(client, log, removal)),
  )
  return removal.locationId
}

async function removeNext(client: PoolClient, log: Log, removal: NoteRemoval): Promise<void> {
  const { locationId, dataset } = removal
  const current = await lockNoteRemoval(client, removal)
  if (!current) return
  // Granted again meanwhile: the agent sends everything once more.
  if (await hasNotesGranted(client, locationId, dataset)) return await saveNoteRemoval(client, removal, null)
  const noted = await listNoted(client, locationId, dataset, current.afterId)
  const definition = getDataset(dataset)
  const bare = await mapWithPauses(noted, (row) => {
    const source = withoutNotes(definition, sourceOf(definition, row))
    const text = sourceText(dataset, source)
    return { id: row.id, source_hash: hashSource(text), source: storedSource(definition, text, source) }
  })
  await saveWithoutNotes(client, locationId, dataset, bare)
  await saveNoteRemoval(client, removal, noted.length < sliceMax ? null : (noted.at(-1)?.id ?? null))
  log({ event: 'notes.removed', locationId, dataset, records: noted.length })
}

/** The records after this one that have a note, rising, by the primary key. */
async function listNoted(client: PoolClient, locationId: LocationId, dataset: DatasetName, afterId: string) {
  const { rows } = await client.query<SourceColumns & { id: string }>(
    `select id, source, document, document_with_notes
       from record
      where location_id = $1 and dataset = $2 and id > $3 and document_with_notes is not null
      order by id
      limit $4`,
    [locationId, dataset, afterId, sliceMax],
  )
  return rows
}

async function saveWithoutNotes(
  client: PoolClient,
  locationId: LocationId,
  dataset: DatasetName,
  records: readonly { id: string; source: string; source_hash: string }[],
): Promise<void> {
  await client.query(
    `update record
        set source = row.source, source_hash = decode(row.source_hash, 'hex'), document_with_notes = null
       from unnest($3::bigint[], $4::text[], $5::text[]) as row (id, source, source_hash)
      where record.location_id = $1 and record.dataset = $2 and record.id = row.id`,
    [
      locationId,
      dataset,
      bigintArray(records.map(({ id }) => id)),
      textArray(records.map((record) => record.source)),
      textArray(records.map((record) => record.source_hash)),
    ],
  )
}
