import type { DatasetName } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { Access } from './access.ts'
import { notEnded } from './in-force.ts'

/** A dataset of a location whose notes some company may read, and since when without a break. */
export type NotesGranted = { locationId: LocationId; dataset: DatasetName; since: Date }

/** The datasets of these locations whose notes are granted to anybody: no other's are stored. */
export async function listNotesGranted(db: Queryable, locationIds: readonly LocationId[]): Promise<NotesGranted[]> {
  const { rows } = await db.query<{ location_id: LocationId; dataset: DatasetName; since: Date }>(
    `select location_id, dataset, min(notes_since) as since
       from dataset_grant g
      where location_id = any($1::bigint[]) and notes_since is not null and ${notEnded('g')}
      group by location_id, dataset
      order by location_id, dataset`,
    [locationIds],
  )
  return rows.map((row) => ({ locationId: row.location_id, dataset: row.dataset, since: row.since }))
}

/** Whether any company may read the notes of this dataset. For a writer: asked while it holds the dataset's turn. */
export async function hasNotesGranted(db: Queryable, locationId: LocationId, dataset: DatasetName): Promise<boolean> {
  const granted = await listNotesGranted(db, [locationId])
  return granted.some((each) => each.dataset === dataset)
}

/** Leaves the notes of grants that have just ended to the background, which removes those that no other grant has. */
export async function requestNoteRemovals(client: Queryable, ended: Access): Promise<void> {
  const withNotes = ended.filter(({ notes }) => notes)
  if (withNotes.length === 0) return
  await client.query(
    `insert into note_removal (location_id, dataset)
     select ended.location_id, ended.dataset
       from unnest($1::bigint[], $2::text[]) as ended (location_id, dataset)
         on conflict (location_id, dataset) do update set after_id = 0`,
    [withNotes.map(({ locationId }) => locationId), withNotes.map(({ dataset }) => dataset)],
  )
}

export type NoteRemoval = { locationId: LocationId; dataset: DatasetName }

/** How far a removal of notes has come; null when another process has finished it. To be asked in the dataset's turn. */
export async function lockNoteRemoval(client: Queryable, removal: NoteRemoval): Promise<{ afterId: string } | null> {
  const { rows } = await client.query<{ after_id: string }>(
    'select after_id from note_removal where location_id = $1 and dataset = $2 for update',
    [removal.locationId, removal.dataset],
  )
  return rows[0] ? { afterId: rows[0].after_id } : null
}

/** Moves a removal of notes on to `afterId`, or ends it when that is null. */
export async function saveNoteRemoval(client: Queryable, removal: NoteRemoval, afterId: string | null): Promise<void> {
  const key = [removal.locationId, removal.dataset]
  const where = 'location_id = $1 and dataset = $2'
  if (afterId === null) await client.query(`delete from note_removal where ${where}`, key)
  else {
    const progress = 'after_id = $3, attempts = 0, last_error = null'
    await client.query(`update note_removal set ${progress} where ${where}`, [...key, afterId])
  }
}
