import { datasetNames, findDataset, isTimeZone } from '@bridgework/contract'
import type { DatasetName, SourceLocation } from '../../connector.ts'
import { didYouMean } from '../../enroll/did-you-mean.ts'
import type { KeyPart } from '../reading/joined-key.ts'
import type { LookupMapping, Place } from '../reading/lookup.ts'
import type { FileFormat } from '../reading/rows.ts'
import { type AttributeRule, readAttributes } from './mapping-attributes.ts'
import { Fields, isObject } from './mapping-fields.ts'
import { noFormat, readFormat } from './mapping-format.ts'
import { readKey } from './mapping-rules.ts'
import { locationSettings, locationTexts, lookupSettings, type SourceKind, settingsOf } from './mapping-schema.ts'
import { readStatement, type Statement, statementOf } from './mapping-statement.ts'
import { kindsOf } from './schema-kind.ts'

/** One file of a dataset, or several that fit a pattern, and how their rows become records. Of a database: one statement. */
export type TableMapping = Place &
  FileFormat & {
    /** What gives the rows in the place of a file, which is then only named by `pattern`; null: a file does. */
    readonly statement: Statement | null
    /** The texts that, joined, are the record's key. */
    readonly key: readonly KeyPart[]
    readonly repeatedKey: 'refuse' | 'first'
    readonly blankKey: 'refuse' | 'continues'
    /** Whose records these are: every location's, those of the location in the path, or of the one that a column names. */
    readonly locationsFrom: 'all' | 'path' | { readonly column: string }
    readonly badLine: 'refuse_file' | 'skip_line'
    /** `as_before`: a file without a line end after its last line may be cut when earlier ones had it. */
    readonly lastLineEnd: 'as_before' | 'optional'
    readonly attributes: ReadonlyMap<string, AttributeRule>
  }

/** One dataset: all rows of all its tables together. */
export type DatasetMapping = {
  readonly dataset: DatasetName
  readonly tables: readonly TableMapping[]
  readonly lookups: readonly LookupMapping[]
  /** False: the files hold some of the records, and what is missing is not gone. */
  readonly isComplete: boolean
  /** The attributes that the mapping leaves out. */
  readonly unmapped: readonly string[]
}

export type Mapping = {
  readonly locations: readonly (SourceLocation & { readonly namesInFiles: readonly string[] })[]
  readonly readyWhen: 'settled' | 'marked'
  readonly settleSeconds: number
  /** Whether a database is quiet: the first value of its first row says yes. */
  readonly quiet: string | null
  /** How often a statement without `changed` is read. */
  readonly readEveryMinutes: number
  /** In the contract's order: what others refer to comes first. */
  readonly datasets: readonly DatasetMapping[]
}

/** Understands a mapping file's content; every fault at once, each with its path. */
export function readMapping(
  document: unknown,
  defaultTimeZone: (locationKey: string) => string | null,
  kind: SourceKind = 'files',
): { mapping: Mapping; faults: string[] } {
  const faults: string[] = []
  const top = new Fields(document, '', faults)
  const settings = settingsOf(kind)
  top.refuseOthers([...Object.keys(settings.top), 'locations', ...(kind === 'files' ? ['lookups'] : []), 'datasets'])
  if (top.has('version') && ![1, 2].includes(Number(top.value('version')))) top.fault('version', 'must be 1 or 2')
  const pms = top.table('practice_management_system')
  pms?.refuseOthers(['name', 'version'])
  const system = {
    name: pms?.text('name') ?? (kind === 'files' ? 'Export files' : 'SQL database'),
    version: pms?.text('version') ?? null,
  }
  const locations = readLocations(top, system, defaultTimeZone)
  const nullWords = top.texts('null_words') ?? []
  const lookups = readLookups(top, nullWords)
  const quiet = top.text('quiet')
  const tables = top.table('datasets')
  const names: readonly string[] = datasetNames
  for (const name of tables?.names() ?? []) {
    if (!names.includes(name))
      tables?.fault(name, `unknown dataset.${didYouMean(name, names)} Known datasets: ${names.join(', ')}`)
  }
  const mapped = datasetNames.flatMap((name) => {
    const table = tables?.table(name)
    return table ? [readDataset(name, table, { kind, locations, lookups, nullWords })] : []
  })
  if (mapped.length === 0) top.fault('datasets', 'must name at least one dataset')
  return {
    mapping: {
      locations,
      readyWhen: top.oneOf('ready_when', ['settled', 'marked'] as const) ?? 'settled',
      settleSeconds: top.wholeNumber('settle_seconds', 0, 3600) ?? 10,
      quiet: quiet === null ? null : statementOf(quiet),
      readEveryMinutes: top.wholeNumber('read_every_minutes', 0, 1440) ?? 15,
      datasets: mapped,
    },
    faults,
  }
}

function readLocations(
  top: Fields,
  system: { name: string; version: string | null },
  defaultTimeZone: (locationKey: string) => string | null,
) {
  const tables = top.table('locations')
  const locations = (tables?.names() ?? []).flatMap((key) => {
    const table = tables?.table(key)
    if (!table) return []
    table.refuseOthers(Object.keys(locationSettings))
    const texts = Object.fromEntries(locationTexts.map((name) => [name, table.text(name)]))
    const zone = texts.time_zone ?? defaultTimeZone(key)
    if (zone !== null && !isTimeZone(zone)) table.fault('time_zone', 'must be a zone like America/Chicago')
    return [
      {
        source_id: key,
        name: table.requiredText('name'),
        ...(texts as Record<(typeof locationTexts)[number], string | null>),
        time_zone: zone,
        is_active: table.boolean('is_active') ?? true,
        practice_management_system: system,
        namesInFiles: [key, ...(table.texts('names_in_files') ?? [])],
      },
    ]
  })
  if (locations.length === 0)
    top.fault('locations', 'must name at least one location: write [locations.<key>] with its name')
  return locations
}

function readLookups(top: Fields, nullWords: readonly string[]): ReadonlyMap<string, LookupMapping> {
  const tables = top.table('lookups')
  return new Map(
    (tables?.names() ?? []).flatMap((name) => {
      const table = tables?.table(name)
      if (!table) return []
      table.refuseOthers(Object.keys(lookupSettings))
      const columns = { key: table.requiredText('key'), value: table.requiredText('value') }
      return [[name, { name, ...readFormat(table, nullWords), ...columns, codes: new Map<string, string>() }] as const]
    }),
  )
}

/** What the tables of a dataset are read with. */
type Around = {
  readonly kind: SourceKind
  readonly locations: Mapping['locations']
  readonly lookups: ReadonlyMap<string, LookupMapping>
  readonly nullWords: readonly string[]
}

function readDataset(dataset: DatasetName, table: Fields, around: Around): DatasetMapping {
  const { table: own, parts } = settingsOf(around.kind)
  table.refuseOthers([...Object.keys(own), 'attributes', 'complete', parts])
  const used = new Set<LookupMapping>()
  const tables = partsOf(table, around.kind)
  const read = tables.map((part, index) => {
    const name = tables.length > 1 ? `${dataset}_${index + 1}` : dataset
    return readTable({ dataset, name }, part, around, used)
  })
  const isNamed = (name: string) => read.some(({ named }) => named.has(name))
  return {
    dataset,
    tables: read.map((each) => each.table),
    lookups: [...used],
    isComplete: table.boolean('complete') ?? true,
    unmapped: [...new Set(read.flatMap((each) => each.unmapped))].filter((name) => !isNamed(name)),
  }
}

/** The tables of a dataset: itself, or each of its `files` (`statements`) with what the dataset says for all of them. */
function partsOf(table: Fields, kind: SourceKind): Fields[] {
  const { table: settings, parts: name, place } = settingsOf(kind)
  if (!table.has(name)) return [table]
  const parts = table.value(name)
  if (!Array.isArray(parts) || parts.length === 0) {
    table.fault(name, `must be a list of tables: write [[datasets.<name>.${name}]] above each`)
    return []
  }
  if (table.has(place)) table.fault(place, `cannot stand beside ${name}`)
  const shared = Object.fromEntries(
    table.names().flatMap((each) => (each === name || each === 'complete' ? [] : [[each, table.value(each)]])),
  )
  return parts.map((part: unknown, index) => {
    const own = table.inner(part, `${name}[${index}]`)
    own.refuseOthers([...Object.keys(settings), 'attributes'])
    if (!isObject(part)) return own
    const [all, some] = [shared.attributes, part.attributes]
    const attributes = isObject(all) && isObject(some) ? { ...all, ...some } : (some ?? all)
    return table.inner({ ...shared, ...part, ...(attributes !== undefined && { attributes }) }, `${name}[${index}]`)
  })
}

function readTable(
  { dataset, name }: { dataset: DatasetName; name: string },
  table: Fields,
  around: Around,
  used: Set<LookupMapping>,
) {
  const statement = around.kind === 'sql' ? readStatement(table) : null
  const format =
    statement === null
      ? readFormat(table, around.nullWords)
      : { ...noFormat, pattern: name, nullWords: table.texts('null_words') ?? around.nullWords }
  const lookupOf = (name: string) => {
    const lookup = around.lookups.get(name)
    if (lookup) used.add(lookup)
    return lookup
  }
  const key = readKey(table, 'key')
  if (key.length === 0) table.fault('key', 'must name the column, or the columns, that hold the key')
  const source = findDataset(dataset)?.source
  const attributes = source
    ? readAttributes(table, kindsOf(source), { locations: around.locations, lookupOf })
    : new Map<string, AttributeRule>()
  const named = new Set(table.table('attributes')?.names() ?? [])
  return {
    table: {
      ...format,
      statement,
      key,
      repeatedKey: table.oneOf('repeated_key', ['refuse', 'first'] as const) ?? 'refuse',
      blankKey: table.oneOf('blank_key', ['refuse', 'continues'] as const) ?? 'refuse',
      locationsFrom: readLocationsFrom(table, format.pattern, around),
      badLine:
        table.oneOf('on_bad_line', ['refuse_file', 'skip_line'] as const) ??
        (statement === null ? 'refuse_file' : 'skip_line'),
      lastLineEnd: table.oneOf('last_line_end', ['as_before', 'optional'] as const) ?? 'as_before',
      attributes,
    } satisfies TableMapping,
    named,
    unmapped: [...attributes].flatMap(([name, rule]) => (named.has(name) || 'ofLocation' in rule ? [] : name)),
  }
}

function readLocationsFrom(table: Fields, file: string, { kind, locations }: Around): TableMapping['locationsFrom'] {
  const column = table.text('location_column')
  const isAll = table.boolean('all_locations') ?? false
  const inPath = file.includes('{location}')
  const ways = kind === 'files' ? '{location}, location_column and all_locations' : 'location_column and all_locations'
  const { place } = settingsOf(kind)
  if ([column !== null, isAll, inPath].filter(Boolean).length > 1)
    table.fault(place, `names its locations in two ways: use only one of ${ways}`)
  if (column !== null) return { column }
  if (inPath) return 'path'
  if (!isAll && locations.length > 1) {
    const how =
      kind === 'files'
        ? '{location} in the path, location_column, or all_locations = true'
        : 'location_column, or all_locations = true'
    table.fault(place, `must say of which location its records are: ${how}`)
  }
  return 'all'
}
