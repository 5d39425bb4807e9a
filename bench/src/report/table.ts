import { spreadMax } from '../measure.ts'
import type { Row } from '../works/row.ts'

/**
 * Whether a row misses what is asked for: the ratio to the hand-written route or the other checkout, or the memory. By processor time, where the system
 * tells it: that is the steadier figure.
 */
export function isMissed(row: Row): boolean {
  if (row.target === null) return false
  if (row.memoryMb !== undefined) return row.memoryMb > row.target
  const ratio = row.cpuRatio ?? row.ratio
  return ratio !== null && ratio < row.target
}

/** What says that the machine was not quiet, in words; none where it was. */
export function unsteady(rows: readonly Row[]): string[] {
  return rows
    .filter(({ spread }) => spread !== undefined && spread > spreadMax)
    .map(
      ({ name, connections, who, spread = 0 }) =>
        `${name}, ${connections} connections: ${who} varied by ${Math.round(100 * spread)} % between rounds`,
    )
}

/** The rows of a work as a table for a terminal. */
export function formatRows(title: string, rows: readonly Row[]): string {
  const head = ['', 'conn.', 'records', 'who', 'a second', 'Bridgework is', 'by CPU', 'at least', 'CPU ms', 'MB']
  const lines = rows.map((row) => [
    row.name,
    String(row.connections),
    row.records === undefined ? '' : String(row.records),
    row.who,
    readable(row.perSecond),
    row.ratio === null ? '' : `${row.ratio.toFixed(2)} ×`,
    row.cpuRatio == null ? '' : `${row.cpuRatio.toFixed(2)} ×`,
    row.target === null
      ? ''
      : `${row.memoryMb === undefined ? `${row.target} ×` : `≤ ${row.target} MB`}${isMissed(row) ? ' MISSED' : ''}`,
    row.cpuMs === null ? '' : readable(row.cpuMs),
    row.memoryMb === undefined ? '' : String(row.memoryMb),
  ])
  return `\n${title}\n${formatTable([head, ...lines], [0, 3])}\n`
}

/** Columns under each other; those named are text, the others figures. */
export function formatTable(rows: readonly string[][], textColumns: readonly number[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const pad = (cell: string, column: number) =>
    textColumns.includes(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n')
}

/** A figure with three digits that say something. */
export function readable(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en')
  if (value >= 100) return value.toFixed(0)
  if (value >= 10) return value.toFixed(1)
  return value.toFixed(value >= 0.1 || value === 0 ? 2 : 3)
}

/** The row of one who, of a name and a number of connections. */
export function findRow(rows: readonly Row[], name: string, connections: number, who: string): Row | undefined {
  return rows.find((row) => row.name === name && row.connections === connections && row.who === who)
}
