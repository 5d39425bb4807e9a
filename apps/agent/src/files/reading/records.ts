import type { JsonValue } from '../../connector.ts'
import type { FileFault } from '../fault.ts'
import type { DatasetMapping, Mapping, TableMapping } from '../mapping/mapping.ts'
import type { AttributeRule } from '../mapping/mapping-attributes.ts'
import type { ExportFile } from '../watching/export-files.ts'
import type { LocatedRecord, RecordWatch } from '../watching/record-watch.ts'
import { isContainer } from './convert.ts'
import { joinedKey, type KeyPart } from './joined-key.ts'
import { type KeySet, keySet } from './key-set.ts'
import { readLookup } from './lookup.ts'
import { type Open, type Problem, recordBuilder } from './record-builder.ts'
import { type Cells, type FileFormat, isFault, type Row, readRows } from './rows.ts'
import type { Content } from './text.ts'

export type RecordReader = (file: ExportFile, content?: Content) => AsyncGenerator<LocatedRecord | FileFault>

/** Where the rows of a table come from. `columns`: all that the mapping names. */
export type RowSource = (
  file: ExportFile,
  format: FileFormat,
  columns: readonly string[],
  content?: Content,
) => AsyncIterable<Row | FileFault>

/**
 * Turns a dataset's files into records, row by row; a row that breaks a rule comes as a fault with its line and column. Files are to be read in
 * the order of `filesOf`: look-ups give no records.
 */
export function recordReader(
  mapping: Mapping,
  dataset: DatasetMapping,
  watch?: RecordWatch,
  rowsOf: RowSource = readRows,
): RecordReader {
  const seen = keySet()
  const around = { seen, watch, rowsOf }
  const readers = new Map(dataset.tables.map((table) => [table, tableReader(mapping, dataset, table, around)]))
  return async function* read(file, content) {
    if ('codes' in file.of) return yield* readLookup(file, file.of, content)
    const readTable = readers.get(file.of)
    if (readTable === undefined) throw new Error('a file of another dataset')
    yield* readTable(file, content)
  }
}

/** `seen`: the keys of the records so far, of all tables of the dataset. */
function tableReader(
  mapping: Mapping,
  dataset: DatasetMapping,
  table: TableMapping,
  { seen, watch, rowsOf }: { seen: KeySet; watch: RecordWatch | undefined; rowsOf: RowSource },
): RecordReader {
  const build = recordBuilder(
    dataset.dataset,
    table.attributes,
    watch && ((seen) => watch.value({ ...seen, file: table.pattern })),
  )
  const zones = new Map(mapping.locations.map((location) => [location.source_id, location.time_zone]))
  const columns = columnsOf(table)
  const firstColumn = table.key.find((part) => typeof part === 'string') ?? null
  const readHead = headReader(mapping, table)

  return async function* read(file, content) {
    let open: Open | null = null
    let isLeftOut = false
    const close = function* (): Generator<LocatedRecord | FileFault> {
      if (open !== null) {
        const finished = finish(open, build.finish, file)
        if (!('rule' in finished)) watch?.record(finished)
        yield finished
      }
      open = null
    }
    for await (const row of rowsOf(file, table, columns, content)) {
      if (isFault(row)) {
        yield* close()
        yield row
        continue
      }
      const head = readHead(row, file)
      const before = open as Open | null
      if (head === 'continues') {
        if (before !== null) build.addRow(before, row, zones.get(before.locationKeys[0] ?? '') ?? null)
        else if (!isLeftOut)
          yield { file: file.name, line: row.line, column: firstColumn, rule: 'is empty, and no record is above it' }
        continue
      }
      if ('rule' in head) {
        yield* close()
        yield head
        continue
      }
      const identity = `${head.sourceId}\n${head.locationKeys.length === 1 ? head.locationKeys[0] : ''}`
      if (before !== null && before.identity === identity && build.isGrouped) {
        build.addRow(before, row, zones.get(head.locationKeys[0] ?? '') ?? null)
        continue
      }
      yield* close()
      const isRepeated = !seen.add(identity)
      isLeftOut = isRepeated && table.repeatedKey === 'first'
      if (isLeftOut) continue
      if (isRepeated) {
        const rule = build.isGrouped
          ? 'is the key of an earlier record: rows of one record must follow one another'
          : 'is the key of an earlier line'
        yield { file: file.name, line: row.line, column: firstColumn, rule }
        continue
      }
      open = build.begin(row, { ...head, identity }, zones.get(head.locationKeys[0] ?? '') ?? null)
    }
    yield* close()
  }
}

export type Head = { readonly sourceId: string; readonly locationKeys: readonly string[] }

/** The key and the locations of a row's record; `continues`: the row belongs to the record above it. */
export function headReader(
  mapping: Mapping,
  table: TableMapping,
): (row: Row, file: ExportFile) => Head | 'continues' | FileFault {
  const keysByName = new Map(
    mapping.locations.flatMap((location) => location.namesInFiles.map((name) => [name, location.source_id])),
  )
  const all = mapping.locations.map((location) => location.source_id)
  const firstColumn = table.key.find((part) => typeof part === 'string') ?? null

  const locationsOf = (cells: Cells, file: ExportFile): readonly string[] | null => {
    if (file.locationKey !== null) return [file.locationKey]
    if (table.locationsFrom === 'all' || table.locationsFrom === 'path') return all
    const key = keysByName.get(String(cells(table.locationsFrom.column) ?? '').trim())
    return key === undefined ? null : [key]
  }

  return (row, file) => {
    const fault = (column: string | null, rule: string) => ({ file: file.name, line: row.line, column, rule })
    const parts = table.key.map((part) =>
      typeof part === 'string' ? String(row.cells(part) ?? '').trim() : part.constant,
    )
    const container = table.key.find((part) => typeof part === 'string' && isContainer(row.cells(part)))
    if (typeof container === 'string') return fault(container, 'is part of the key and must be a plain value')
    const isEmpty = (part: KeyPart, index: number) => typeof part === 'string' && parts[index] === ''
    if (
      table.blankKey === 'continues' &&
      table.key.every((part, index) => typeof part !== 'string' || isEmpty(part, index))
    )
      return 'continues'
    const empty = table.key.find(isEmpty)
    if (typeof empty === 'string') return fault(empty, 'is part of the key and must not be empty')
    const sourceId = joinedKey(parts)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a key has none, so that it can stand in a log line.
    if (sourceId.length > 255 || /[\u0000-\u001f\u007f]/.test(sourceId)) {
      return fault(firstColumn, 'is the key: at most 255 characters, without control characters')
    }
    const locationKeys = locationsOf(row.cells, file)
    const column = typeof table.locationsFrom === 'object' ? table.locationsFrom.column : null
    if (locationKeys === null) return fault(column, 'must name a location of the mapping, by its key or names_in_files')
    return { sourceId, locationKeys }
  }
}

/** Every column that the mapping names: the header must have them, or a misspelt one would be an empty one. */
export function columnsOf(table: TableMapping): string[] {
  const ofRule = (rule: AttributeRule): readonly KeyPart[] => {
    if ('column' in rule) return rule.column.columns
    if ('items' in rule) return rule.items.columns
    const members = 'members' in rule ? rule.members : 'rows' in rule ? rule.rows : new Map<string, AttributeRule>()
    return [...members.values()].flatMap(ofRule)
  }
  const locationColumn = typeof table.locationsFrom === 'object' ? [table.locationsFrom.column] : []
  const parts = [
    ...table.key,
    ...locationColumn,
    ...table.where.map(({ column }) => column),
    ...[...table.attributes.values()].flatMap(ofRule),
  ]
  return [...new Set(parts.filter((part) => typeof part === 'string'))]
}

function finish(
  open: Open,
  make: (open: Open) => Record<string, JsonValue> | Problem,
  file: ExportFile,
): LocatedRecord | FileFault {
  const made = make(open)
  if (isProblem(made)) return { file: file.name, ...made, key: open.sourceId }
  return { line: open.line, locationKeys: open.locationKeys, record: { source_id: open.sourceId, attributes: made } }
}

function isProblem(made: Record<string, JsonValue> | Problem): made is Problem {
  return 'rule' in made
}
