/** Rows under their headings, columns as wide as they must be. Control characters in data must not reach the terminal. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((row) => row.map(printable))
  const widths = headings.map((_, column) =>
    lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0),
  )
  return `${lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`
}

/** The text without characters that a terminal obeys. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}
