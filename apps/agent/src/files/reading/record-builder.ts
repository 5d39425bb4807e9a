import { findDataset } from '@bridgework/contract'
import { Compile } from 'typebox/compile'
import type { DatasetName, JsonValue } from '../../connector.ts'
import type { AttributeRule } from '../mapping/mapping-attributes.ts'
import type { Kind } from '../mapping/schema-kind.ts'
import type { ValueWatch } from '../watching/record-watch.ts'
import { type Converted, type Converter, converter } from './convert.ts'
import type { Cells, Row } from './rows.ts'

export type Problem = { line: number; column: string | null; rule: string }

/** A record to which further rows may be added. `identity`: its key, and its location where it has one. */
export type Open = {
  readonly sourceId: string
  readonly locationKeys: readonly string[]
  readonly identity: string
  readonly line: number
  readonly attributes: Record<string, JsonValue>
  readonly lists: ReadonlyMap<string, JsonValue[]>
  problem: Problem | null
}

type Part = (cells: Cells, timeZone: string | null) => Converted & { column?: string }
type Parts = ReadonlyMap<string, Part>

/** Makes a dataset's records of rows. */
export function recordBuilder(
  dataset: DatasetName,
  attributes: ReadonlyMap<string, AttributeRule>,
  watch: ValueWatch | undefined,
) {
  const source = findDataset(dataset)?.source
  if (!source) throw new Error(`the contract has no dataset ${dataset}`)
  const fits = Compile(source)
  const parts = new Map<string, Part>()
  const rows = new Map<string, Part>()
  for (const [name, rule] of attributes) {
    if ('rows' in rule) rows.set(name, objectPart(rule.rows, name, watch, true))
    else if ('items' in rule) rows.set(name, partOf({ kind: itemKind, column: rule.items }, name, watch))
    else parts.set(name, partOf(rule, name, watch))
  }

  const read = (
    open: Open,
    from: Parts,
    row: Row,
    timeZone: string | null,
    keep: (name: string, value: JsonValue) => void,
  ) => {
    for (const [name, part] of from) {
      const made = part(row.cells, timeZone)
      if ('fault' in made) open.problem ??= { line: row.line, column: made.column ?? null, rule: made.fault }
      else keep(name, made.value)
    }
  }
  const addRow = (open: Open, row: Row, timeZone: string | null) => {
    read(open, rows, row, timeZone, (name, value) => {
      if (value !== null) open.lists.get(name)?.push(value)
    })
  }
  return {
    isGrouped: rows.size > 0,
    addRow,
    begin: (row: Row, head: Pick<Open, 'sourceId' | 'locationKeys' | 'identity'>, timeZone: string | null): Open => {
      const lists = new Map([...rows.keys()].map((name) => [name, []]))
      const open: Open = { ...head, line: row.line, attributes: {}, lists, problem: null }
      read(open, parts, row, timeZone, (name, value) => {
        open.attributes[name] = value
      })
      addRow(open, row, timeZone)
      return open
    },
    /** The contract has the last word: what it refuses here, the server would refuse. */
    finish: (open: Open): Record<string, JsonValue> | Problem => {
      if (open.problem !== null) return open.problem
      const made = { ...open.attributes, ...Object.fromEntries(open.lists) }
      if (fits.Check(made)) return made
      const errors = fits.Errors(made)
      const name = errors?.[0]?.instancePath.split('/')[1]
      return { line: open.line, column: null, rule: `does not fit the attribute ${name ?? 'of the dataset'}` }
    },
  }
}

const itemKind: Kind = { kind: 'text', isNullable: true, lengthMax: 500, lengthMin: 0 }

function partOf(rule: AttributeRule, name: string, watch: ValueWatch | undefined): Part {
  if ('constant' in rule) return () => ({ value: rule.constant })
  if ('ofLocation' in rule) return (_cells, timeZone) => ({ value: timeZone })
  if ('members' in rule) return objectPart(rule.members, name, watch, rule.kind.isNullable)
  if (!('column' in rule)) throw new Error('a list of rows within an object')
  const { kind, column } = rule
  const convert: Converter = converter(kind, column)
  const columns = column.columns.filter((part) => typeof part === 'string').join(column.join)
  return (cells, timeZone) => {
    const found = column.columns.map((part) => (typeof part === 'string' ? cells(part) : part.constant))
    const converted = convert(found, timeZone)
    if ('fault' in converted) return { ...converted, column: columns }
    const text = () => found.map((cell) => String(cell ?? '')).join(column.join)
    watch?.({ attribute: name, kind, rule: column, text: text(), value: converted.value, timeZone })
    return converted
  }
}

/** `isNullable`: it is null when all of its columns are empty. */
function objectPart(
  members: ReadonlyMap<string, AttributeRule>,
  path: string,
  watch: ValueWatch | undefined,
  isNullable: boolean,
): Part {
  const parts = [...members].map(([name, rule]) => [name, partOf(rule, `${path}.${name}`, watch)] as const)
  const fromColumns = [...members].flatMap(([name, rule]) => ('column' in rule ? [{ name, ...rule.column }] : []))
  const hasNothing = (cells: Cells) =>
    fromColumns.every(({ columns }) =>
      columns.every((column) => typeof column === 'string' && String(cells(column) ?? '').trim() === ''),
    )
  return (cells, timeZone) => {
    const isEmpty = isNullable && hasNothing(cells)
    const value: Record<string, JsonValue> = {}
    for (const [name, part] of parts) {
      const made = part(cells, timeZone)
      if ('fault' in made) return isEmpty ? { value: null } : made
      value[name] = made.value
    }
    // A "default" gives an empty column a meaning.
    const isNull = isEmpty && fromColumns.every(({ name }) => value[name] === null || value[name] === '')
    return { value: isNull ? null : value }
  }
}
