import type { Comparison, Figure } from './measure.ts'

/** A comparison with its name and what it must reach: the ratio of requests per second, ours to theirs; null where nothing is asked. */
export type Row = Comparison & { name: string; connections: number; target: number | null }

export function isMissed(row: Row): boolean {
  return row.target !== null && row.speedRatio < row.target
}

/** The rows as a table for a terminal. */
export function formatRows(title: string, sides: { ours: string; theirs: string }, rows: readonly Row[]): string {
  const head = ['', 'conn.', sides.ours, sides.theirs, 'ratio', 'at least', 'CPU ms', 'CPU ms', 'CPU ratio']
  const lines = rows.map((row) => [
    row.name,
    String(row.connections),
    `${number(row.ours.requestsPerSecond)}/s`,
    `${number(row.theirs.requestsPerSecond)}/s`,
    `${row.speedRatio.toFixed(2)} ×`,
    row.target === null ? '' : `${row.target.toFixed(1)} ×${isMissed(row) ? ' MISSED' : ''}`,
    cpu(row.ours),
    cpu(row.theirs),
    row.cpuRatio === null ? '' : `${row.cpuRatio.toFixed(2)} ×`,
  ])
  return `${title}\n${table([head, ...lines])}\n`
}

function table(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cpu(figure: Figure): string {
  return figure.cpuMsPerRequest === null ? '' : figure.cpuMsPerRequest.toFixed(2)
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}
