import { type Dataset, datasets, type FilterName, limits } from '@bridgework/contract'
import { type Moment, parseInstant, parseMoment } from '../../modules/datasets/instant.ts'
import type { Stamp } from '../../modules/datasets/stamp.ts'
import { type OrganizationId, parseNumericId } from '../../platform/identity/identity.ts'
import { type ChangeCursor, parseCursor } from './changes/cursor.ts'
import {
  type Accepted,
  accepting,
  flag,
  invalid,
  moment,
  opaque,
  type Parameter,
  readQuery,
  recordId,
  someOf,
  wholeNumber,
} from './query.ts'

const items = wholeNumber('items', {
  description: `Page size; a value above ${limits.pageSizeMax} counts as ${limits.pageSizeMax}`,
  mustBe: `a whole number of at least 1, larger than ${limits.pageSizeMax} counts as ${limits.pageSizeMax}`,
  minimum: 1,
  default: limits.pageSizeDefault,
  absent: limits.pageSizeDefault,
  read: (text): number => Math.min(Number(text), limits.pageSizeMax),
})

const after = wholeNumber('after', {
  description: 'Cursor: the id of the last record of the previous page, as its meta.next_after',
  mustBe: 'a non-negative integer: the id of the last record of the previous page',
  minimum: 0,
  absent: '0',
  read: (text): string => text,
})

const page = wholeNumber('page', {
  description: 'Number of the page, from 1',
  mustBe: 'a whole number of at least 1',
  minimum: 1,
  // Records before the page are counted as a number.
  maximum: Math.floor(Number.MAX_SAFE_INTEGER / limits.pageSizeMax),
  default: 1,
  absent: 1,
  read: Number,
})

export const since = moment('q[fetch_modified_since]', {
  description:
    'Return only records that changed since this time (RFC 3339, in UTC or with an offset). Pass meta.next_fetch_modified_since here. This is the deep object form of q',
  parse: parseInstant,
  from: ' from 1970 on',
})

const afterChange = opaque('after', {
  description: 'Cursor: meta.next_after of the answer before. Without it, the answer has all that there is',
  mustBe: 'meta.next_after of an answer of /changes',
  parse: parseCursor,
})

const wait = wholeNumber('wait', {
  description: `With after: seconds that the answer may wait for a change, at most ${limits.changesWaitSecondsMax}`,
  mustBe: `a whole number of seconds from 0 to ${limits.changesWaitSecondsMax}`,
  minimum: 0,
  maximum: limits.changesWaitSecondsMax,
  default: 0,
  absent: 0,
  read: Number,
})

/** The request header that names the epoch of that moment. */
export const epochHeader = 'x-epoch'

const patient = recordId('q[patient_id]', {
  description: 'Return only records of the patient with this id',
  mustBe: 'the id of a patient, a positive whole number',
})

const startsFrom = moment('q[starts_from]', {
  description: 'Return only records that start at this time or later',
  parse: parseMoment,
})

const startsTo = moment('q[starts_to]', {
  description: 'Return only records that start before this time',
  parse: parseMoment,
})

/** The parameters that each filter of a dataset is written as. */
const filterParameters: Record<FilterName, readonly Parameter<unknown>[]> = {
  patient_id: [patient],
  starts_at: [startsFrom, startsTo],
}

const organization = wholeNumber('organization_id', {
  description: 'Return only the locations of this organization',
  mustBe: 'the id of an organization, a positive whole number',
  minimum: 1,
  absent: null,
  read: (text) => parseNumericId<OrganizationId>(text),
})

const withScript = flag('with_attribution_script_install', {
  description:
    'Return only locations whose practice has installed the attribution script on its website: when empty, true or 1. No effect when false or 0',
  mustBe: 'empty, true or 1 to restrict the list, false or 0 not to',
})

function fieldsOf({ type }: Dataset, attributes: Record<string, unknown>) {
  return someOf(`fields[${type}]`, {
    description: 'Names of the attributes to return, separated by commas; without it, all of them',
    words: Object.keys(attributes),
    what: 'attribute',
  })
}

/** What the paths of a dataset accept. Made once for each: every read asks. */
type OfDataset = {
  readonly list: Accepted
  readonly record: Accepted
  readonly fields: Parameter<readonly string[] | null>
  readonly recordFields: Parameter<readonly string[] | null>
}

const ofDatasets = new Map(
  datasets.map((dataset): [Dataset, OfDataset] => {
    const fields = fieldsOf(dataset, dataset.attributes.properties)
    const details = { ...dataset.attributes.properties, ...dataset.detailAttributes?.properties }
    const recordFields = fieldsOf(dataset, details)
    const filters = dataset.filters.flatMap((filter) => filterParameters[filter])
    const walk = dataset.pagination === 'cursor' ? after : page
    const list = accepting(walk, items, since, ...filters, fields)
    return [dataset, { list, record: accepting(recordFields), fields, recordFields }]
  }),
)

/** What the list and the single records of a dataset accept. */
export function parametersOf(dataset: Dataset): OfDataset {
  const known = ofDatasets.get(dataset)
  if (!known) throw new Error(`no dataset ${dataset.name}`)
  return known
}

/** What a digest and an export accept: where it begins. */
export const rangeParameters = accepting(after)
/** What /organizations accepts. */
export const pageParameters = accepting(page, items)
/** What /locations accepts. spec: GET /locations. */
export const locationsParameters = accepting(organization, withScript, page, items)

/** What /changes accepts. */
export const changesParameters = accepting(afterChange, items, wait)

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

/** Reads the parameters of a dataset's list. Throws `parameter_invalid`, as all functions here do. */
export function readListParameters(rawQuery: string, dataset: Dataset): ListParameters {
  const { list, fields } = parametersOf(dataset)
  const { get, texts } = readQuery(rawQuery, list)
  const [from, to] = [get(startsFrom), get(startsTo)]
  if (from !== null && to !== null && to <= from)
    throw invalid(`${startsTo.name} must be later than ${startsFrom.name}: it is the first moment left out.`, {
      parameter: startsTo.name,
      rule: 'order',
    })
  return {
    items: get(items),
    after: get(after),
    page: get(page),
    since: get(since),
    patientId: get(patient),
    startsFrom: from,
    startsTo: to,
    fields: get(fields),
    carried: [...texts].filter(([name]) => ![after.name, page.name, items.name].includes(name)),
  }
}

/** Reads the parameters of a single record: which attributes to return, null for all. */
export function readRecordParameters(rawQuery: string, dataset: Dataset): { fields: readonly string[] | null } {
  const { record, recordFields } = parametersOf(dataset)
  return { fields: readQuery(rawQuery, record).get(recordFields) }
}

/** Reads the parameters of a digest: where it begins. */
export function readDigestParameters(rawQuery: string): { after: string } {
  return { after: readQuery(rawQuery, rangeParameters).get(after) }
}

/** Reads the parameters of an export: where it begins. It is of whole records, so filters and fields are refused with the list that takes them. */
export function readExportParameters(rawQuery: string, dataset: Dataset): { after: string } {
  const hint = ` An export has all records of the dataset with all attributes: for a part of them use the list ${dataset.name}.`
  return { after: readQuery(rawQuery, rangeParameters, hint).get(after) }
}

/** Reads the parameters of /organizations. */
export function readPageParameters(rawQuery: string): { page: number; items: number } {
  const { get } = readQuery(rawQuery, pageParameters)
  return { items: get(items), page: get(page) }
}

/** Reads the parameters of /locations. */
export function readLocationsParameters(rawQuery: string) {
  const { get } = readQuery(rawQuery, locationsParameters)
  return {
    items: get(items),
    page: get(page),
    organizationId: get(organization),
    withAttributionScript: get(withScript),
  }
}

export type ChangesParameters = { after: ChangeCursor | null; items: number; wait: number }

/** Reads the parameters of /changes. */
export function readChangesParameters(rawQuery: string): ChangesParameters {
  const { get } = readQuery(rawQuery, changesParameters)
  return { after: get(afterChange), items: get(items), wait: get(wait) }
}

/** Refuses every parameter, for paths that take none. */
export function readNoParameters(rawQuery: string): void {
  readQuery(rawQuery, accepting())
}
