import { type FileFault, UnreadableFile } from '../fault.ts'
import { type FileFormat, isFault, readRows } from './rows.ts'
import type { Content } from './text.ts'

/** Where a file is. `pattern`: its path below the folder, which may have `*`, a date or `{location}`. */
export type Place = { readonly pattern: string; readonly which: 'newest' | 'all' }

/** A file with codes and their texts. `codes` is filled when the file is read, before the files of a dataset. */
export type LookupMapping = Place &
  FileFormat & {
    readonly name: string
    readonly key: string
    readonly value: string
    readonly codes: Map<string, string>
  }

/** No list of codes is longer; a file of patients would fill the memory. */
const codesMax = 100_000

/** Reads the codes of a file. Yields the faults of its lines. */
export async function* readLookup(
  file: { readonly path: string; readonly name: string },
  lookup: LookupMapping,
  content?: Content,
): AsyncGenerator<FileFault> {
  lookup.codes.clear()
  for await (const row of readRows(file, lookup, [lookup.key, lookup.value], content)) {
    if (isFault(row)) {
      yield row
      continue
    }
    const [code, value] = [lookup.key, lookup.value].map((column) => String(row.cells(column) ?? '').trim())
    const fault = (rule: string) => ({ file: file.name, line: row.line, column: lookup.key, rule })
    if (code === undefined || code === '') continue
    if (lookup.codes.has(code) && lookup.codes.get(code) !== value) yield fault('is the code of an earlier line')
    lookup.codes.set(code, value ?? '')
    if (lookup.codes.size > codesMax)
      throw new UnreadableFile(fault(`has more than ${codesMax} codes; a look-up file is a short list`))
  }
}
