import type { ByLocation, SourceRecord } from '../connector.ts'
import type { ChangedRows } from './changes/changed-rows.ts'
import type { Comparison } from './changes/digests.ts'
import type { Lookup } from './changes/lookup.ts'
import type { RecordTable } from './changes/record-table.ts'
import type { SourceTableName } from './changes/source-tables.ts'
import type { TableName } from './changes/tables-read.ts'
import type { Session } from './database/session.ts'
import type { LocationMap } from './location-map.ts'

/** Small tables that one dataset needs beside its own rows, by name. */
export type Lookups = Readonly<Record<string, Lookup>>

/** What one cycle's reads share. */
export type Reading = {
  readonly session: Session
  readonly locations: LocationMap
  /** The practice's day, `YYYY-MM-DD`: what falls due does so without a change to any row. */
  readonly today: string
  /** Reads something of small tables once per cycle, whichever datasets ask for it; not at all while none of the tables was written to. */
  readonly lookup: (name: string, tables: readonly TableName[], read: () => Promise<Lookup>) => Promise<Lookup>
}

/** What is different since the last finished read of a dataset. */
export type Since = {
  /** The practice's day then. */
  readonly today: string
  /** The newest note's key then; null: notes were not read. */
  readonly newestNote: string | null
  /** Keys that are new, gone or other, per lookup. */
  readonly changed: (lookup: string) => readonly string[]
  /** Rows of a table that changed: by their stamps, or because a run of them differs. */
  readonly rows: (table: SourceTableName) => Promise<ChangedRows>
  /** What differs from earlier cycles without a stamp. */
  readonly compared: Pick<Comparison, 'differing' | 'compareAround'>
}

/** How one dataset is read. One file per dataset fills this in. */
export type DatasetReader = {
  /** Every table that its statements name, besides those of the locations. It is read only while all of them can be. */
  reads(reading: Pick<Reading, 'session' | 'locations'>): readonly TableName[]
  /** Read whole at each cycle, before the rows that use them. */
  readLookups(reading: Reading): Promise<Lookups>
  /** The tables whose rows are the records, or become them. */
  readonly tables: readonly RecordTable[]
  /**
   * Highest keys and change stamps (`YYYY-MM-DD HH:MM:SS`, UTC), by a name each. One that is lower than it was means that
   * the database went back in time.
   */
  readHighest(reading: Reading): Promise<Readonly<Record<string, string>>>
  /** The newest note's key, of a dataset with notes in a table of their own; undefined while they are not read. */
  readNewestNote?(reading: Reading): Promise<string | undefined>
  /** Keys of records that changed, or may have: by the rows that they are made of, and by what changed in the lookups. Null: all may have. */
  changedKeys(reading: Reading, since: Since): Promise<string[] | null>
  readonly keysPerChunk: number
  readRecords(reading: Reading, lookups: Lookups, keys: readonly string[]): Promise<ByLocation<readonly SourceRecord[]>>
}

/** Above this many changed rows of small tables, reading all is simpler than asking who uses each. */
export const changedLookupsMax = 1000
