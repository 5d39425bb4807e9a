import { type Static, Type } from 'typebox'
import { AskError, unknownName } from './answer.ts'
import type { Mirror } from './mirror.ts'
import { smallCells } from './small-groups.ts'
import { groupedSources, recordSource, recordSources, type Source, type SourceColumn } from './sources.ts'

const rowsMax = 1_000
const rowsDefault = 100
/** More are not compared with each other. */
const groupsMax = 5_000

const groupedMeasures = ['count', 'people', 'sum', 'average'] as const
const operators = ['=', '<>', '<', '<=', '>', '>=', 'in', 'is null', 'is not null'] as const

const Value = Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()])

const members = {
  source: Type.String({ description: 'A name that describe lists' }),
  filters: Type.Optional(
    Type.Array(
      Type.Object(
        {
          column: Type.String(),
          is: Type.Enum(operators),
          value: Type.Optional(Type.Union([Value, Type.Array(Value, { minItems: 1, maxItems: 100 })])),
        },
        { additionalProperties: false },
      ),
      { maxItems: 20, description: 'All must hold. Days are written 2026-02-03, ids as text' },
    ),
  ),
  group_by: Type.Optional(
    Type.Array(
      Type.Object(
        { column: Type.String(), by: Type.Optional(Type.Enum(['day', 'month', 'year'])) },
        { additionalProperties: false },
      ),
      { maxItems: 4, description: '`by` is for days and times' },
    ),
  ),
  order_by: Type.Optional(
    Type.Array(
      Type.Object(
        {
          column: Type.String({ description: 'As the answer names it: sum_amount, transaction_on_month, count' }),
          descending: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
      { maxItems: 5 },
    ),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: rowsMax, description: `${rowsDefault} when left out` })),
}

function measuresOf(names: readonly string[]) {
  return Type.Array(
    Type.Object(
      { measure: Type.Enum([...names]), column: Type.Optional(Type.String()) },
      { additionalProperties: false },
    ),
    { minItems: 1, maxItems: 10, description: 'count: rows. people: different patients. The others need a column' },
  )
}

/** What is asked without --records: groups. */
export const GroupedQuery = Type.Object(
  { ...members, measures: Type.Optional(measuresOf(groupedMeasures)) },
  { additionalProperties: false },
)

/** What is asked with --records: groups, or the rows themselves. */
export const RecordQuery = Type.Object(
  {
    ...members,
    measures: Type.Optional(measuresOf(['count', 'sum', 'average', 'min', 'max'])),
    columns: Type.Optional(
      Type.Array(Type.String(), { maxItems: 100, description: 'Rows instead of groups: these columns of each' }),
    ),
  },
  { additionalProperties: false },
)

export type Query = Static<typeof GroupedQuery> & { columns?: string[] }

/** Rows by the names of their columns; and of a grouped answer, how much of it is of too few people. */
export type QueryAnswer = {
  rows: Record<string, unknown>[]
  /** There are more rows, beyond the limit. */
  has_more: boolean
  hidden_groups?: number
  hidden_cells?: number
}

/** Answers for groups of people alone: each number is of none, or of eleven or more. */
export async function askGroups(mirror: Mirror, query: Query): Promise<QueryAnswer> {
  const source = groupedSources.find(({ name }) => name === query.source)
  if (!source) throw unknownName('source', query.source, groupedSources.map(nameOf))
  const keys = keysOf(mirror, source, query)
  const measures = (query.measures ?? [{ measure: 'count' }]).map((each) => measureOf(source, each))
  const columns = columnNames([...keys, ...measures])
  const { where, values } = filtersOf(mirror, source, query)
  const person = personOf(source)
  const sql = `
    select ${[
      'count(distinct person) as people',
      ...keys.map(({ sql }, index) => `${sql} as k${index}`),
      ...measures.flatMap(({ sql, counted }, index) => [
        `${sql} as m${index}`,
        `count(distinct case when ${counted} then person end) as p${index}`,
      ]),
    ].join(', ')}
      from (select item.*, ${person.sql} as person from (${source.rows(mirror.dialect)}) as item ${person.joins}) as item
     ${where} ${keys.length > 0 ? `group by ${keys.map((_, index) => index + 2).join(', ')}` : ''}
     limit ${groupsMax + 1}`
  const { rows } = await mirror.ask(sql, values)
  if (rows.length > groupsMax)
    throw new AskError(`This makes more than ${groupsMax} groups. Use filters, fewer columns, or months for days.`)
  const groups = rows.map((row) => ({
    keys: keys.map(({ kind }, index) => plain(row[`k${index}`], kind)),
    people: Number(row.people),
    cells: measures.map(({ kind }, index) => ({
      value: plain(row[`m${index}`], kind),
      people: Number(row[`p${index}`]),
    })),
  }))
  const hidden = smallCells(
    groups,
    keys.map(({ widths }) => widths),
  )
  const said = groups.flatMap(({ keys: of, cells }, group) => {
    const values = cells.map(({ value }, measure) => (hidden[group]?.[measure] ? null : value))
    const isUnsaid = hidden[group]?.every(Boolean)
    return isUnsaid ? [] : [Object.fromEntries([...of, ...values].map((value, index) => [columns[index], value]))]
  })
  const ordered = inOrder(said, query, columns)
  const limit = query.limit ?? rowsDefault
  const cells = hidden.flat().filter(Boolean).length
  const gone = groups.length - said.length
  return {
    rows: ordered.slice(0, limit),
    has_more: ordered.length > limit,
    hidden_groups: gone,
    hidden_cells: cells - gone * measures.length,
  }
}

/** Answers from the tables and views as they are, single records too. */
export async function askRecords(mirror: Mirror, query: Query): Promise<QueryAnswer> {
  if (!recordSources.includes(query.source)) throw unknownName('source', query.source, recordSources)
  const source = recordSource(query.source, await mirror.columnsOf(query.source))
  const limit = query.limit ?? rowsDefault
  if (query.columns && (query.group_by || query.measures))
    throw new AskError('Give either columns, for rows, or group_by and measures, for groups.')
  const isGrouped = Boolean(query.group_by ?? query.measures)
  const picked = query.columns?.map((name) => findColumn(source.columns, name)) ?? source.columns
  const asked = isGrouped
    ? [
        ...keysOf(mirror, source, query),
        ...(query.measures ?? [{ measure: 'count' }]).map((each) => measureOf(source, each)),
      ]
    : picked.map((column) => ({ name: column.name, sql: sqlOf(column), kind: column.kind }))
  const columns = columnNames(asked)
  const { where, values } = filtersOf(mirror, source, query)
  const groups = isGrouped ? (query.group_by ?? []).map((_, index) => index + 1) : []
  const order = (query.order_by ?? []).map(({ column, descending }) => {
    const place = columns.indexOf(column)
    if (place < 0) throw unknownName('column', column, columns)
    return `${place + 1} ${descending ? 'desc' : 'asc'} nulls last`
  })
  const sql = `select ${asked.map(({ sql }, index) => `${sql} as c${index}`).join(', ')}
      from (${source.rows(mirror.dialect)}) as item ${where}
      ${groups.length > 0 ? `group by ${groups.join(', ')}` : ''}
      ${order.length > 0 ? `order by ${order.join(', ')}` : ''}
     limit ${limit + 1}`
  const { rows } = await mirror.ask(sql, values)
  const all = rows.map((row) =>
    Object.fromEntries(asked.map(({ kind }, index) => [columns[index], plain(row[`c${index}`], kind)])),
  )
  return { rows: all.slice(0, limit), has_more: all.length > limit }
}

/** `widths`: as `smallCells` takes it. */
type Key = { name: string; sql: string; kind: SourceColumn['kind']; widths: readonly number[] }

function keysOf({ dialect, year }: Mirror, { columns }: Source, { group_by: groups = [] }: Query): Key[] {
  return groups.map(({ column: name, by }) => {
    const column = findColumn(columns, name)
    const sql = sqlOf(column)
    const isTime = column.kind === 'wall_time' || column.kind === 'instant'
    if (column.kind !== 'date' && !isTime) {
      if (by) throw new AskError(`${name} has no days, so it takes no "by".`)
      return { name, sql, kind: column.kind, widths: [0] }
    }
    const day = isTime ? dialect.day(sql) : sql
    // A month is a day already: the first of it.
    const width = by ?? (name === 'month' ? 'month' : 'day')
    if (width === 'day') return { name: `${name}_day`, sql: day, kind: 'date', widths: [7, 4, 0] }
    if (width === 'year') return { name: `${name}_year`, sql: year(day), kind: 'integer', widths: [0] }
    return { name: name === 'month' ? name : `${name}_month`, sql: dialect.month(day), kind: 'date', widths: [4, 0] }
  })
}

type Measure = { name: string; sql: string; kind: SourceColumn['kind']; counted: string }

/** `counted`: the rows that change the number. */
function measureOf(
  { columns, sums }: Source,
  { measure, column: name }: { measure: string; column?: string },
): Measure {
  if (measure === 'count' || measure === 'people') {
    if (name !== undefined) throw new AskError(`${measure} takes no column.`)
    const sql = measure === 'count' ? 'count(*)' : 'count(distinct person)'
    return { name: measure, sql, kind: 'integer', counted: '1 = 1' }
  }
  if (name === undefined) throw new AskError(`${measure} needs a column: ${sums.map(nameOf).join(', ')}.`)
  const column = findColumn(sums, name, columns)
  const sql = sqlOf(column)
  const counted = `${sql} is not null and ${sql} <> 0`
  const { kind } = column
  if (measure === 'min' || measure === 'max')
    return { name: `${measure}_${name}`, sql: `${measure}(${sql})`, kind, counted }
  if (kind !== 'unknown' && !numbers.has(kind)) throw new AskError(`${name} is no number.`)
  if (measure === 'sum') return { name: `sum_${name}`, sql: `sum(${sql})`, kind, counted }
  return { name: `average_${name}`, sql: `avg(${sql})`, kind: kind === 'decimal' ? kind : 'number', counted }
}

const numbers: ReadonlySet<string> = new Set(['integer', 'number', 'decimal'])

/** A person is one at all locations of an organization; a patient who may not be read counts for each location. */
function personOf({ person }: Source): { sql: string; joins: string } {
  if (person === null) return { sql: 'null', joins: '' }
  // Without a key it is one person more, and never none.
  if ('sourceId' in person)
    return { sql: `coalesce(cast(item.organization_id as text) || '/' || ${person.sourceId}, '')`, joins: '' }
  return {
    sql: `coalesce(cast(practice.organization_id as text) || '/' || patient.source_id, cast(${person.id} as text))`,
    joins: `left join patients as patient on patient.id = ${person.id}
            left join locations as practice on practice.id = patient.location_id`,
  }
}

function filtersOf(mirror: Mirror, { columns }: Source, { filters = [] }: Query) {
  const values: unknown[] = []
  const conditions = filters.map(({ column: name, is, value }) => {
    const column = findColumn(columns, name)
    const bound = (each: unknown) => {
      values.push(mirror.bound(filterValue(column, each)))
      const place = mirror.placeholder(values.length)
      return column.kind === 'id' ? `cast(${place} as bigint)` : place
    }
    if (is === 'is null' || is === 'is not null') {
      if (value !== undefined) throw new AskError(`"${is}" takes no value.`)
      return `${sqlOf(column)} ${is}`
    }
    if (is === 'in') {
      if (!Array.isArray(value)) throw new AskError('"in" needs a list of values.')
      return `${sqlOf(column)} in (${value.map(bound).join(', ')})`
    }
    if (value === undefined || Array.isArray(value)) throw new AskError(`"${is}" needs one value.`)
    return `${sqlOf(column)} ${is} ${bound(value)}`
  })
  return { where: conditions.length > 0 ? `where ${conditions.join(' and ')}` : '', values }
}

/** The value as the column takes it. */
function filterValue({ name, kind }: SourceColumn, value: unknown): unknown {
  const refuse = (form: string) => new AskError(`${name} is compared with ${form}.`)
  const text = String(value)
  if (kind === 'id') {
    if (!/^[1-9]\d{0,18}$/.test(text) || BigInt(text) > 2n ** 63n - 1n) throw refuse('an id, such as "168321432239256"')
    return text
  }
  if (kind === 'boolean') {
    if (typeof value !== 'boolean') throw refuse('true or false')
    return value
  }
  if (numbers.has(kind)) {
    if (typeof value !== 'number') throw refuse('a number')
    return value
  }
  if (kind === 'date' || kind === 'instant' || kind === 'wall_time') {
    const form = kind === 'date' ? /^\d{4}-\d{2}-\d{2}$/ : /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?Z?)?$/
    if (!form.test(text) || Number.isNaN(Date.parse(text)) || !isDay(text.slice(0, 10)))
      throw refuse(kind === 'date' ? 'a day, such as 2026-02-03' : 'a time, such as 2026-02-03T09:00:00')
    return text
  }
  if (kind === 'unknown') return value
  if (typeof value !== 'string' || text.includes('\0')) throw refuse('a text')
  return text
}

function isDay(text: string): boolean {
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

function inOrder(rows: Record<string, unknown>[], { order_by: order = [] }: Query, columns: readonly string[]) {
  for (const { column } of order) if (!columns.includes(column)) throw unknownName('column', column, columns)
  const compare = (one: unknown, other: unknown) => {
    if (typeof one === 'number' && typeof other === 'number') return one - other
    return String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0
  }
  return rows.toSorted((one, other) => {
    for (const { column, descending } of order.length > 0
      ? order
      : columns.map((each) => ({ column: each, descending: false }))) {
      const [left, right] = [one[column], other[column]]
      if (left === right) continue
      if (left === null || right === null) return left === null ? 1 : -1
      const difference = compare(left, right)
      if (difference !== 0) return descending ? -difference : difference
    }
    return 0
  })
}

/** A value as the answer has it: ids are texts, as in the API, and money has two digits after the point. */
function plain(value: unknown, kind: SourceColumn['kind']): string | number | boolean | null {
  if (value === null || value === undefined) return null
  if (kind === 'boolean') return Boolean(value)
  if (kind === 'decimal') return Math.round(Number(value) * 100) / 100
  if (kind === 'integer' || kind === 'number') return Number(value)
  if (value instanceof Date) return value.toISOString()
  if (kind !== 'id' && (typeof value === 'number' || (typeof value === 'bigint' && isExact(value))))
    return Number(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function isExact(value: bigint): boolean {
  return Number.isSafeInteger(Number(value))
}

function columnNames(columns: readonly { name: string }[]): string[] {
  const names = columns.map(nameOf)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new AskError(`${twice} is asked twice. Leave one out.`)
  return names
}

function findColumn(
  columns: readonly SourceColumn[],
  name: string,
  others: readonly SourceColumn[] = [],
): SourceColumn {
  const column = columns.find((each) => each.name === name)
  if (column) return column
  const isOther = others.some((each) => each.name === name)
  throw isOther
    ? new AskError(`${name} cannot be added up. These can: ${columns.map(nameOf).join(', ') || 'none'}.`)
    : unknownName('column', name, columns.map(nameOf))
}

function sqlOf({ name, sql }: SourceColumn): string {
  return sql ?? `item."${name.replaceAll('"', '""')}"`
}

function nameOf({ name }: { name: string }): string {
  return name
}
