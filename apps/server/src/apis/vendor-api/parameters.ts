import { type Dataset, type FilterName, limits } from '@bridgework/contract'
import { type Moment, parseInstant, parseMoment } from '../../modules/datasets/instant.ts'
import type { Stamp } from '../../modules/datasets/stamp.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type OrganizationId, parseNumericId } from '../../platform/identity/identity.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'

export const sinceParameter = 'q[fetch_modified_since]'
/** The request header that names the epoch of that moment. */
export const epochHeader = 'x-epoch'
const patientParameter = 'q[patient_id]'
const startsFromParameter = 'q[starts_from]'
const startsToParameter = 'q[starts_to]'

/** The parameters that each filter of a dataset is written as. */
const filterParameters: Record<FilterName, readonly string[]> = {
  patient_id: [patientParameter],
  starts_at: [startsFromParameter, startsToParameter],
}

function fieldsParameter(dataset: Dataset): string {
  return `fields[${dataset.type}]`
}

type ListNames = { accepted: readonly string[]; ofRecords: readonly string[] }
const listNames = new WeakMap<Dataset, ListNames>()

/** What a dataset's list accepts, and what of it says which records, and what of them. Made once for each: every read asks. */
function listNamesOf(dataset: Dataset): ListNames {
  const known = listNames.get(dataset)
  if (known) return known
  const ofFilters = [sinceParameter, ...dataset.filters.flatMap((filter) => filterParameters[filter])]
  const ofRecords = [...ofFilters, fieldsParameter(dataset)]
  const accepted = [dataset.pagination === 'cursor' ? 'after' : 'page', 'items', ...ofRecords]
  const names = { accepted, ofRecords }
  listNames.set(dataset, names)
  return names
}

/** A list request's parameters, each checked. */
export type ListParameters = {
  items: number
  after: string
  page: number
  since: Stamp | null
  patientId: string | null
  startsFrom: Moment | null
  startsTo: Moment | null
  /** The attributes to return; null: all. */
  fields: readonly string[] | null
  /** What says which records, and what of them, as the caller wrote it: for links to the next page. */
  carried: readonly (readonly [name: string, value: string])[]
}

/** Reads the parameters of a dataset's list. Throws `parameter_invalid`, naming the parameter and what is accepted. */
export function readListParameters(rawQuery: string, dataset: Dataset): ListParameters {
  const isCursor = dataset.pagination === 'cursor'
  const { accepted, ofRecords } = listNamesOf(dataset)
  const query = readQuery(rawQuery, accepted)
  const items = readItems(query)
  const startsFrom = readMoment(query, startsFromParameter, parseMoment)
  const startsTo = readMoment(query, startsToParameter, parseMoment)
  if (startsFrom !== null && startsTo !== null && startsTo <= startsFrom) {
    throw invalid(`${startsToParameter} must be later than ${startsFromParameter}: it is the first moment left out.`)
  }
  return {
    items,
    after: isCursor ? readAfter(query) : '0',
    page: isCursor ? 1 : readPage(query, items),
    since: readMoment(query, sinceParameter, parseInstant, ' from 1970 on'),
    patientId: readPatientId(query),
    startsFrom,
    startsTo,
    fields: readFields(query, dataset, dataset.attributes.properties),
    carried: [...query].filter(([name]) => ofRecords.includes(name)),
  }
}

/** Reads the parameters of a single record: which attributes to return, null for all. */
export function readRecordParameters(rawQuery: string, dataset: Dataset): { fields: readonly string[] | null } {
  const query = readQuery(rawQuery, [fieldsParameter(dataset)])
  const attributes = { ...dataset.attributes.properties, ...dataset.detailAttributes?.properties }
  return { fields: readFields(query, dataset, attributes) }
}

/** Reads the parameters of a digest: where it begins. */
export function readDigestParameters(rawQuery: string): { after: string } {
  return { after: readAfter(readQuery(rawQuery, ['after'])) }
}

/** Reads the parameters of an export: where it begins. It is of whole records, so filters and fields are refused with the list that takes them. */
export function readExportParameters(rawQuery: string, dataset: Dataset): { after: string } {
  const hint = ` An export has all records of the dataset with all attributes: for a part of them use the list ${dataset.name}.`
  return { after: readAfter(readQuery(rawQuery, ['after'], hint)) }
}

/** Reads the parameters of /organizations. */
export function readPageParameters(rawQuery: string): { page: number; items: number } {
  const query = readQuery(rawQuery, ['page', 'items'])
  const items = readItems(query)
  return { items, page: readPage(query, items) }
}

/** Reads the parameters of /locations. spec: GET /locations. */
export function readLocationsParameters(rawQuery: string) {
  const query = readQuery(rawQuery, ['page', 'items', 'organization_id', 'with_attribution_script_install'])
  const items = readItems(query)
  return {
    items,
    page: readPage(query, items),
    organizationId: readOrganizationId(query),
    withAttributionScript: readFlag(query, 'with_attribution_script_install'),
  }
}

/** Refuses every parameter, for paths that take none. */
export function readNoParameters(rawQuery: string): void {
  readQuery(rawQuery, [])
}

/** A misspelt or repeated parameter is refused: a delta filter that is silently ignored turns into a full sync. */
function readQuery(rawQuery: string, accepted: readonly string[], hint = ''): Map<string, string> {
  const query = new Map<string, string>()
  const refuse = (errors: string) => {
    const names = accepted.length === 0 ? 'This path accepts no parameters.' : `Accepted: ${accepted.join(', ')}.`
    return invalid(`${errors} ${names}${hint}`)
  }
  for (const [name, value] of decodedParts(rawQuery)) {
    if (name === null || value === null) throw invalid('A parameter is not valid percent-encoded UTF-8.')
    if (!accepted.includes(name)) throw refuse(`Unknown parameter ${quote(name)}.`)
    if (query.has(name)) throw refuse(`Parameter ${name} occurs more than once.`)
    query.set(name, value)
  }
  return query
}

type Part = readonly [name: string | null, value: string | null]

/** A query's names and values in their order; null: not valid percent-encoded UTF-8. */
export function decodedParts(rawQuery: string): readonly Part[] {
  const known = decoded.get(rawQuery)
  if (known) return known
  const parts: Part[] = []
  for (const part of rawQuery.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    parts.push([decode(equals < 0 ? part : part.slice(0, equals)), decode(equals < 0 ? '' : part.slice(equals + 1))])
  }
  decoded.set(rawQuery, parts)
  return parts
}

/** Each request's is read twice within milliseconds: for its turn, and by its route. */
const decoded = new BoundedMap<string, readonly Part[]>(64)

function decode(text: string): string | null {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

function readItems(query: ReadonlyMap<string, string>): number {
  const text = query.get('items')
  if (text === undefined) return limits.pageSizeDefault
  if (!/^[1-9]\d{0,18}$/.test(text)) {
    throw invalid(
      `items must be a whole number of at least 1, larger than ${limits.pageSizeMax} counts as ${limits.pageSizeMax}; you sent: ${quote(text)}.`,
    )
  }
  return Math.min(Number(text), limits.pageSizeMax)
}

function readAfter(query: ReadonlyMap<string, string>): string {
  const text = query.get('after')
  if (text === undefined) return '0'
  if (!/^(0|[1-9]\d{0,18})$/.test(text) || BigInt(text) > 2n ** 63n - 1n) {
    throw invalid(
      `after must be a non-negative integer: the id of the last record of the previous page; you sent: ${quote(text)}.`,
    )
  }
  return text
}

function readPage(query: ReadonlyMap<string, string>, items: number): number {
  const text = query.get('page')
  if (text === undefined) return 1
  if (!/^[1-9]\d{0,15}$/.test(text) || Number(text) * items > Number.MAX_SAFE_INTEGER) {
    throw invalid(`page must be a whole number of at least 1; you sent: ${quote(text)}.`)
  }
  return Number(text)
}

function readMoment<T>(
  query: ReadonlyMap<string, string>,
  name: string,
  parse: (text: string) => T | null,
  from = '',
): T | null {
  const text = query.get(name)
  if (text === undefined) return null
  const moment = parse(text)
  if (moment !== null) return moment
  const hint = text.includes(' ') ? ' A "+" in a query must be written as %2B.' : ''
  throw invalid(
    `${name} must be an RFC 3339 date-time${from}, like 2026-01-31T08:00:00Z or 2026-01-31T08:00:00.123456%2B01:00; you sent: ${quote(text)}.${hint}`,
  )
}

function readPatientId(query: ReadonlyMap<string, string>): string | null {
  const text = query.get(patientParameter)
  if (text === undefined) return null
  if (/^[1-9]\d{0,18}$/.test(text) && BigInt(text) < 2n ** 63n) return text
  throw invalid(`${patientParameter} must be the id of a patient, a positive whole number; you sent: ${quote(text)}.`)
}

function readFields(
  query: ReadonlyMap<string, string>,
  dataset: Dataset,
  attributes: Record<string, unknown>,
): readonly string[] | null {
  const name = fieldsParameter(dataset)
  const text = query.get(name)
  if (text === undefined) return null
  const accepted = `Accepted, separated by commas: ${Object.keys(attributes).join(', ')}.`
  if (text === '') throw invalid(`${name} names no attribute. ${accepted}`)
  const fields = text.split(',')
  const unknown = fields.find((field) => !Object.hasOwn(attributes, field))
  if (unknown !== undefined) throw invalid(`${name} names an unknown attribute ${quote(unknown)}. ${accepted}`)
  const repeated = fields.find((field, index) => fields.indexOf(field) < index)
  if (repeated !== undefined) throw invalid(`${name} names ${repeated} more than once. ${accepted}`)
  return fields
}

function readOrganizationId(query: ReadonlyMap<string, string>): OrganizationId | null {
  const text = query.get('organization_id')
  if (text === undefined) return null
  const id = parseNumericId<OrganizationId>(text)
  if (id === null)
    throw invalid(
      `organization_id must be the id of an organization, a positive whole number; you sent: ${quote(text)}.`,
    )
  return id
}

function readFlag(query: ReadonlyMap<string, string>, name: string): boolean {
  const text = query.get(name)
  if (text === undefined || text === 'false' || text === '0') return false
  if (text === '' || text === 'true' || text === '1') return true
  throw invalid(`${name} must be empty, true or 1 to restrict the list, false or 0 not to; you sent: ${quote(text)}.`)
}

/** What the caller sent, short enough to be read and escaped for JSON and terminals alike. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

function invalid(errors: string): Problem {
  return new Problem('parameter_invalid', { errors })
}
