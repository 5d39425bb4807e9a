/** A file of an export, by its path in the folder. */
export type ExportedFile = { path: string; about: string; rows: number; bytes: number; sha256: string }

/** What a person reads first in the folder of an export. */
export function readMe(name: string, at: Date, files: readonly ExportedFile[]): string {
  const width = Math.max(...files.map(({ path }) => path.length))
  const lines = files.map(({ path, rows, about }) => `${path.padEnd(width)}  ${String(rows).padStart(9)}  ${about}`)
  return `Export of ${name}
${at.toISOString()}

This folder has all that Bridgework holds about this practice, as it was at one moment. It contains patients' data:
keep it as safely as the practice management system.

${'file'.padEnd(width)}  ${'rows'.padStart(9)}  content
${lines.join('\n')}

Each file has one JSON object on each line (NDJSON, UTF-8). Spreadsheets, databases and programming languages can read
it; in a text editor each line is one row. Times are in UTC unless they carry an offset. An id is the same with and
without quotation marks.

In records/, "record" is the record as vendors receive it: "attributes" has its content, "source_id" its number in the
practice management system, and "is_hidden": true says that it was removed there. "location_id" leads to locations.ndjson.

Passwords, keys and codes are not in this folder.

To check that the files are complete and unchanged:

  sha256sum --check SHA256SUMS

manifest.json has the same, with the number of rows and bytes of each file.
`
}
