import type { DatasetName } from '../dataset-resource.ts'
import type { LocationRecord, OrganizationRecord } from '../directory-resource.ts'
import type { Freshness } from '../pages/page.ts'

/** One dataset of one location: what is walked, and what has a position. */
export type SyncKey = { locationId: string; dataset: DatasetName }

/**
 * How far the copy of one dataset of one location is.
 *
 *   none → initial walk (watermark null, walk set) → whole (watermark set, walk null) ⇄ delta walk (both set)
 */
export type SyncPosition = SyncKey & {
  /** What the next delta begins with; null until the first walk has ended. */
  watermark: string | null
  /** The service's epoch that the watermark is of; left out: of an earlier release. */
  epoch?: string | null
  /** A walk that has not ended; it is gone on with, also by another process. */
  walk: {
    /** The watermark that it asks for changes since; null: all records. */
    since: string | null
    /** Where its next page begins. */
    after: string
    /** The watermark of its first page: the dataset's, once the walk has ended. */
    watermark: string
    /** A walk by page number means another page when pages have another size. */
    pageSize: number
    /** The epoch of its pages so far. In another one it begins anew. */
    epoch?: string | null
    /** Set in a walk of everything over a copy of another epoch: what the copy has after this id and the walk does not name is taken out. */
    strayAfter?: string | null
  } | null
}

/** A record as the service sends it. */
export type SyncRecord = { id: string; type: string; attributes: Record<string, unknown> }

export type SyncPage = SyncKey & {
  /** In ascending order of id. */
  records: readonly SyncRecord[]
  /** Records to take out, because the service does not have them: it was restored from a backup, or a verification found them. A removal at the practice is a record with `is_hidden`. */
  strayIds: readonly string[]
  /** A walk's page, or what a verification mends out of order. */
  kind: 'walk' | 'repair'
  /** The position that is kept when the page comes; null: none. Another one was written by another sync, whose records may be newer than these. */
  previous: SyncPosition | null
  position: SyncPosition
  /** True in every page of a walk that names all that the service has, and replaces the copy. `strayIds` says what leaves with this page. */
  replaces?: boolean
  /** True in the first page of a walk that begins in the place of another one, which had not ended. */
  isAnew?: boolean
  /** How current the service's copy was when it sent the page; left out by a repair. */
  freshness?: Freshness | null
}

/** What the credential may read now: the locations, with the datasets granted at each, and their owners. */
export type SyncDirectory = { locations: readonly LocationRecord[]; organizations: readonly OrganizationRecord[] }

/** Another sync writes to the same copy. What it wrote stands; the next call goes on from there. */
export class StoreConflictError extends Error {
  override readonly name = 'StoreConflictError'

  constructor({ dataset, locationId }: SyncKey) {
    super(
      `Another sync writes to this copy: it has gone on with ${dataset} of location ${locationId}. One at a time is enough.`,
    )
  }
}

/** Where a copy is kept: four functions, and four that a store may leave out. Calls for different locations may overlap; those for one location do not. */
export type SyncStore = {
  /** Every position that is kept. */
  positions: () => Promise<SyncPosition[]>
  /**
   * Inserts or replaces the page's records by dataset, location and id, and keeps its position: both or neither, whenever the process may die.
   * Neither, and a StoreConflictError, when the position that is kept is not the page's `previous`.
   */
  apply: (page: SyncPage) => Promise<void>
  /** What is kept of one dataset of one location, in ascending order of id (as a number). */
  read: (key: SyncKey) => AsyncIterable<SyncRecord>
  /** Keeps the directory. Locations and organizations that are no longer in it stay; grants that are not end. Called at the beginning of a sync. */
  saveDirectory?: (directory: SyncDirectory) => Promise<void>
  /**
   * Compares the rows that a store makes of records, for people to query, with those that its records give. Returns of how many records the
   * rows differ, rows without a record included, and makes them right when `repair` is true.
   */
  checkRows?: (key: SyncKey, options: { repair: boolean }) => Promise<number>
  /** Takes out all records of one dataset of one location, and its position: the service was restored and does not know the location any more. */
  forget?: (key: SyncKey) => Promise<void>
  /** Called when a sync has ended: the time for indexes, which would slow a first walk down. */
  finish?: () => Promise<void>
  close: () => Promise<void>
}
