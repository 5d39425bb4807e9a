import { findDataset } from '@bridgework/contract'
import { Compile } from 'typebox/compile'
import type { JsonValue, SourceRecord } from '../connector.ts'
import { type ColumnRule, type Converted, type Converter, converter } from './convert.ts'
import { type Cells, type Content, type FileFault, isFault, type Row, readRows } from './lines.ts'
import type { DatasetMapping, Mapping } from './mapping.ts'
import type { AttributeRule } from './mapping-attributes.ts'
import type { Kind } from './schema-kind.ts'

/** A file of a dataset; `pattern`: its name as the mapping has it. `locationKey` when its path says whose records it holds. */
export type ExportFile = {
  readonly path: string
  readonly name: string
  readonly pattern: string
  readonly locationKey: string | null
}

/** A record with the locations that it belongs to, and the line on which it begins. */
export type LocatedRecord = {
  readonly line: number
  readonly locationKeys: readonly string[]
  readonly record: SourceRecord
}

/** Is told each value that came from a column, and each record. Shown to a person who checks a mapping, never logged. */
export type RecordWatch = {
  value(seen: SeenValue): void
  record(record: LocatedRecord): void
}
export type SeenValue = {
  /** As `balance.total`. */
  readonly attribute: string
  readonly kind: Kind
  readonly rule: ColumnRule
  readonly text: string
  readonly value: JsonValue
  readonly timeZone: string | null
}

export type RecordReader = (file: ExportFile, content?: Content) => AsyncGenerator<LocatedRecord | FileFault>

/** Turns a dataset's files into records, row by row; a row that breaks a rule comes as a fault with its line and column. */
export function recordReader(mapping: Mapping, dataset: DatasetMapping, watch?: RecordWatch): RecordReader {
  const build = recordBuilder(dataset, watch)
  const zones = new Map(mapping.locations.map((location) => [location.source_id, location.time_zone]))
  const keysByName = new Map(
    mapping.locations.flatMap((location) => location.namesInFiles.map((name) => [name, location.source_id])),
  )
  const all = [...zones.keys()]
  const format = { ...dataset, columns: columnsOf(dataset) }

  const locationsOf = (cells: Cells, file: ExportFile): readonly string[] | null => {
    if (file.locationKey !== null) return [file.locationKey]
    if (dataset.locationsFrom === 'all' || dataset.locationsFrom === 'path') return all
    const key = keysByName.get(String(cells(dataset.locationsFrom.column) ?? '').trim())
    return key === undefined ? null : [key]
  }

  const readHead = (row: Row, file: ExportFile): Head | FileFault => {
    const fault = (column: string | null, rule: string) => ({ file: file.name, line: row.line, column, rule })
    const parts = dataset.key.map((column) => String(row.cells(column) ?? '').trim())
    const empty = dataset.key.find((_, index) => parts[index] === '')
    if (empty !== undefined) return fault(empty, 'is part of the key and must not be empty')
    const sourceId = joinedKey(parts)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a key has none, so that it can stand in a log line.
    if (sourceId.length > 255 || /[\u0000-\u001f\u007f]/.test(sourceId)) {
      return fault(dataset.key[0] ?? null, 'is the key: at most 255 characters, without control characters')
    }
    const locationKeys = locationsOf(row.cells, file)
    const column = typeof dataset.locationsFrom === 'object' ? dataset.locationsFrom.column : null
    if (locationKeys === null) return fault(column, 'must name a location of the mapping, by its key or names_in_files')
    return { sourceId, locationKeys }
  }

  return async function* read(file, content) {
    const seen = new Set<string>()
    let open: Open | null = null
    const close = function* (): Generator<LocatedRecord | FileFault> {
      if (open !== null) {
        const finished = finish(open, build.finish, file)
        if (!('rule' in finished)) watch?.record(finished)
        yield finished
      }
      open = null
    }
    for await (const row of readRows(file.path, file.name, format, content)) {
      if (isFault(row)) {
        yield* close()
        yield row
        continue
      }
      const head = readHead(row, file)
      if ('rule' in head) {
        yield* close()
        yield head
        continue
      }
      const identity = `${head.sourceId}\n${head.locationKeys.length === 1 ? head.locationKeys[0] : ''}`
      const before = open as Open | null
      if (before !== null && before.identity === identity && build.isGrouped) {
        build.addRow(before, row, zones.get(head.locationKeys[0] ?? '') ?? null)
        continue
      }
      yield* close()
      if (seen.has(identity)) {
        const rule = build.isGrouped
          ? 'is the key of an earlier record: rows of one record must follow one another'
          : 'is the key of an earlier line'
        yield { file: file.name, line: row.line, column: dataset.key[0] ?? null, rule }
        continue
      }
      seen.add(identity)
      open = build.begin(row, identity, head, zones.get(head.locationKeys[0] ?? '') ?? null)
    }
    yield* close()
  }
}

/**
 * One column's text as it is; several joined by `-`. A `-` or `~` within one of them follows a `~`, so that no two records have the same key:
 * 1 and 2-3 are `1-2~-3`, and 1-2 and 3 are `1~-2-3`.
 */
export function joinedKey(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] ?? '') : parts.map((part) => part.replaceAll(/[~-]/g, '~$&')).join('-')
}

type Head = { sourceId: string; locationKeys: readonly string[] }
type Problem = { line: number; column: string | null; rule: string }
type Open = Head & {
  line: number
  identity: string
  attributes: Record<string, JsonValue>
  lists: Map<string, JsonValue[]>
  problem: Problem | null
}

/** Every column that the mapping names: the header must have them, or a misspelt one would be an empty one. */
function columnsOf(dataset: DatasetMapping): string[] {
  const ofRule = (rule: AttributeRule): string[] => {
    if ('column' in rule) return [...rule.column.columns]
    const members = 'members' in rule ? rule.members : 'rows' in rule ? rule.rows : new Map<string, AttributeRule>()
    return [...members.values()].flatMap(ofRule)
  }
  const locationColumn = typeof dataset.locationsFrom === 'object' ? [dataset.locationsFrom.column] : []
  return [...new Set([...dataset.key, ...locationColumn, ...[...dataset.attributes.values()].flatMap(ofRule)])]
}

type Part = (cells: Cells, timeZone: string | null) => Converted & { column?: string }

function recordBuilder(dataset: DatasetMapping, watch: RecordWatch | undefined) {
  const source = findDataset(dataset.dataset)?.source
  if (!source) throw new Error(`the contract has no dataset ${dataset.dataset}`)
  const fits = Compile(source)
  const parts = new Map<string, Part>()
  const rows = new Map<string, Part>()
  for (const [name, rule] of dataset.attributes) {
    if ('rows' in rule) rows.set(name, objectPart(rule.rows, name, watch))
    else parts.set(name, partOf(rule, name, watch))
  }

  const addRow = (open: Open, row: Row, timeZone: string | null) => {
    for (const [name, part] of rows) {
      const made = part(row.cells, timeZone)
      if ('fault' in made) open.problem ??= { line: row.line, column: made.column ?? null, rule: made.fault }
      else open.lists.get(name)?.push(made.value)
    }
  }
  return {
    isGrouped: rows.size > 0,
    addRow,
    begin: (row: Row, identity: string, head: Head, timeZone: string | null): Open => {
      const open: Open = {
        ...head,
        line: row.line,
        identity,
        attributes: {},
        lists: new Map([...rows.keys()].map((name) => [name, []])),
        problem: null,
      }
      for (const [name, part] of parts) {
        const made = part(row.cells, timeZone)
        if ('fault' in made) open.problem ??= { line: row.line, column: made.column ?? null, rule: made.fault }
        else open.attributes[name] = made.value
      }
      addRow(open, row, timeZone)
      return open
    },
    /** The contract has the last word: what it refuses here, the server would refuse. */
    finish: (open: Open): Record<string, JsonValue> | Problem => {
      if (open.problem !== null) return open.problem
      const attributes = { ...open.attributes, ...Object.fromEntries(open.lists) }
      if (fits.Check(attributes)) return attributes
      const errors = fits.Errors(attributes)
      const name = errors?.[0]?.instancePath.split('/')[1]
      return { line: open.line, column: null, rule: `does not fit the attribute ${name ?? 'of the dataset'}` }
    },
  }
}

function finish(
  open: Open,
  make: (open: Open) => Record<string, JsonValue> | Problem,
  file: ExportFile,
): LocatedRecord | FileFault {
  const made = make(open)
  if (isProblem(made)) return { file: file.name, ...made }
  return { line: open.line, locationKeys: open.locationKeys, record: { source_id: open.sourceId, attributes: made } }
}

function isProblem(made: Record<string, JsonValue> | Problem): made is Problem {
  return 'rule' in made
}

function partOf(rule: AttributeRule, name: string, watch: RecordWatch | undefined): Part {
  if ('constant' in rule) return () => ({ value: rule.constant })
  if ('ofLocation' in rule) return (_cells, timeZone) => ({ value: timeZone })
  if ('members' in rule) return objectPart(rule.members, name, watch)
  if ('rows' in rule) throw new Error('a list of rows within an object')
  const { kind, column } = rule
  const convert: Converter = converter(kind, column)
  const columns = column.columns.join(column.join)
  return (cells, timeZone) => {
    const found = column.columns.map(cells)
    const converted = convert(found, timeZone)
    if ('fault' in converted) return { ...converted, column: columns }
    const text = found.map((cell) => String(cell ?? '')).join(column.join)
    watch?.value({ attribute: name, kind, rule: column, text, value: converted.value, timeZone })
    return converted
  }
}

function objectPart(members: ReadonlyMap<string, AttributeRule>, path: string, watch: RecordWatch | undefined): Part {
  const parts = [...members].map(([name, rule]) => [name, partOf(rule, `${path}.${name}`, watch)] as const)
  return (cells, timeZone) => {
    const value: Record<string, JsonValue> = {}
    for (const [name, part] of parts) {
      const made = part(cells, timeZone)
      if ('fault' in made) return made
      value[name] = made.value
    }
    return { value }
  }
}
