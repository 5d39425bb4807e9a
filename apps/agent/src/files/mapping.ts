import { datasetNames, findDataset, isTimeZone } from '@bridgework/contract'
import type { DatasetName, SourceLocation } from '../connector.ts'
import { didYouMean } from '../enroll/did-you-mean.ts'
import { type AttributeRule, readAttributes } from './mapping-attributes.ts'
import { Fields } from './mapping-fields.ts'
import { kindsOf } from './schema-kind.ts'

/** One dataset's files and how their rows become records. */
export type DatasetMapping = {
  readonly dataset: DatasetName
  /** The file's path below the folder; `{location}` stands for the key of each location. */
  readonly file: string
  readonly format: 'csv' | 'ndjson'
  readonly delimiter: string
  readonly encoding: 'utf-8' | 'windows-1252'
  /** The columns whose texts, joined by `-`, are the record's key. */
  readonly key: readonly string[]
  /** Whose records these are: every location's, those of the location in the path, or of the one that a column names. */
  readonly locationsFrom: 'all' | 'path' | { readonly column: string }
  /** False: the file holds some of the records, and what is missing is not gone. */
  readonly isComplete: boolean
  readonly badLine: 'refuse_file' | 'skip_line'
  /** `as_before`: a file without a line end after its last line may be cut when earlier ones had it. */
  readonly lastLineEnd: 'as_before' | 'optional'
  readonly attributes: ReadonlyMap<string, AttributeRule>
  /** The attributes that the mapping leaves out. */
  readonly unmapped: readonly string[]
}

export type Mapping = {
  readonly locations: readonly (SourceLocation & { readonly namesInFiles: readonly string[] })[]
  readonly readyWhen: 'settled' | 'marked'
  readonly settleSeconds: number
  /** In the contract's order: what others refer to comes first. */
  readonly datasets: readonly DatasetMapping[]
}

/** Understands a mapping file's content; every fault at once, each with its path. */
export function readMapping(
  document: unknown,
  defaultTimeZone: (locationKey: string) => string | null,
): { mapping: Mapping; faults: string[] } {
  const faults: string[] = []
  const top = new Fields(document, '', faults)
  top.refuseOthers(['practice_management_system', 'ready_when', 'settle_seconds', 'locations', 'datasets'])
  const pms = top.table('practice_management_system')
  pms?.refuseOthers(['name', 'version'])
  const system = { name: pms?.text('name') ?? 'Export files', version: pms?.text('version') ?? null }
  const locations = readLocations(top, system, defaultTimeZone)
  const tables = top.table('datasets')
  const names: readonly string[] = datasetNames
  for (const name of tables?.names() ?? []) {
    if (!names.includes(name))
      tables?.fault(name, `unknown dataset.${didYouMean(name, names)} Known datasets: ${names.join(', ')}`)
  }
  const mapped = datasetNames.flatMap((name) => {
    const table = tables?.table(name)
    return table ? [readDataset(name, table, locations)] : []
  })
  if (mapped.length === 0) top.fault('datasets', 'must name at least one dataset')
  return {
    mapping: {
      locations,
      readyWhen: top.oneOf('ready_when', ['settled', 'marked'] as const) ?? 'settled',
      settleSeconds: top.wholeNumber('settle_seconds', 0, 3600) ?? 10,
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
    table.refuseOthers([...locationTexts, 'name', 'is_active', 'names_in_files'])
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

const locationTexts = [
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

function readDataset(dataset: DatasetName, table: Fields, locations: Mapping['locations']): DatasetMapping {
  table.refuseOthers([
    'file',
    'format',
    'delimiter',
    'encoding',
    'key',
    'location_column',
    'all_locations',
    'complete',
    'on_bad_line',
    'last_line_end',
    'attributes',
  ])
  const file = table.requiredText('file')
  if (/^([/\\]|[a-z]:)|(^|[/\\])\.\.([/\\]|$)/i.test(file))
    table.fault('file', 'must be inside the folder: no absolute path and no ".."')
  const delimiter = table.text('delimiter') ?? ','
  if (delimiter !== '\t' && !/^[^\w\s"]$/.test(delimiter))
    table.fault('delimiter', 'must be one character, like "," or ";" or a tab')
  const key = table.textOrTexts('key')
  if (key.length === 0) table.fault('key', 'must name the column, or the columns, that hold the key')
  const source = findDataset(dataset)?.source
  const attributes = source ? readAttributes(table, kindsOf(source), locations) : new Map<string, AttributeRule>()
  const named = table.table('attributes')
  return {
    dataset,
    file,
    format: table.oneOf('format', ['csv', 'ndjson'] as const) ?? (/\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv'),
    delimiter,
    encoding: table.oneOf('encoding', ['utf-8', 'windows-1252'] as const) ?? 'utf-8',
    key,
    locationsFrom: readLocationsFrom(table, file, locations.length),
    isComplete: table.boolean('complete') ?? true,
    badLine: table.oneOf('on_bad_line', ['refuse_file', 'skip_line'] as const) ?? 'refuse_file',
    lastLineEnd: table.oneOf('last_line_end', ['as_before', 'optional'] as const) ?? 'as_before',
    attributes,
    unmapped: [...attributes].flatMap(([name, rule]) => (named?.has(name) || 'ofLocation' in rule ? [] : name)),
  }
}

function readLocationsFrom(table: Fields, file: string, locations: number): DatasetMapping['locationsFrom'] {
  const column = table.text('location_column')
  const isAll = table.boolean('all_locations') ?? false
  const inPath = file.includes('{location}')
  if ([column !== null, isAll, inPath].filter(Boolean).length > 1) {
    table.fault(
      'file',
      'names its locations in two ways: use only one of {location}, location_column and all_locations',
    )
  }
  if (column !== null) return { column }
  if (inPath) return 'path'
  if (!isAll && locations > 1) {
    table.fault(
      'file',
      'must say of which location its records are: {location} in the path, location_column, or all_locations = true',
    )
  }
  return 'all'
}
