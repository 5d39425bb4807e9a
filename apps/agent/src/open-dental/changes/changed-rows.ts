import type { Database, Row } from '../database/connection.ts'
import type { Session } from '../database/session.ts'
import type { Comparison } from './digests.ts'
import { keyList, slices } from './keys.ts'
import { inRanges, type KeyRange } from './runs.ts'
import type { SeriesName } from './series.ts'
import { hasColumn, type SourceTable, type SourceTableName, sourceTables } from './source-tables.ts'

/** Rows of a table that changed, as far as they exist, with what they name; and runs of keys in which any may have changed or vanished. */
export type ChangedRows = { readonly rows: readonly Row[]; readonly runs: readonly KeyRange[] }

/** Above this many changed rows or records, reading all in the order of the tables is simpler and keeps no list of them. */
export const changedKeysMax = 50_000

/** More rows changed than are worth naming. */
export class ManyRowsChanged extends Error {}

/** Reads what changed in a table since the stamp, or is in a run that differs. */
export async function readChangedRows(
  session: Session,
  table: SourceTableName,
  stamp: string,
  runs: readonly KeyRange[],
): Promise<ChangedRows> {
  const { key, names, localStamp, ...source }: SourceTable = sourceTables[table]
  const columns = [`${key} as id`, ...names.split(' ')].filter((column) => column !== '').join(', ')
  const rows: Row[] = []
  const add = async (condition: string, values: readonly string[]) => {
    rows.push(
      ...(await session.database.query(
        `select ${columns} from ${table} where ${condition} limit ${changedKeysMax + 1}`,
        values,
      )),
    )
    if (rows.length > changedKeysMax) throw new ManyRowsChanged()
  }
  const moment = localStamp === true ? onServersClock(session, stamp) : stamp
  if (source.stamp !== null && hasColumn(session, table, source.stamp)) await add(`${source.stamp} >= ?`, [moment])
  for (const slice of slices(runs, 40)) await add(inRanges(key, slice), [])
  return { rows, runs }
}

/** The moment on the server's wall clock, an hour earlier for the night on which clocks are put back. */
function onServersClock({ offsetSeconds }: Session, stamp: string): string {
  const moment = Date.parse(`${stamp.replace(' ', 'T')}Z`) + (offsetSeconds - 3600) * 1000
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
}

/** Keys of records that changed, from the rows that they are made of. */
export function changedKeys(database: Database) {
  const keys = new Set<string>()

  function addKeys(ids: Iterable<string | null | undefined>): void {
    for (const id of ids) if (id !== null && id !== undefined && id !== '0') keys.add(id)
  }

  async function add(sql: string, values: readonly string[] = []): Promise<void> {
    addKeys((await database.query(sql, values)).map((row) => row.id))
  }

  /** Of the statement's rows those that name one of these keys in the column; asks nothing when there is none. */
  async function addReferring(sql: string, column: string, ids: Iterable<string | null | undefined>): Promise<void> {
    const numbers = new Set(ids).difference(new Set([null, undefined, '0']))
    for (const slice of slices([...numbers].map(String), 1000)) await add(`${sql} ${column} in (${keyList(slice)})`)
  }

  /** The same for runs of keys. */
  async function addInRuns(sql: string, column: string, runs: readonly KeyRange[]): Promise<void> {
    for (const slice of slices(runs, 40)) await add(`${sql} ${inRanges(column, slice)}`)
  }

  return {
    keys,
    addKeys,
    add,
    addReferring,
    addInRuns,
    /** The same for rows that changed, or may have. */
    addNaming: async (sql: string, column: string, { rows, runs }: ChangedRows): Promise<void> => {
      await addReferring(
        sql,
        column,
        rows.map((row) => row.id),
      )
      await addInRuns(sql, column, runs)
    },
  }
}

/** The two days in order: a clock may also go back. */
export function daysBetween(before: string, now: string): readonly [string, string] {
  return before <= now ? [before, now] : [now, before]
}

/** What a cycle without `findSilentChanges` knows: nothing differs, and where it must be known, everything may. */
export const nothingCompared: Comparison = {
  differing: () => [],
  differs: () => false,
  compareAround: async (_series: SeriesName, values) => values.map((value) => [BigInt(value), BigInt(value)] as const),
  finish: () => {},
}
