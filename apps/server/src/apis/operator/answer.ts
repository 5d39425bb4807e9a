/** What a command answers: `data` for programs, `text` for people, and a remark that belongs to neither. `exitCode`: 0 unless it is given. */
export type Answer = { data: unknown; text: string; note?: string; exitCode?: number }

/** What `--json` prints: member names in lower snake case, instants in UTC. */
export function toJson(data: unknown): string {
  return JSON.stringify(snakeCased(data), null, 2)
}

/** A table for people; says so when it is empty. Cells that are null are a dash. */
export function table(
  columns: readonly string[],
  rows: readonly (readonly (string | number | Date | null)[])[],
): string {
  if (rows.length === 0) return 'None.'
  const texts = [columns, ...rows.map((row) => row.map(cell))]
  const widths = columns.map((_, index) => Math.max(...texts.map((row) => row[index]?.length ?? 0)))
  return texts
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and values below each other. */
export function list(entries: Readonly<Record<string, string | number | Date | null>>): string {
  const width = Math.max(...Object.keys(entries).map((name) => name.length))
  return Object.entries(entries)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`)
    .join('\n')
}

/** A name that somebody else chose may hold characters that would move the cursor or forge a line. */
function cell(value: string | number | Date | null): string {
  if (value === null) return '-'
  if (value instanceof Date) return value.toISOString()
  return String(value).replace(/\p{Cc}/gu, '�')
}

function snakeCased(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(snakeCased)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), snakeCased(member)]))
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]|(?<=[a-z])\d/g, (letter) => `_${letter.toLowerCase()}`)
}
