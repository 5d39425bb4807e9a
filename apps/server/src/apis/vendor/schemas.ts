import {
  anyInstant,
  cursorMeta,
  cursorPagy,
  type Dataset,
  digestMeta,
  digestRange,
  directoryMeta,
  type FilterName,
  freshness,
  instant,
  limits,
  locationAttributes,
  nullable,
  organizationAttributes,
  type ProblemCode,
  pageMeta,
  pagePagy,
  problems,
} from '@bridgework/contract'
import { type TObject, type TSchema, Type } from 'typebox'

/*
 * What OpenAPI says of each route. Requests are not checked against these: parameters are read after the permit, so that a caller
 * learns nothing of a location before it may (docs/errors.md has the order).
 */

const dataTag = 'Data'
const everywhere = ['internal', 'unavailable'] as const
const ofBearer = ['token_required', 'token_invalid', 'agreement_required', 'parameter_invalid', ...everywhere] as const
const requestMeta = Type.Object({ request_id: Type.String({ description: 'Id of this request' }) })
const requestIdHeader = {
  'X-Request-Id': { type: 'string', description: 'Id of this request, to give when asking for help' },
}
const retryAfterHeader = { 'Retry-After': { type: 'integer', minimum: 1, description: 'Seconds to wait' } }
const headersOf: Record<number, object> = {
  401: { 'WWW-Authenticate': { type: 'string', description: 'Bearer' } },
  429: retryAfterHeader,
  503: retryAfterHeader,
}

const errorMembers = {
  errors: Type.String({ description: 'What is wrong, for a person' }),
  code: Type.String({ description: 'What is wrong, for a program: docs/errors.md lists all' }),
  request_id: Type.String({ description: 'Id of this request, also in the header X-Request-Id' }),
}
/** Bodies of refusals that are not the usual one. */
const bodies: Partial<Record<ProblemCode, string>> = {
  sync_slots_exceeded: 'SyncSlotsExceeded',
  token_requests_exceeded: 'TokenRequestsExceeded',
}

export const tokenSchema = {
  operationId: 'auth_token_create',
  tags: ['Authentication'],
  summary: 'Exchange the key pair for a token',
  description: `Keep a token for its whole life of 6 hours: at most ${limits.tokenRequestsPerMinute} requests in any 60 seconds from one address are answered.`,
  security: [],
  body: Type.Object({
    client_id: Type.String({
      maxLength: limits.credentialLengthMax,
      description: 'The public half of the key pair',
      examples: ['bwc_9mX2…'],
    }),
    client_secret: Type.String({
      maxLength: limits.credentialLengthMax,
      description: 'The secret half, shown once when the pair was made',
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
      'token_requests_exceeded',
      ...everywhere,
    ],
  ),
}

const locationParam = Type.Object({ location_id: Type.String({ description: 'Id of the location' }) })
const items = Type.Optional(
  Type.Integer({
    minimum: 1,
    default: limits.pageSizeDefault,
    description: `Page size; more than ${limits.pageSizeMax} counts as ${limits.pageSizeMax}`,
  }),
)
const page = Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Number of the page, from 1' }))
const since = anyInstant(
  'Only what changed since this moment (RFC 3339, UTC or with an offset): pass back meta.next_fetch_modified_since',
)
const filterMembers: Record<FilterName, Record<string, TSchema>> = {
  patient_id: {
    patient_id: Type.Optional(
      Type.String({ description: 'Only records of the patient with this id', examples: ['2048'] }),
    ),
  },
  starts_at: {
    starts_from: Type.Optional(anyInstant('Only what starts at this moment or later')),
    starts_to: Type.Optional(anyInstant('Only what starts before this moment')),
  },
}

function filtersOf(dataset: Dataset) {
  const members = dataset.filters.map((filter) => filterMembers[filter])
  const description =
    'Filters may be combined. With a filter beside fetch_modified_since, a record that changed so that it no longer matches is not returned: see docs/guides/filters-and-fields.md'
  return Type.Optional(
    Type.Object(
      Object.assign({ fetch_modified_since: Type.Optional(since) }, ...members),
      members.length > 0 ? { additionalProperties: false, description } : { additionalProperties: false },
    ),
  )
}

function fieldsOf(dataset: Dataset) {
  return Type.Optional(
    Type.Object(
      {
        [dataset.type]: Type.Optional(
          Type.String({ description: 'Names of attributes, separated by commas: only these are returned' }),
        ),
      },
      { additionalProperties: false, description: 'Without it, every attribute is returned' },
    ),
  )
}

export function listSchema(dataset: Dataset) {
  const isCursor = dataset.pagination === 'cursor'
  const after = Type.Optional(
    Type.Integer({ minimum: 0, description: 'Cursor: the id of the last record of the previous page' }),
  )
  return {
    operationId: dataset.operationIds.list,
    tags: [dataTag],
    summary: `List the ${dataset.title.toLowerCase()} of a location`,
    description: [dataset.description, walkOf(dataset), ...previewOf(dataset)].join(' '),
    params: locationParam,
    querystring: Type.Object({
      ...(isCursor ? { after, items } : { page, items }),
      q: filtersOf(dataset),
      fields: fieldsOf(dataset),
    }),
    ...answers(
      Type.Object(
        {
          data: Type.Array(recordOf(dataset)),
          pagy: isCursor ? cursorPagy : pagePagy,
          meta: isCursor ? cursorMeta : pageMeta,
        },
        { description: 'One page, in ascending order of id' },
      ),
      [...ofDataset(dataset), 'sync_slots_exceeded'],
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
        ? `As in the list, and with ${Object.keys(dataset.detailAttributes.properties).join(', ')}.`
        : 'As in the list.',
      ...previewOf(dataset),
    ].join(' '),
    params: Type.Object({ ...locationParam.properties, id: Type.String({ description: 'Id of the record' }) }),
    querystring: Type.Object({ fields: fieldsOf(dataset) }),
    ...answers(
      Type.Object(
        { data: recordOf(dataset, dataset.detailAttributes), meta: requestMeta },
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
      `Sums up the records in ranges of ${limits.digestRangeRecords} in ascending order of id, ${limits.digestRangesMax} ranges an answer, so that a copy can be compared without being read again: only what lies in a range that differs need be. Counts as an initial sync request.`,
      ...previewOf(dataset),
    ].join(' '),
    params: locationParam,
    querystring: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 0, description: 'Cursor: meta.next_after of the previous answer' })),
    }),
    ...answers(
      Type.Object(
        { data: Type.Array(digestRange), meta: digestMeta },
        { description: 'Ranges in ascending order of id, each beginning where the one before ends' },
      ),
      [...ofDataset(dataset), 'sync_slots_exceeded'],
    ),
  }
}

function walkOf({ pagination }: Dataset): string {
  const step = pagination === 'cursor' ? 'meta.next_after as after' : 'meta.next_page as page'
  return `Ask for the next page with ${step} until meta.has_more is false; begin the next delta with the first page’s meta.next_fetch_modified_since.`
}

function previewOf({ preview }: Dataset): string[] {
  return preview ? ['Not yet available in production.'] : []
}

function ofDataset(dataset: Dataset): ProblemCode[] {
  const preview: ProblemCode[] = dataset.preview ? ['preview_off'] : []
  return [...ofBearer, 'location_denied', 'dataset_denied', 'location_unknown', ...preview, 'disclosure_unavailable']
}

export const organizationListSchema = directoryListSchema(
  'organizations_list',
  'organization',
  organizationAttributes,
  { page, items },
  [],
)
export const organizationSchema = directoryRecordSchema('organizations_get', 'organization', organizationAttributes)
export const locationListSchema = directoryListSchema(
  'locations_list',
  'location',
  locationAttributes,
  {
    organization_id: Type.Optional(Type.Integer({ minimum: 1, description: 'Restricts the list to one organization' })),
    with_attribution_script_install: Type.Optional(
      Type.Boolean({
        description:
          'Restricts the list to practices that have installed the attribution script on their websites. Restricts when empty, true or 1; does not when false or 0',
      }),
    ),
    page,
    items,
  },
  ['organization_denied', 'organization_unknown'],
)
export const locationSchema = directoryRecordSchema('locations_get', 'location', locationAttributes)

export const syncStatusSchema = {
  operationId: 'locations_sync_status_get',
  tags: ['Locations'],
  summary: 'How current a location’s datasets are',
  description:
    'Nothing of a patient is in it: ask as often as needed to know whether a walk or a delta is worth making.',
  params: locationParam,
  ...answers(
    Type.Object(
      {
        data: Type.Array(
          Type.Object({
            id: Type.String({ description: 'Name of the dataset' }),
            type: Type.Literal('sync_status'),
            attributes: Type.Object({
              dataset: Type.String({ description: 'Name of the dataset' }),
              state: freshness.properties.state,
              synced_at: freshness.properties.synced_at,
              total: Type.Integer({ description: 'Number of records, hidden ones included' }),
              initial_sync_completed_at: nullable(
                instant('When the dataset had been read to the end for the first time'),
              ),
              removal_held: nullable(
                Type.Object(
                  {
                    missing: Type.Integer({ description: 'Visible records that the practice’s system no longer has' }),
                    visible: Type.Integer({ description: 'Visible records when the removal was held' }),
                    held_at: instant('Since when'),
                  },
                  {
                    description:
                      'A removal that waits for a person’s confirmation: so many of the visible records would be hidden',
                  },
                ),
              ),
            }),
          }),
        ),
        meta: requestMeta,
      },
      { description: 'One entry for each granted dataset' },
    ),
    [...ofBearer, 'location_denied', 'location_unknown'],
  ),
}

/** Schemas that others refer to by `$id`. */
export const sharedSchemas = [
  { $id: 'Error', ...Type.Object(errorMembers) },
  {
    $id: 'TokenRequestsExceeded',
    ...Type.Object({
      ...errorMembers,
      retry_after_seconds: Type.Integer({ minimum: 1, description: 'Seconds to wait' }),
    }),
  },
  {
    $id: 'SyncSlotsExceeded',
    ...Type.Object({
      errors: Type.String({ description: 'Explains that too many locations are syncing concurrently' }),
      sync_type: Type.Enum(['initial', 'incremental'], {
        description:
          'incremental: a request with q[fetch_modified_since] that could be answered with the changes alone; initial: any other',
      }),
      max_concurrent_locations: Type.Integer({ description: 'The allowed number of concurrent locations' }),
      active_location_ids: Type.Array(Type.Integer(), { description: 'Locations currently in flight' }),
      retry_after_seconds: Type.Integer({ minimum: 1, description: 'Seconds to wait' }),
    }),
  },
]

function recordOf(dataset: Dataset, more?: TObject): TSchema {
  const attributes = more ? Type.Object({ ...dataset.attributes.properties, ...more.properties }) : dataset.attributes
  return recordSchemaOf(dataset.type, 'Id of the record: stable, unique among all records of this type', attributes)
}

function directoryListSchema(
  operationId: string,
  type: string,
  attributes: TObject,
  querystring: Record<string, TSchema>,
  codes: ProblemCode[],
) {
  return {
    operationId,
    tags: [type === 'location' ? 'Locations' : 'Organizations'],
    summary: `List the ${type}s that this credential may read`,
    description: `Ask for the next page with meta.next_page as page until meta.has_more is false. With items=${limits.pageSizeMax} one page holds all.`,
    querystring: Type.Object(querystring),
    ...answers(
      Type.Object(
        {
          data: Type.Array(recordSchemaOf(type, `Id of the ${type}`, attributes)),
          pagy: pagePagy,
          meta: directoryMeta,
        },
        { description: 'One page, in ascending order of id' },
      ),
      [...ofBearer, ...codes],
    ),
  }
}

function directoryRecordSchema(operationId: string, type: 'location' | 'organization', attributes: TObject) {
  return {
    operationId,
    tags: [type === 'location' ? 'Locations' : 'Organizations'],
    summary: `Get one ${type}`,
    description: `The same attributes as in the list of ${type}s.`,
    params: Type.Object({ [`${type}_id`]: Type.String({ description: `Id of the ${type}` }) }),
    ...answers(
      Type.Object(
        { data: recordSchemaOf(type, `Id of the ${type}`, attributes), meta: requestMeta },
        { description: `The ${type}` },
      ),
      [...ofBearer, `${type}_denied`, `${type}_unknown`],
    ),
  }
}

function recordSchemaOf(type: string, idDescription: string, attributes: TObject): TSchema {
  return Type.Object({
    id: Type.String({ description: idDescription, examples: ['1024'] }),
    type: Type.Literal(type, { description: 'The kind of resource' }),
    attributes,
  })
}

/** The success and every refusal of an operation. `x-problems` tells vendors' programs the codes, and us which examples to add. */
function answers(success: TSchema, codes: readonly ProblemCode[]) {
  const byStatus = Object.groupBy(codes, (code) => problems[code].status)
  const refusals = Object.entries(byStatus).map(([status, ofStatus]) => [
    status,
    {
      description: ofStatus.map((code) => problems[code].errors).join(' '),
      headers: { ...requestIdHeader, ...headersOf[Number(status)] },
      $ref: `${ofStatus.map((code) => bodies[code]).find((body) => body) ?? 'Error'}#`,
    },
  ])
  return { 'x-problems': codes, response: { 200: success, ...Object.fromEntries(refusals) } }
}
