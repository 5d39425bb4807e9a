import { type Dataset, limits, type ProblemCode } from '@bridgework/contract'
import { Type } from 'typebox'
import { locationsParameters, pageParameters, parametersOf, rangeParameters } from '../parameters.ts'
import { type Accepted, querySchema } from '../query.ts'
import { component, pascal, recordName } from './components.ts'
import { answers } from './refusal-schemas.ts'

/*
 * What OpenAPI says of each route. Fastify does not check requests against these: parameters are read after the permit, by the same definitions
 * (parameters.ts), so that a caller learns nothing about a location that it may not read (docs/errors.md has the order).
 */

const dataTag = 'Data'
const everywhere = ['internal', 'overloaded', 'unavailable'] as const
export const ofBearer = [
  'token_required',
  'token_invalid',
  'agreement_required',
  'parameter_invalid',
  'requests_exceeded',
  ...everywhere,
] as const

export const tokenSchema = {
  operationId: 'auth_token_create',
  tags: ['Authentication'],
  summary: 'Exchange the key pair for a token',
  description: `A token is valid for 6 hours: reuse it. One IP address may send at most ${limits.tokenRequestsPerMinute} token requests in 60 seconds.`,
  security: [],
  body: Type.Object({
    client_id: Type.String({
      maxLength: limits.credentialLengthMax,
      description: 'The public half of the key pair',
      examples: ['bwc_9mX2…'],
    }),
    client_secret: Type.String({
      maxLength: limits.credentialLengthMax,
      description: 'The secret half, shown once when the key pair was generated',
      examples: ['bws_Vt7q…'],
    }),
  }),
  ...answers(
    Type.Object(
      { token: Type.String({ description: 'Bearer token, valid for 6 hours' }) },
      { description: 'A new token' },
    ),
    [
      'body_malformed',
      'credentials_invalid',
      'body_too_large',
      'content_type_unsupported',
      'credentials_malformed',
      'field_invalid',
      'token_requests_exceeded',
      ...everywhere,
    ],
  ),
}

const locationParam = Type.Object({ location_id: Type.String({ description: 'Id of the location' }) })
const epochOfSince = Type.Optional(
  Type.String({
    description:
      'meta.epoch of the answer that gave the meta.next_fetch_modified_since that you pass. When the service was restored since, the delta returns the whole dataset and meta.restored_at, whatever the clocks say. Do not send it with a time of your own',
  }),
)
const aboutFilters =
  'Filters can be combined. A delta with another filter lacks records that no longer match: see docs/guides/filters-and-fields.md.'

export function listSchema(dataset: Dataset) {
  const isCursor = dataset.pagination === 'cursor'
  return {
    operationId: dataset.operationIds.list,
    tags: [dataTag],
    summary: `List the ${dataset.title.toLowerCase()} of a location`,
    description: [
      dataset.description,
      walkOf(dataset),
      ...(dataset.filters.length > 0 ? [aboutFilters] : []),
      ...previewOf(dataset),
    ].join(' '),
    params: locationParam,
    querystring: querySchema(parametersOf(dataset).list),
    headers: Type.Object({ 'X-Epoch': epochOfSince }),
    ...answers(
      Type.Object(
        {
          data: Type.Array(component(recordName(dataset))),
          pagy: component(isCursor ? 'Pagy' : 'PagePagy'),
          meta: component(isCursor ? 'CursorMeta' : 'PageMeta'),
        },
        { description: 'One page, in ascending order of id' },
      ),
      [...ofDataset(dataset), 'sync_slots_exceeded', 'restore_unmarked'],
    ),
  }
}

export function recordSchema(dataset: Dataset) {
  return {
    operationId: dataset.operationIds.get,
    tags: [dataTag],
    summary: `Get one record of the ${dataset.title.toLowerCase()} of a location`,
    description: [
      dataset.detailAttributes
        ? `The attributes of the list, and ${Object.keys(dataset.detailAttributes.properties).join(', ')}.`
        : 'The attributes of the list.',
      ...previewOf(dataset),
    ].join(' '),
    params: Type.Object({ ...locationParam.properties, id: Type.String({ description: 'Id of the record' }) }),
    querystring: querySchema(parametersOf(dataset).record),
    ...answers(
      Type.Object(
        { data: component(recordName(dataset, 'detail')), meta: component('RecordMeta') },
        { description: 'The record' },
      ),
      [...ofDataset(dataset), 'record_unknown'],
    ),
  }
}

export function digestSchema(dataset: Dataset) {
  return {
    operationId: dataset.operationIds.digest,
    tags: [dataTag],
    summary: `Digest the ${dataset.title.toLowerCase()} of a location`,
    description: [
      `Returns a checksum for each range of ${limits.digestRangeRecords} records in ascending order of id, ${limits.digestRangesMax} ranges per response. Compare them with your copy, and read again only the ranges that differ. Counts as an initial sync request.`,
      ...previewOf(dataset),
    ].join(' '),
    params: locationParam,
    querystring: querySchema(rangeParameters),
    ...answers(
      Type.Object(
        { data: Type.Array(component('DigestRange')), meta: component('DigestMeta') },
        { description: 'Ranges in ascending order of id; each starts where the previous one ends' },
      ),
      [...ofDataset(dataset), 'sync_slots_exceeded'],
    ),
  }
}

export function exportSchema(dataset: Dataset) {
  const lines = {
    description:
      'One JSON text on each line: the records as in the list, in ascending order of id, and then an object with `meta`. Without that line the response was cut',
    content: { 'application/x-ndjson': { schema: Type.String() } },
  }
  return {
    operationId: dataset.operationIds.export,
    tags: [dataTag],
    summary: `Export the ${dataset.title.toLowerCase()} of a location`,
    description: [
      `Returns every record of the dataset, one on each line (NDJSON): the fastest way to make a first copy. To go on where a response was cut, or where its last line has \`has_more\`, pass the id of the last record as after. Start the next delta with next_fetch_modified_since of the first response. Counts as an initial sync request.`,
      ...previewOf(dataset),
    ].join(' '),
    params: locationParam,
    querystring: querySchema(rangeParameters),
    ...answers(lines, [...ofDataset(dataset), 'sync_slots_exceeded']),
  }
}

function walkOf({ pagination }: Dataset): string {
  const step = pagination === 'cursor' ? 'meta.next_after as after' : 'meta.next_page as page'
  return `To get the next page, pass ${step}, until meta.has_more is false. Start the next delta with meta.next_fetch_modified_since of the first page.`
}

function previewOf({ preview }: Dataset): string[] {
  return preview ? ['Not yet available in production.'] : []
}

function ofDataset(dataset: Dataset): ProblemCode[] {
  const preview: ProblemCode[] = dataset.preview ? ['preview_off'] : []
  return [...ofBearer, 'location_denied', 'dataset_denied', 'location_unknown', ...preview, 'disclosure_unavailable']
}

export const organizationListSchema = directoryListSchema('organizations_list', 'organization', pageParameters, [])
export const organizationSchema = directoryRecordSchema('organizations_get', 'organization')
export const locationListSchema = directoryListSchema('locations_list', 'location', locationsParameters, [
  'organization_denied',
  'organization_unknown',
])
export const locationSchema = directoryRecordSchema('locations_get', 'location')

export const syncStatusSchema = {
  operationId: 'locations_sync_status_get',
  tags: ['Locations'],
  summary: 'Get how current the datasets of a location are',
  description:
    'Contains no patient data. Use it to decide whether to start a walk or a delta; you can call it as often as you need.',
  params: locationParam,
  ...answers(
    Type.Object(
      {
        data: Type.Array(component('SyncStatus')),
        meta: component('RecordMeta'),
      },
      { description: 'One entry for each granted dataset' },
    ),
    [...ofBearer, 'location_denied', 'location_unknown'],
  ),
}

function directoryListSchema(operationId: string, type: string, accepted: Accepted, codes: ProblemCode[]) {
  return {
    operationId,
    tags: [type === 'location' ? 'Locations' : 'Organizations'],
    summary: `List the ${type}s that this credential may read`,
    description: `To get the next page, pass meta.next_page as page, until meta.has_more is false. With items=${limits.pageSizeMax}, one page usually holds all ${type}s.`,
    querystring: querySchema(accepted),
    ...answers(
      Type.Object(
        {
          data: Type.Array(component(pascal(type))),
          pagy: component('PagePagy'),
          meta: component('DirectoryMeta'),
        },
        { description: 'One page, in ascending order of id' },
      ),
      [...ofBearer, ...codes],
    ),
  }
}

function directoryRecordSchema(operationId: string, type: 'location' | 'organization') {
  return {
    operationId,
    tags: [type === 'location' ? 'Locations' : 'Organizations'],
    summary: `Get one ${type}`,
    description: `The same attributes as in the list of ${type}s.`,
    params: Type.Object({ [`${type}_id`]: Type.String({ description: `Id of the ${type}` }) }),
    ...answers(
      Type.Object({ data: component(pascal(type)), meta: component('RecordMeta') }, { description: `The ${type}` }),
      [...ofBearer, `${type}_denied`, `${type}_unknown`],
    ),
  }
}
