import { type Digests, type RunDigest, SourceProblem } from '../../connector.ts'
import type { Session } from '../database/session.ts'
import { slices } from './keys.ts'
import { type KeyRange, rangeOf, runAfter, runExpression, runOf } from './runs.ts'
import {
  allSeries,
  isKeysOnly,
  isSeries,
  type Series,
  type SeriesName,
  seriesNames,
  size,
  tellsGoneOf,
} from './series.ts'
import { columnsOf, readsTreatmentNotes, sourceTables } from './source-tables.ts'
import type { Marks, TableWatch } from './table-watch.ts'

/** In this time every table is compared once, whatever its size: within an hour, also when cycles are late. */
const passMs = 50 * 60 * 1000

/** A practice with at most this many rows is compared whole in each cycle: what is deleted there is gone a minute later. */
const wholeRowsMax = 45_000

/** At a larger one this many rows are compared in each cycle, by this many statements, though fewer would do. */
const [rowsPerCycleMin, statementsPerCycleMin] = [20_000, 6]

/** Rows of one statement, and how long it may take before the next ones are half as large: it keeps workstations from writing. */
const [rowsPerStatementMax, statementMsMax] = [4000, 40]

/** Runs of one statement where nothing is known of them yet: more where few rows are found. */
const unknownRunsFirst = (series: SeriesName) => (allSeries[series].size === 1 ? 1 : 16)
const unknownRunsMax = rowsPerStatementMax / size

/** Of a watched database: in this time everything is compared once though no table was written to, in case that its times do not tell. */
const quietPassMs = 12 * 60 * 60 * 1000

/** Of a watched database, a part of the tables is compared so often, and what was deleted is looked for after so long by the rows that this takes. */
const [stepMs, goneRowsPerMs, goneMsMax] = [55_000, 2, 20_000]

/** Rows of one statement that reads an index alone, and of one while no table was written to. */
const [indexRowsPerStatement, quietRowsPerStatement] = [20_000, 1000]

/** What differs from the digests of earlier cycles. */
export type Comparison = {
  /** Whether a run of any of these tables differs. */
  differs(tables: readonly string[]): boolean
  /** Runs in which something changed, vanished or is new. */
  differing(series: string): readonly KeyRange[]
  /** Compares the runs of these values at once, and gives those that differ. */
  compareAround(series: SeriesName, values: readonly string[]): Promise<readonly KeyRange[]>
  /** To be called when the cycle has ended, with the tables of which not everything that differs was read and sent. */
  finish(missed: ReadonlySet<string>): void
}

/** What earlier cycles of one session compared: when a series was compared whole, and when the comparison of one began that goes on. */
export type ComparedBefore = {
  readonly marks: Marks
  readonly compared: Map<SeriesName, { readonly marks: Marks; readonly atMs: number }>
  readonly begun: Map<SeriesName, Marks>
  /** When what was deleted is to be looked for next; null: no table was written to since. */
  compareAtMs: number | null
}

/** The run to go on with, and when the one before it was compared. */
type Position = { readonly series: SeriesName; readonly run: number; readonly atMs: number }

const start: Omit<Position, 'atMs'> = { series: 'feesched', run: 0 }

/** Runs that are compared by one part of a statement. `mayEnd`: nothing is known of any behind them. */
type Piece = { series: SeriesName; firstRun: number; lastRun: number; rows: number; mayEnd: boolean }

/** A piece as the database has it now. `nextRun`: the first one behind it that has rows, or null. */
type Found = { readonly piece: Piece; readonly runs: readonly RunDigest[]; readonly nextRun: number | null }

/**
 * Compares the next part of the tables with what earlier cycles kept: as many rows as it takes to compare all within an hour, in statements
 * of a few thousand rows. Only numbers travel. The first time everything is compared, before anything is read: what changes from then on
 * differs.
 */
export async function compareDigests(
  session: Session,
  digests: Digests,
  options: {
    nowMs: number
    yieldToOffice: () => Promise<void>
    /** What a session that is kept knows from earlier cycles; null: each comparison is of all tables. */
    memory?: { readonly kept: ComparedBefore; readonly watch: TableWatch } | null
  },
): Promise<Comparison> {
  const memory = options.memory ?? null
  const differing = new Map<string, KeyRange[]>()
  const pending: Found[] = []
  const ended: SeriesName[] = []
  const { unreadable } = session.database
  const isRead = (name: SeriesName) =>
    !unreadable.has(allSeries[name].table) && (allSeries[name].table !== 'procnote' || readsTreatmentNotes(session))
  let names = seriesNames.filter((name) => isRead(name) && !isKeysOnly(name))
  let rowsPerStatement = rowsPerStatementMax

  async function read(pieces: readonly Piece[]): Promise<Found[]> {
    const startedAt = performance.now()
    const found = await readPieces(session, pieces)
    if (performance.now() - startedAt > statementMsMax)
      rowsPerStatement = Math.max(rowsPerStatementMax / 2, rowsPerStatement / 2)
    return found
  }

  /** The runs that differ. Their digests are kept when what is in them has arrived. */
  function compare(found: Found): KeyRange[] {
    const { series, firstRun, lastRun } = found.piece
    const changed = changedRuns(digests.between(series, firstRun, lastRun), found.runs)
    if (changed.length > 0) pending.push(found)
    return changed.map((run) => rangeOf(run, allSeries[series].size))
  }

  function note(found: Found): void {
    const { series } = found.piece
    const ranges = compare(found)
    const name = isKeysOnly(series) ? allSeries[series].table : series
    differing.set(name, [...(differing.get(name) ?? []), ...ranges])
    if (ranges.length > 0 && memory !== null && memory.kept.compared.has(series) && !isWritten(series)) {
      memory.watch.refute(allSeries[series].table, memory.kept.marks)
    }
  }

  /** Whether the series' table may have been written to since the series was compared. */
  function isWritten(name: SeriesName): boolean {
    const before = memory?.kept.compared.get(name)
    return (
      memory === null ||
      before === undefined ||
      memory.watch.isWritten(allSeries[name].table, before.marks, memory.kept.marks)
    )
  }

  async function readOrLeaveOut(from: { series: SeriesName; run: number }, unknownRuns: number) {
    try {
      return await read(nextPieces(digests, names, from, { rowsPerStatement, unknownRuns }))
    } catch (error) {
      if (!(error instanceof SourceProblem) || names.every(isRead)) throw error
      names = names.filter(isRead)
      return null
    }
  }

  /** This place, or the beginning of the next series that can be read. */
  function firstFrom({ series, run }: { series: SeriesName; run: number }) {
    if (names.includes(series)) return { series, run }
    const later = seriesNames.slice(seriesNames.indexOf(series)).find((name) => names.includes(name))
    return { series: later ?? names[0] ?? start.series, run: 0 }
  }

  async function compareFrom(begin: Omit<Position, 'atMs'>, rowsDue: number, each: (found: Found) => void) {
    let { series, run } = begin
    let unknownRuns = unknownRunsFirst(series)
    let [rows, statements, finished] = [0, 0, 0]
    const isEnough = () =>
      rows >= rowsDue && (memory !== null || rows >= rowsPerCycleMin || statements >= statementsPerCycleMin)
    for (; finished < names.length && !isEnough(); statements++) {
      if (statements >= statementsPerCycleMin) await options.yieldToOffice()
      const all = await readOrLeaveOut({ series, run }, unknownRuns)
      if (all === null) {
        // A table turned out to be unreadable: what is known of it stays, and the others are compared.
        ;({ series, run } = firstFrom({ series, run }))
        continue
      }
      for (const found of all) {
        each(found)
        if (memory !== null && found.piece.firstRun === 0) memory.kept.begun.set(found.piece.series, memory.kept.marks)
        const rowsFound = found.runs.reduce((sum, { rows }) => sum + rows, 0)
        rows += rowsFound
        const nextRun = earlier(found.nextRun, digests.nextRun(found.piece.series, found.piece.lastRun + 1))
        if (nextRun !== null) {
          ;({ series } = found.piece)
          run = nextRun
          if (rowsFound < 1000) unknownRuns = Math.min(unknownRuns * 2, unknownRunsMax)
          if (rowsFound > rowsPerStatement) unknownRuns = Math.ceil(unknownRuns / 2)
          // What the statement found of other tables is asked for again.
          break
        }
        ended.push(found.piece.series)
        series = seriesAfter(names, found.piece.series)
        run = 0
        unknownRuns = unknownRunsFirst(series)
        finished += 1
      }
    }
    return { series, run, atMs: options.nowMs }
  }

  /** Compares these series whole, at once. */
  async function compareWhole(series: readonly SeriesName[], rowsMax: number, each: (found: Found) => void) {
    const [first] = series
    if (first === undefined) return
    ;[names, rowsPerStatement] = [[...series], rowsMax]
    await compareFrom({ series: first, run: 0 }, Number.POSITIVE_INFINITY, each)
    rowsPerStatement = rowsPerStatementMax
  }

  const rowsOf = (series: readonly SeriesName[]) => series.reduce((sum, name) => sum + digests.rows(name), 0)
  const readable = names
  const ofGone = memory === null ? [] : seriesNames.filter((name) => isRead(name) && tellsGoneOf(name))
  const known = parsePosition(digests.position())
  if (known === null) {
    const after = await compareFrom(firstFrom(start), Number.POSITIVE_INFINITY, (found) => keep(digests, found))
    digests.keepPosition(JSON.stringify(after))
    await compareWhole(ofGone.filter(isKeysOnly), indexRowsPerStatement, (found) => keep(digests, found))
  }

  // What was deleted is looked for in the tables that were written to.
  const gone = ofGone.filter(isWritten)
  const lastAtMs = Math.max(0, ...gone.map((name) => memory?.kept.compared.get(name)?.atMs ?? 0))
  const goneAtMs = lastAtMs + Math.min(goneMsMax, rowsOf(gone) / goneRowsPerMs)
  const isGoneDue = known !== null && options.nowMs >= goneAtMs
  if (memory !== null) memory.kept.compareAtMs = gone.length > 0 && !isGoneDue ? goneAtMs : null
  if (isGoneDue) {
    // Of what no earlier session compared, what there is now is the beginning.
    const isNew = (name: SeriesName) => isKeysOnly(name) && digests.nextRun(name, 0) === null
    await compareWhole(gone.filter(isNew), indexRowsPerStatement, (found) => keep(digests, found))
    await compareWhole(
      gone.filter((name) => !ended.includes(name)),
      indexRowsPerStatement,
      note,
    )
  }

  const written = readable.filter((name) => isRead(name) && isWritten(name))
  const isSlow = memory !== null && written.length === 0
  names = isSlow ? readable.filter(isRead) : written
  if (isSlow) rowsPerStatement = quietRowsPerStatement
  const before = known === null || names.length === 0 ? null : { ...known, ...firstFrom(known) }
  const passedMs = options.nowMs - (before?.atMs ?? options.nowMs)
  const rows = rowsOf(names)
  const rowsDue = (rows * passedMs) / (isSlow ? quietPassMs : passMs)
  const isWhole = (!isSlow && rows <= wholeRowsMax) || rowsDue >= rows
  const isDue = memory === null || passedMs >= stepMs || passedMs < 0
  const after =
    before === null || !isDue
      ? null
      : await compareFrom(isWhole ? firstFrom(start) : before, isWhole ? Number.POSITIVE_INFINITY : rowsDue, note)

  return {
    differing: (series) => differing.get(series) ?? [],
    differs: (tables) =>
      [...differing].some(([name, runs]) => runs.length > 0 && tables.includes(name.split('.')[0] ?? '')),
    compareAround: async (series, values) => {
      const ranges: KeyRange[] = []
      const runs = [...new Set(values.map((value) => runOf(BigInt(value), allSeries[series].size)))]
      for (const slice of slices(runs, rowsPerStatementMax / size)) {
        const pieces = slice.map((run): Piece => ({ series, firstRun: run, lastRun: run, rows: 0, mayEnd: false }))
        for (const found of await read(pieces)) ranges.push(...compare(found))
      }
      return ranges
    },
    finish: (missed) => {
      for (const found of pending) if (!missed.has(allSeries[found.piece.series].table)) keep(digests, found)
      for (const name of memory === null ? [] : ended) {
        const marks = memory?.kept.begun.get(name)
        memory?.kept.begun.delete(name)
        if (marks !== undefined && !missed.has(allSeries[name].table)) {
          memory?.kept.compared.set(name, { marks, atMs: options.nowMs })
        }
      }
      if (after !== null) digests.keepPosition(JSON.stringify(after))
    },
  }
}

function keep(digests: Digests, { piece: { series, firstRun, lastRun }, runs }: Found): void {
  digests.replace(series, firstRun, lastRun, runs)
}

/** As much as one statement may compare, of as many tables as that needs. */
function nextPieces(
  digests: Digests,
  names: readonly SeriesName[],
  { series, run }: { series: SeriesName; run: number },
  { rowsPerStatement, unknownRuns }: { rowsPerStatement: number; unknownRuns: number },
): Piece[] {
  const pieces = [nextPiece(digests, series, run, rowsPerStatement, unknownRuns)]
  for (let rows = pieces[0]?.rows ?? 0; pieces.length < names.length && pieces.at(-1)?.mayEnd === true; ) {
    const next = seriesAfter(names, pieces.at(-1)?.series ?? series)
    const piece = nextPiece(digests, next, 0, rowsPerStatement - rows, unknownRunsFirst(next))
    rows += piece.rows
    if (rows > rowsPerStatement) break
    pieces.push(piece)
  }
  return pieces
}

/** Runs that are known, up to `rowsMax` rows; behind the last one, or where none is known, some more. */
function nextPiece(
  digests: Digests,
  series: SeriesName,
  firstRun: number,
  rowsMax: number,
  unknownRuns: number,
): Piece {
  let [lastRun, rows] = [null as number | null, 0]
  for (const known of digests.between(series, firstRun, Number.MAX_SAFE_INTEGER)) {
    if (lastRun !== null && rows + known.rows > rowsMax) return { series, firstRun, lastRun, rows, mayEnd: false }
    lastRun = known.run
    rows += known.rows
  }
  // Rows that were met before say that the table ends here, or nearly so; the first time nothing does.
  const mayEnd = rows > 0 || digests.position() !== null
  const { size: keys } = allSeries[series]
  // The first run itself, at least: the run before the first of the random ones is a counted one, far below it.
  const end = lastRun === null ? runAfter(firstRun, unknownRuns - 1, keys) : runAfter(lastRun, unknownRuns, keys)
  return { series, firstRun, lastRun: end, rows, mayEnd }
}

/** A row's columns as one text. "concat_ws" leaves nulls out, so without the marks of what is null, a value that moves to the next column would look the same. */
function rowText(columns: readonly string[]): string {
  return `concat_ws('|', ${columns.join(', ')}, ${columns.map((column) => `isnull(${column})`).join(', ')})`
}

async function readPieces(session: Session, pieces: readonly Piece[]): Promise<Found[]> {
  const statements = pieces.map(({ series, firstRun, lastRun }, piece) => {
    const { table, by, size, of }: Series = allSeries[series]
    // Of most of a table the server would read all of it.
    const index = by === sourceTables[table].key ? 'force index (primary)' : ''
    const columns = of === undefined ? columnsOf(session, table) : of.split(' ')
    const [first, last] = [rangeOf(firstRun, size)[0], rangeOf(lastRun, size)[1]]
    return `select ${piece} as piece, ${runExpression(by, size)} as run, count(*) as n, sum(crc32(${rowText(columns)})) as digest
              from ${table} ${index} where ${by} between ${first} and ${last} group by run
            union all select ${piece}, null, null, min(${by}) from ${table} where ${by} > ${last}`
  })
  const rows = Map.groupBy(await session.database.query(statements.join(' union all ')), (row) => Number(row.piece))
  return pieces.map((piece, index) => {
    const ofPiece = rows.get(index) ?? []
    const next = ofPiece.find((row) => row.run === null)?.digest ?? null
    return {
      piece,
      runs: ofPiece
        .filter((row) => row.run !== null)
        .map((row) => ({ run: Number(row.run), rows: Number(row.n), digest: row.digest ?? '' })),
      nextRun: next === null ? null : runOf(BigInt(next), allSeries[piece.series].size),
    }
  })
}

function changedRuns(before: Iterable<RunDigest>, now: readonly RunDigest[]): number[] {
  const marks = new Map([...before].map(({ run, rows, digest }) => [run, `${rows} ${digest}`]))
  const changed = now.filter(({ run, rows, digest }) => marks.get(run) !== `${rows} ${digest}`).map(({ run }) => run)
  const present = new Set(now.map(({ run }) => run))
  return [...changed, ...[...marks.keys()].filter((run) => !present.has(run))]
}

function earlier(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.min(left, right)
}

function seriesAfter(names: readonly SeriesName[], series: SeriesName): SeriesName {
  return names[names.indexOf(series) + 1] ?? names[0] ?? series
}

/** Null for none, and for that of another version of the agent, whose digests are of other columns. */
function parsePosition(text: string | null): Position | null {
  const position = text === null ? null : (JSON.parse(text) as Position)
  return position !== null && isSeries(position.series) ? position : null
}
