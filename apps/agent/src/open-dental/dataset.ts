import type { ByLocation, SourceRecord } from '../connector.ts'
import type { Database } from './connection.ts'
import type { KeyedTable } from './keys.ts'
import type { Lookup } from './lookup.ts'
import type { Session } from './session.ts'

/** Small tables that one dataset needs beside its own, by a name of its choosing. */
export type Lookups = Readonly<Record<string, Lookup>>

/** How one dataset is read. One file per dataset fills this in. */
export type DatasetReader = {
  /** Read whole at each cycle, before the rows that use them. */
  readLookups(session: Session): Promise<Lookups>
  /** The table whose rows are the records. */
  readonly table: KeyedTable
  /** The highest change stamp of the tables read by stamp, `YYYY-MM-DD HH:MM:SS` in UTC, or ''. */
  highestStamp(database: Database): Promise<string>
  /** Keys of rows whose stamp is not before `since`, and of those that use a changed row of a lookup. */
  changedKeys(
    database: Database,
    since: string,
    changed: Readonly<Record<string, readonly string[]>>,
  ): Promise<string[]>
  readonly keysPerChunk: number
  readRecords(
    session: Session,
    lookups: Lookups,
    keys: readonly string[],
    locationIds: readonly string[],
  ): Promise<ByLocation<readonly SourceRecord[]>>
}

/** So many changed rows of small tables that reading all is simpler than asking who uses each. */
export const changedLookupsMax = 1000
