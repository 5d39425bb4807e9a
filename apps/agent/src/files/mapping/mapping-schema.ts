import { datasetNames, findDataset } from '@bridgework/contract'
import { type TSchema, Type } from 'typebox'
import { type Kind, kindsOf } from './schema-kind.ts'

// Every setting of a mapping file: the readers accept these names, and an editor's schema is made of them.

const text = (description: string) => Type.String({ minLength: 1, description })
const texts = (description: string) => Type.Array(Type.String(), { description })
const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Enum([...values], { description })
const whole = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description })
const yes = (description: string) => Type.Boolean({ description })

const keyPart = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Object({ constant: text('A text that stands for a column') }, { additionalProperties: false }),
])
const keyOf = (description: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Array(keyPart, { minItems: 1 })], { description })

const condition = Type.Object(
  {
    column: text('The column whose text counts'),
    is: Type.Optional(texts('The row is read when the text is one of these; "" is an empty one')),
    is_not: Type.Optional(texts('The row is read when the text is not one of these')),
  },
  { additionalProperties: false },
)

/** How a file is written. */
export const formatSettings = {
  file: text('Path below the folder; * stands for any text, {YYYYMMDD} for a date, {location} for a location'),
  which: oneOf(['newest', 'all'], 'Of the files that fit a pattern: the last by date or name, or all. Default: newest'),
  format: oneOf(['csv', 'ndjson'], 'Default: by the name'),
  delimiter: text('One to three characters between two fields. Default: ",", or what a line sep=; of the file says'),
  quotes: oneOf(
    ['standard', 'backslash', 'text'],
    'standard: "" within quotation marks; backslash: \\"; text: quotation marks are characters like others',
  ),
  positions: Type.Record(Type.String(), Type.String({ pattern: '^\\d{1,5}(-\\d{1,5})?$' }), {
    description: 'Of a file without delimiters: the first and the last character of each column, as "9-28"',
  }),
  encoding: text(
    'A label of the Encoding Standard, as windows-1252, or cp437 or cp850. Default: by mark or content, UTF-8 or UTF-16',
  ),
  skip_lines: whole(0, 1000, 'Lines above the header. Default: the header is the first row with every column'),
  header: texts('The names of the columns of a file that has none'),
  footer_rows: whole(0, 1000, 'Rows at the end that are no records, as totals'),
  skip_starting: texts('Rows whose first text begins with one of these are no records, as "Total"'),
  short_rows: oneOf(['refuse', 'fill'], 'fill: what is missing at the end of a row is empty. Default: refuse'),
  null_words: texts('Texts that stand for nothing in every column, as "NULL"'),
  where: Type.Union([condition, Type.Array(condition)], {
    description: 'Which rows are read; others are not looked at',
  }),
}

/** What a database is asked, in the place of a file. */
export const statementSettings = {
  select: text('A select that gives the rows; the mapping’s columns are those of its result'),
  keys: text('A select that gives the columns of every key, and location_column. Default: the select itself'),
  changed: Type.Union(
    [
      Type.Object(
        {
          column: text('A column of the select that grows with every change'),
          kind: oneOf(['local_time', 'utc_time', 'row_version'], 'What the column holds'),
          overlap: Type.Optional(
            whole(0, 1_000_000_000, 'How far back is read again: seconds, or versions. Default: 600, or 1000'),
          ),
        },
        { additionalProperties: false },
      ),
      Type.Object(
        { counter: text('A select of one row, which is another one after every change') },
        { additionalProperties: false },
      ),
    ],
    { description: 'How a change is seen. Without it, everything is read each read_every_minutes' },
  ),
  order: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }))], {
    description: 'The columns that order the rows of one record, where they make a list',
  }),
  null_words: formatSettings.null_words,
}

/** The other settings of a dataset's file. */
export const recordSettings = {
  key: keyOf('The column with the record’s key, or several; { constant = "pay" } is the same in every key'),
  repeated_key: oneOf(['refuse', 'first'], 'first: later rows with the same key are left out. Default: refuse'),
  blank_key: oneOf(['refuse', 'continues'], 'continues: a row without a key belongs to the record above it'),
  location_column: text('The column that names the location, by its key or one of names_in_files'),
  all_locations: yes('true: every record belongs to every location'),
  on_bad_line: oneOf(['refuse_file', 'skip_line'], 'skip_line: the other lines are sent, and nothing is removed'),
  last_line_end: oneOf(['as_before', 'optional'], 'optional: a last line without a line end is no sign of a cut file'),
}

/** How a column becomes an attribute. */
export const ruleSettings = {
  any: {
    column: keyOf('The column, or several that are joined'),
    join: Type.String({ description: 'What stands between joined columns. Default: a blank' }),
    split: text('What parts a text, as ","'),
    part: whole(-9, 9, 'Which part: 1 the first, -1 the last'),
    lookup: text('A file of lookups that says what a code stands for'),
    values: Type.Record(Type.String(), Type.Unknown(), { description: 'Texts of the file and what they stand for' }),
    otherwise: Type.Unknown({ description: 'What every other text stands for' }),
    default: Type.Unknown({ description: 'What an empty text stands for' }),
    empty: texts('Texts that stand for nothing, as 00/00/0000'),
  },
  reference: { key: keyOf('The columns of the other record’s key, joined as that key is') },
  time: {
    format: text(
      'Made of YYYY YY MMM MM M DD D HH H hh h mm ss A Z, or excel: a number of a spreadsheet. Default: ISO 8601',
    ),
    pivot: whole(0, 99, 'With YY: the last year of this century'),
    language: text('With MMM: of the names of months, as de. Default: en'),
    ignore_offset: yes('true: day and time are meant as they are written, whatever offset follows'),
  },
  money: {
    debit: text('In the place of column: what is owed'),
    credit: text('In the place of column: what is paid'),
    decimal: oneOf(['.', ','], 'The decimal mark. Default: "."'),
    negate: yes('true: the file has the opposite sign'),
    scale: whole(0, 2, 'How many of the last digits are decimals: 2 for cents'),
    minus: texts('Texts beside the number that make it negative, as CR'),
    plus: texts('Texts beside the number that do not, as DR'),
  },
  integer: { multiply: whole(1, 1440, 'What one unit of the file is, as 10 minutes') },
  list: { separator: text('What parts the items. Default: ","') },
}

export const locationTexts = [
  'address_line_1',
  'address_line_2',
  'city',
  'state',
  'postal_code',
  'country',
  'phone',
  'email',
  'website_url',
  'time_zone',
  'currency',
] as const

export const locationSettings: Record<string, TSchema> = {
  name: text('The name that vendors see'),
  ...Object.fromEntries(locationTexts.map((name) => [name, Type.String()])),
  is_active: yes('false: the location is closed'),
  names_in_files: texts('How files name this location besides its key'),
}

export const lookupSettings = {
  ...formatSettings,
  key: text('The column with the code'),
  value: text('The column with what it stands for'),
}

const topOfAll = {
  $schema: Type.String({ description: 'For editors' }),
  version: Type.Enum([1, 2], {
    description: 'The version of this format. A mapping without it is read in the same way',
  }),
  practice_management_system: optional({ name: text('Its name'), version: text('Its version') }),
}
const nullWordsOfAll = { null_words: texts('null_words of every file or statement that has none of its own') }

export const topSettings = {
  ...topOfAll,
  ready_when: oneOf(['settled', 'marked'], 'settled: it rests; marked: <file>.done exists as well. Default: settled'),
  settle_seconds: whole(0, 3600, 'How far apart the two looks are that find a file unchanged. Default: 10'),
  ...nullWordsOfAll,
}

const topOfDatabase = {
  ...topOfAll,
  quiet: text('A select whose first value is 1 or true when the database may be read, and 0 or false during an update'),
  read_every_minutes: whole(0, 1440, 'How often a dataset without "changed" is read as a whole. Default: 15'),
  ...nullWordsOfAll,
}

/** What a mapping is of. */
export type SourceKind = 'files' | 'sql'

/** `place`: the setting that says where the rows are; `parts`: several of them for one dataset. */
export function settingsOf(kind: SourceKind) {
  if (kind === 'files')
    return { top: topSettings, table: { ...formatSettings, ...recordSettings }, place: 'file', parts: 'files' }
  const { blank_key: _, last_line_end: __, ...record } = recordSettings
  return { top: topOfDatabase, table: { ...statementSettings, ...record }, place: 'select', parts: 'statements' }
}

/** The settings of a kind of attribute. `isReference`: it names another record. */
export function settingsFor(kind: Kind, isReference: boolean): Record<string, TSchema> {
  const ofKind =
    kind.kind === 'date' || kind.kind === 'instant' || kind.kind === 'wall_time'
      ? ruleSettings.time
      : kind.kind === 'money' || kind.kind === 'integer' || kind.kind === 'list'
        ? ruleSettings[kind.kind]
        : {}
  return { ...ruleSettings.any, ...(isReference && ruleSettings.reference), ...ofKind }
}

export function isReference(attribute: string): boolean {
  return attribute.endsWith('_source_id')
}

/** The JSON schema of a mapping, for an editor: it names every setting, dataset and attribute. `check` reports settings that exclude each other. */
export function mappingSchema(kind: SourceKind = 'files'): TSchema {
  const shared = new Map<string, TSchema>()
  const datasets = datasetNames.map((name) => [name, datasetSchema(name, kind, shared)] as const)
  const lookups = Type.Record(Type.String(), optional(lookupSettings), { description: 'Files of codes' })
  return Type.Object(
    {
      ...optionalAll(settingsOf(kind).top),
      locations: Type.Record(Type.String(), optional(locationSettings), { description: 'By a key that never changes' }),
      ...(kind === 'files' && { lookups: Type.Optional(lookups) }),
      datasets: optional(Object.fromEntries(datasets)),
    },
    {
      additionalProperties: false,
      title: kind === 'files' ? 'Bridgework mapping of export files' : 'Bridgework mapping of an SQL database',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: Object.fromEntries(shared),
    },
  )
}

/** `shared` takes what several places of the schema need, by its name below `$defs`. */
function datasetSchema(dataset: string, kind: SourceKind, shared: Map<string, TSchema>): TSchema {
  const source = findDataset(dataset)?.source
  const kinds = source ? kindsOf(source) : new Map<string, Kind>()
  const { table, parts } = settingsOf(kind)
  const settings = Object.entries(table).map(([name, schema]) => [name, share(shared, name, schema)] as const)
  const attributes = share(shared, `${dataset}_attributes`, membersSchema(kinds, shared))
  const part = { ...Object.fromEntries(settings), attributes }
  return optional({
    ...part,
    complete: yes(`false: the ${parts} have only some records, and missing ones are not removed`),
    [parts]: Type.Array(optional(part), {
      minItems: 1,
      description: `Several ${parts} that hold the dataset together; each has its own settings besides those above`,
    }),
  })
}

function share(shared: Map<string, TSchema>, name: string, schema: TSchema): TSchema {
  shared.set(name, schema)
  return Type.Unsafe({ $ref: `#/$defs/${name}` })
}

function membersSchema(kinds: ReadonlyMap<string, Kind>, shared: Map<string, TSchema>): TSchema {
  return optional(Object.fromEntries([...kinds].map(([name, kind]) => [name, attributeSchema(name, kind, shared)])))
}

function attributeSchema(name: string, kind: Kind, shared: Map<string, TSchema>): TSchema {
  if (kind.kind === 'object') return membersSchema(kind.members, shared)
  if (kind.kind === 'objects') return optional({ rows: membersSchema(kind.members, shared) })
  const isKey = isReference(name)
  const ruleName = isKey
    ? 'reference_rule'
    : ['date', 'instant', 'wall_time'].includes(kind.kind)
      ? 'time_rule'
      : `${kind.kind}_rule`
  const rule = share(shared, ruleName, optional(settingsFor(kind, isKey)))
  const constant = optional({ constant: Type.Unknown({ description: 'The same value in every record' }) })
  const ways = [text('The column'), rule, share(shared, 'constant', constant)]
  return Type.Union(kind.kind === 'list' ? [...ways, optional({ rows: Type.Union([text('The column'), rule]) })] : ways)
}

function optional(settings: Record<string, TSchema>) {
  return Type.Object(optionalAll(settings), { additionalProperties: false })
}

function optionalAll(settings: Record<string, TSchema>) {
  return Object.fromEntries(Object.entries(settings).map(([name, schema]) => [name, Type.Optional(schema)]))
}
