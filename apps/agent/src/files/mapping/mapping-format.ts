import { textDecoder } from '../reading/encoding.ts'
import type { Positions } from '../reading/fixed-width.ts'
import type { Place } from '../reading/lookup.ts'
import type { Condition, FileFormat } from '../reading/rows.ts'
import { namePattern } from './file-names.ts'
import { type Fields, isObject } from './mapping-fields.ts'

/** Where a file is and how it is written: the settings that every table has. `nullWords`: of a table that has none of its own. */
export function readFormat(table: Fields, nullWords: readonly string[]): Place & FileFormat {
  const file = table.requiredText('file')
  if (/^([/\\]|[a-z]:)|(^|[/\\])\.\.([/\\]|$)/i.test(file))
    table.fault('file', 'must be inside the folder: no absolute path and no ".."')
  const pattern = namePattern(file)
  if (pattern !== null && 'fault' in pattern) table.fault('file', pattern.fault)
  const delimiter = table.text('delimiter') ?? ','
  if (!/^[^\w\n\r"]{1,3}$/.test(delimiter))
    table.fault('delimiter', 'must be one to three characters, like "," or ";" or a tab, and no letter or digit')
  const encoding = table.text('encoding')
  if (encoding !== null && !isEncoding(encoding))
    table.fault(
      'encoding',
      'must be a label of the Encoding Standard, like utf-8, utf-16le or windows-1252, or cp437 or cp850',
    )
  const positions = readPositions(table)
  return {
    pattern: file,
    which: table.oneOf('which', ['newest', 'all'] as const) ?? 'newest',
    format: table.oneOf('format', ['csv', 'ndjson'] as const) ?? (/\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv'),
    delimiter,
    quotes: table.oneOf('quotes', ['standard', 'backslash', 'text'] as const) ?? 'standard',
    positions: positions && [...positions.values()],
    encoding,
    skipLines: table.wholeNumber('skip_lines', 0, 1000),
    header: positions === null ? table.texts('header') : [...positions.keys()],
    footerRows: table.wholeNumber('footer_rows', 0, 1000) ?? 0,
    skipStarting: table.texts('skip_starting') ?? [],
    shortRows: table.oneOf('short_rows', ['refuse', 'fill'] as const) ?? 'refuse',
    nullWords: table.texts('null_words') ?? nullWords,
    where: readConditions(table),
  }
}

/** Of a table that is no file. */
export const noFormat: Omit<Place & FileFormat, 'pattern' | 'nullWords'> = {
  which: 'newest',
  format: 'csv',
  delimiter: ',',
  quotes: 'standard',
  positions: null,
  encoding: null,
  skipLines: null,
  header: null,
  footerRows: 0,
  skipStarting: [],
  shortRows: 'refuse',
  where: [],
}

function isEncoding(label: string): boolean {
  try {
    return textDecoder(label).encoding !== ''
  } catch {
    return false
  }
}

/** By column, in the order in which they begin. */
function readPositions(table: Fields): ReadonlyMap<string, Positions> | null {
  const columns = table.table('positions')
  if (columns === null) return null
  for (const other of ['delimiter', 'quotes', 'header', 'format'])
    if (table.has(other)) table.fault(other, 'cannot stand beside positions')
  const found = columns.names().map((name): [string, Positions] => {
    const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(columns.requiredText(name)) ?? []
    const positions: Positions = [Number(first), Number(last)]
    if (positions[0] < 1 || positions[1] < positions[0])
      columns.fault(name, 'must be the first and the last character of the column, counted from 1, like "9-28"')
    return [name, positions]
  })
  return new Map(found.sort(([, [left]], [, [right]]) => left - right))
}

function readConditions(table: Fields): Condition[] {
  const value = table.value('where')
  if (value === undefined) return []
  return (Array.isArray(value) ? value : [value]).flatMap((each: unknown) => {
    const condition = table.inner(each, 'where')
    if (!isObject(each)) return []
    condition.refuseOthers(['column', 'is', 'is_not'])
    const [is, isNot] = [condition.texts('is'), condition.texts('is_not')]
    if ((is === null) === (isNot === null)) condition.fault('is', 'must be given, or is_not: one of them')
    return [{ column: condition.requiredText('column'), isOneOf: is !== null, texts: is ?? isNot ?? [] }]
  })
}
