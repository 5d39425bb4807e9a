import {
  cursorMeta,
  cursorPagy,
  type Dataset,
  directoryMeta,
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
const requestMeta = Type.Object({ request_id: Type.String({ description: 'Id of this request' }) })
const sharedHeaders = {
  'X-Request-Id': { type: 'string', description: 'Id of this request, to give when asking for help' },
}

export const tokenSchema = {
  operationId: 'auth_token_create',
  tags: ['Authentication'],
  summary: 'Exchange the key pair for a token',
  description: `Keep a token for its whole life of 6 hours: at most ${limits.tokenRequestsPerMinute} requests in any 60 seconds from one address are answered.`,
  security: [],
  body: Type.Object({
    client_id: Type.String({ maxLength: limits.credentialLengthMax, examples: ['bwc_9mX2…'] }),
    client_secret: Type.String({ maxLength: limits.credentialLengthMax, examples: ['bws_Vt7q…'] }),
  }),
  response: {
    200: Type.Object(
      { token: Type.String({ description: 'Bearer token, valid for 6 hours' }) },
      { description: 'A new token' },
    ),
    ...errors(
      'body_malformed',
      'credentials_invalid',
      'body_too_large',
      'content_type_unsupported',
      'credentials_malformed',
      'token_requests_exceeded',
      'unavailable',
    ),
  },
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
const q = Type.Optional(
  Type.Object(
    {
      fetch_modified_since: Type.Optional(
        instant(
          'Only what changed since this moment (RFC 3339, UTC or with an offset): pass back meta.next_fetch_modified_since',
        ),
      ),
    },
    { additionalProperties: false },
  ),
)

export function listSchema(dataset: Dataset) {
  const isCursor = dataset.pagination === 'cursor'
  const after = Type.Optional(
    Type.Integer({ minimum: 0, description: 'Cursor: the id of the last record of the previous page' }),
  )
  return {
    operationId: dataset.operationIds.list,
    tags: [dataTag],
    summary: `List the ${dataset.title.toLowerCase()} of a location`,
    description: dataset.preview ? `${dataset.description} Not yet available in production.` : dataset.description,
    params: locationParam,
    querystring: Type.Object(isCursor ? { after, items, q } : { page, items, q }),
    response: {
      200: Type.Object(
        {
          data: Type.Array(recordOf(dataset)),
          pagy: isCursor ? cursorPagy : pagePagy,
          meta: isCursor ? cursorMeta : pageMeta,
        },
        { description: 'One page, in ascending order of id' },
      ),
      ...errors('token_invalid', 'location_denied', 'location_unknown', 'parameter_invalid', 'internal', 'unavailable'),
      429: { description: problems.sync_slots_exceeded.errors, $ref: 'SyncSlotsExceeded#' },
    },
  }
}

export function recordSchema(dataset: Dataset) {
  const [idParam] = [Type.Object({ ...locationParam.properties, id: Type.String({ description: 'Id of the record' }) })]
  return {
    operationId: dataset.operationIds.get,
    tags: [dataTag],
    summary: `Get one record of the ${dataset.title.toLowerCase()} of a location`,
    params: idParam,
    response: {
      200: Type.Object(
        { data: recordOf(dataset, dataset.detailAttributes), meta: requestMeta },
        { description: 'The record' },
      ),
      ...errors('token_invalid', 'location_denied', 'record_unknown', 'parameter_invalid', 'internal', 'unavailable'),
    },
  }
}

export const organizationListSchema = directoryListSchema(
  'organizations_list',
  'organization',
  organizationAttributes,
  { page, items },
)
export const organizationSchema = directoryRecordSchema('organizations_get', 'organization', organizationAttributes)
export const locationListSchema = directoryListSchema('locations_list', 'location', locationAttributes, {
  organization_id: Type.Optional(Type.Integer({ minimum: 1, description: 'Restricts the list to one organization' })),
  with_attribution_script_install: Type.Optional(
    Type.Boolean({
      description: 'Restricts the list to practices that have installed the attribution script on their websites',
    }),
  ),
  page,
  items,
})
export const locationSchema = directoryRecordSchema('locations_get', 'location', locationAttributes)

export const syncStatusSchema = {
  operationId: 'locations_sync_status_get',
  tags: ['Locations'],
  summary: 'How current a location’s datasets are',
  params: locationParam,
  response: {
    200: Type.Object(
      {
        data: Type.Array(
          Type.Object({
            id: Type.String({ description: 'Name of the dataset' }),
            type: Type.Literal('sync_status'),
            attributes: Type.Object({
              dataset: Type.String(),
              state: freshness.properties.state,
              synced_at: freshness.properties.synced_at,
              total: Type.Integer({ description: 'Number of records, hidden ones included' }),
              initial_sync_completed_at: nullable(
                instant('When the dataset had been read to the end for the first time'),
              ),
              removal_held: nullable(
                Type.Object(
                  { missing: Type.Integer(), visible: Type.Integer(), held_at: instant('Since when') },
                  {
                    description:
                      'A removal that waits for a person’s confirmation: so many of the visible records would be hidden',
                  },
                ),
              ),
            }),
          }),
        ),
        meta: Type.Object({ request_id: Type.String() }),
      },
      { description: 'One entry for each granted dataset' },
    ),
    ...errors('token_invalid', 'location_denied', 'location_unknown', 'parameter_invalid', 'internal', 'unavailable'),
  },
}

/** Schemas that others refer to by `$id`. */
export const sharedSchemas = [
  {
    $id: 'Error',
    ...Type.Object({
      errors: Type.String({ description: 'What is wrong, for a person' }),
      code: Type.String({ description: 'What is wrong, for a program: docs/errors.md lists all' }),
      request_id: Type.String({ description: 'Id of this request, also in the header X-Request-Id' }),
    }),
  },
  {
    $id: 'SyncSlotsExceeded',
    ...Type.Object({
      errors: Type.String({ description: 'Explains that too many locations are syncing concurrently' }),
      sync_type: Type.Enum(['initial', 'incremental']),
      max_concurrent_locations: Type.Integer({ description: 'The allowed number of concurrent locations' }),
      active_location_ids: Type.Array(Type.Integer(), { description: 'Locations currently in flight' }),
      retry_after_seconds: Type.Integer({ minimum: 1, description: 'Seconds to wait' }),
    }),
  },
]

function recordOf(dataset: Dataset, more?: TObject): TSchema {
  const attributes = more ? Type.Object({ ...dataset.attributes.properties, ...more.properties }) : dataset.attributes
  return Type.Object({ id: Type.String({ examples: ['1024'] }), type: Type.Literal(dataset.type), attributes })
}

function directoryListSchema(
  operationId: string,
  type: string,
  attributes: TObject,
  querystring: Record<string, TSchema>,
) {
  return {
    operationId,
    tags: [type === 'location' ? 'Locations' : 'Organizations'],
    summary: `List the ${type}s that this credential may read`,
    querystring: Type.Object(querystring),
    response: {
      200: Type.Object(
        { data: Type.Array(directoryRecord(type, attributes)), pagy: pagePagy, meta: directoryMeta },
        { description: 'One page, in ascending order of id' },
      ),
      ...errors(
        'token_invalid',
        'organization_denied',
        'organization_unknown',
        'parameter_invalid',
        'internal',
        'unavailable',
      ),
    },
  }
}

function directoryRecordSchema(operationId: string, type: 'location' | 'organization', attributes: TObject) {
  return {
    operationId,
    tags: [type === 'location' ? 'Locations' : 'Organizations'],
    summary: `Get one ${type}`,
    params: Type.Object({ [`${type}_id`]: Type.String({ description: `Id of the ${type}` }) }),
    response: {
      200: Type.Object({ data: directoryRecord(type, attributes), meta: requestMeta }, { description: `The ${type}` }),
      ...errors('token_invalid', `${type}_denied`, `${type}_unknown`, 'parameter_invalid', 'internal', 'unavailable'),
    },
  }
}

function directoryRecord(type: string, attributes: TObject): TSchema {
  return Type.Object({ id: Type.String(), type: Type.Literal(type), attributes })
}

/** One response for each status; codes that share one are told apart by the body's `code`. */
function errors(...codes: ProblemCode[]) {
  return Object.fromEntries(
    codes.map((code) => [
      problems[code].status,
      { description: problems[code].errors, headers: sharedHeaders, $ref: 'Error#' },
    ]),
  )
}
