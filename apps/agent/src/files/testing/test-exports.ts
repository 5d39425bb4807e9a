import { findDataset } from '@bridgework/contract'
import { type Practice, simulatedDatasets, sourceLocation, sourceRecords } from '@bridgework/practice-simulator'
import type { DatasetName, JsonValue } from '../../connector.ts'
import { type Kind, kindsOf } from '../mapping/schema-kind.ts'

/** How a practice management system writes its exports. Each function gives a value's text, and its rule in the mapping. */
export type ExportShape = {
  readonly extension: string
  readonly delimiter: string
  readonly lineEnd: string
  readonly encode: (text: string) => Buffer
  /** The text of an empty value. */
  readonly nothing: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly money: Written
  readonly day: Written
  /** A time on the wall clock in one column or in two. */
  readonly wallTime: { readonly texts: (local: string) => string[]; readonly rule: Readonly<Record<string, unknown>> }
  readonly minutesPerUnit: number
  /** The ledger's amount in columns of its own; null: as other amounts. */
  readonly amount: {
    readonly columns: readonly string[]
    readonly texts: (amount: string) => string[]
    readonly rule: object
  } | null
  /** The files of the ledger by type of transaction, with what is negated in them; empty: one file. */
  readonly ledgers: readonly { readonly name: string; readonly types: readonly string[]; readonly negate: boolean }[]
}
type Written = { readonly text: (value: string) => string; readonly rule: Readonly<Record<string, unknown>> }

type Column = { readonly name: string; readonly text: (value: JsonValue | undefined) => string }
type Table = {
  readonly columns: readonly Column[]
  readonly cellsOf: (attributes: Attributes) => string[][]
  readonly rules: object
}
type Attributes = Readonly<Record<string, JsonValue>>

/** A practice as the files of an export and the mapping that reads them. */
export function exportOf(practice: Practice, shape: ExportShape): { files: Map<string, Buffer>; mapping: object } {
  const files = new Map<string, Buffer>()
  const datasets: Record<string, object> = {}
  for (const dataset of simulatedDatasets) {
    const parts = dataset === 'ledger_transactions' && shape.ledgers.length > 0 ? shape.ledgers : [null]
    const tables = parts.map((part) => {
      const name = `${part?.name ?? dataset}.${shape.extension}`
      const table = tableOf(dataset, shape, part?.negate ?? false)
      const rows = [...practice.locations.keys()].flatMap((location) =>
        sourceRecords(practice, dataset, location)
          .filter(({ attributes }) => part === null || part.types.includes(String(attributes.transaction_type)))
          .flatMap(({ source_id, attributes }) =>
            table.cellsOf(attributes as Attributes).map((cells) => [location, source_id, ...cells]),
          ),
      )
      const lines = [['Office', 'Key', ...table.columns.map((column) => column.name)], ...rows]
      const text = lines.map((cells) => cells.map((cell) => quoted(cell, shape)).join(shape.delimiter) + shape.lineEnd)
      files.set(name, shape.encode(text.join('')))
      return { file: name, key: 'Key', location_column: 'Office', ...shape.settings, attributes: table.rules }
    })
    datasets[dataset] = tables.length > 1 ? { files: tables } : (tables[0] ?? {})
  }
  const locations = [...practice.locations.values()].map((location) => {
    const {
      source_id,
      practice_management_system: _,
      ...texts
    } = sourceLocation(location, { name: 'Simulated', version: null })
    return [source_id, Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null))]
  })
  return { files, mapping: { version: 2, settle_seconds: 1, locations: Object.fromEntries(locations), datasets } }
}

function quoted(text: string, { delimiter }: ExportShape): string {
  return /["\r\n]/.test(text) || text.includes(delimiter) || text.trim() !== text
    ? `"${text.replaceAll('"', '""')}"`
    : text
}

function tableOf(dataset: DatasetName, shape: ExportShape, negate: boolean): Table {
  const source = findDataset(dataset)?.source
  const kinds = source ? kindsOf(source) : new Map<string, Kind>()
  const columns: Column[] = []
  const rules: Record<string, unknown> = {}
  const cells: ((attributes: Attributes, item: JsonValue | undefined) => string[])[] = []
  let listName: string | null = null

  const add = (
    name: string,
    kind: Kind,
    read: (attributes: Attributes, item: JsonValue | undefined) => JsonValue | undefined,
  ) => {
    const { names, texts, rule } = writingOf(name, kind, shape, negate)
    columns.push(...names.map((each) => ({ name: each, text: String })))
    cells.push((attributes, item) => {
      const value = read(attributes, item)
      return value === null || value === undefined ? names.map(() => shape.nothing) : texts(value)
    })
    return rule
  }
  for (const [name, kind] of kinds) {
    // The mapping's location tells it.
    if (name === 'time_zone') continue
    if (kind.kind === 'object') {
      rules[name] = Object.fromEntries(
        [...kind.members].map(([member, inner]) => [
          member,
          add(`${name}.${member}`, inner, (attributes) => memberOf(attributes[name], member)),
        ]),
      )
    } else if (kind.kind === 'objects') {
      listName = name
      const rows = [...kind.members].map(([member, inner]) => [
        member,
        add(`${name}.${member}`, inner, (_, item) => memberOf(item, member)),
      ])
      rules[name] = { rows: Object.fromEntries(rows) }
    } else rules[name] = add(name, kind, (attributes) => attributes[name])
  }
  return {
    columns,
    rules,
    cellsOf: (attributes) => {
      const items = listName === null ? [] : (attributes[listName] as JsonValue[])
      return (items.length === 0 ? [undefined] : items).map((item) => cells.flatMap((cell) => cell(attributes, item)))
    },
  }
}

function memberOf(value: JsonValue | undefined, member: string): JsonValue | undefined {
  return (value as Attributes | null | undefined)?.[member]
}

function writingOf(name: string, kind: Kind, shape: ExportShape, negate: boolean) {
  const one = (text: (value: string) => string, rule: object) => {
    const made = Object.keys(rule).length === 0 ? name : { column: name, ...rule }
    return { names: [name], texts: (value: JsonValue) => [text(String(value))], rule: made }
  }
  if (kind.kind === 'wall_time') {
    const names = shape.wallTime.texts('2026-01-01T00:00:00').map((_, index) => `${name} ${index + 1}`)
    const texts = (value: JsonValue) => shape.wallTime.texts(String(value))
    return { names, texts, rule: { column: names, ...shape.wallTime.rule } }
  }
  if (name === 'amount' && shape.amount !== null) {
    const { columns, texts, rule } = shape.amount
    return { names: columns, texts: (value: JsonValue) => texts(String(value)), rule }
  }
  if (name === 'amount' && negate) {
    const opposite = (value: string) =>
      value.startsWith('-') ? value.slice(1) : /[1-9]/.test(value) ? `-${value}` : value
    return one((value) => shape.money.text(opposite(value)), { ...shape.money.rule, negate: true })
  }
  if (name === 'duration_minutes' && shape.minutesPerUnit > 1)
    return one((value) => String(Number(value) / shape.minutesPerUnit), { multiply: shape.minutesPerUnit })
  switch (kind.kind) {
    case 'money':
      return one(shape.money.text, shape.money.rule)
    case 'date':
      return one(shape.day.text, shape.day.rule)
    case 'list':
      return {
        names: [name],
        texts: (value: JsonValue) => [(value as string[]).join('/')],
        rule: { column: name, separator: '/' },
      }
    default:
      return one((value) => value, {})
  }
}
