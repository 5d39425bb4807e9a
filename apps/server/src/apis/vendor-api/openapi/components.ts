import {
  change,
  changesMeta,
  cursorMeta,
  cursorPagy,
  type Dataset,
  datasets,
  digestMeta,
  digestRange,
  directoryMeta,
  exportMeta,
  freshness,
  instant,
  locationAttributes,
  nullable,
  organizationAttributes,
  pageMeta,
  pagePagy,
  problems,
  recordMeta,
  removalHeld,
  vendorProblems,
  webhookMessage,
} from '@bridgework/contract'
import { type TObject, type TSchema, Type } from 'typebox'

/** The schema of that name, as a reference. */
export function component(name: string): TSchema {
  // The framework finds it by its $id, and writes #/components/schemas/<name>.
  return { $ref: `${name}#` } as TSchema
}

/** The name of a dataset's record: `Patient`; of a single one with more than its list has: `FeeScheduleDetail`. */
export function recordName(dataset: Dataset, kind: 'list' | 'detail' = 'list'): string {
  return pascal(dataset.type) + (kind === 'detail' && dataset.detailAttributes ? 'Detail' : '')
}

/** The dataset that an operation reads; undefined for those of the directory. */
export function datasetOf(operationId: string): Dataset | undefined {
  return datasets.find(({ operationIds }) => Object.values(operationIds).includes(operationId))
}

/** `insurance_plan` → `InsurancePlan`. */
export function pascal(name: string): string {
  return name.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase())
}

const requestId = Type.String({ description: 'Id of this request, also in the header X-Request-Id' })
const retryAfter = Type.Integer({ minimum: 1, description: 'Seconds to wait before the next request' })
const errorMembers = {
  errors: Type.String({ description: 'What is wrong, as text for people' }),
  code: component('ErrorCode'),
  request_id: requestId,
}
/** Codes of the one shape of errors. The sync slots' 429 has the members of the specification, so no code. */
const errorCodes = Object.keys(vendorProblems).filter((code) => code !== 'sync_slots_exceeded')

const syncStatus = Type.Object({
  dataset: Type.String({ description: 'Name of the dataset' }),
  state: freshness.properties.state,
  synced_at: freshness.properties.synced_at,
  total: Type.Integer({ description: 'Number of records, hidden ones included' }),
  initial_sync_completed_at: nullable(instant('When the dataset was read completely for the first time')),
  removal_held: removalHeld,
  attributes_not_provided: Type.Array(Type.String(), {
    description: 'Attributes that the practice’s system never has here: null there means unknown',
  }),
})

const someAttributes = 'All, or those that `fields` names'
const ofDataset = 'Id of the record: never changes, unique among all records of this type'

/** The document's named schemas. Generators call their types by these names. */
const schemas: Record<string, TSchema> = {
  ...Object.fromEntries(
    datasets.flatMap((dataset) => {
      const { type, detailAttributes } = dataset
      const attributes = Type.Partial(dataset.attributes, { description: someAttributes })
      const list = [recordName(dataset), record(type, ofDataset, attributes, dataset.description)]
      if (!detailAttributes) return [list]
      const all = Type.Partial(Type.Object({ ...dataset.attributes.properties, ...detailAttributes.properties }), {
        description: someAttributes,
      })
      const description = 'A single record, with the attributes that its list leaves out.'
      return [list, [recordName(dataset, 'detail'), record(type, ofDataset, all, description)]]
    }),
  ),
  Location: record('location', 'Id of the location', locationAttributes, 'A dental practice at one address.'),
  Organization: record('organization', 'Id of the organization', organizationAttributes, 'A practice owner.'),
  SyncStatus: record('sync_status', 'Name of the dataset', syncStatus, 'How current one dataset of a location is.'),
  Change: described(change, 'What is true now of something that a company may read, or of its access.'),
  WebhookMessage: Type.Object(
    {
      ...webhookMessage.properties,
      data: Type.Union([component('Change'), Type.Object({ id: Type.Literal('test'), type: Type.Literal('test') })]),
    },
    { description: 'What changed, as `/changes` has it. Members may be added.' },
  ),
  DigestRange: described(digestRange, 'A range of records and its checksum.'),
  Freshness: described(freshness, 'How current our copy of a dataset is.'),
  Pagy: described(cursorPagy, 'The size of a list and of this page of it.'),
  PagePagy: described(pagePagy, 'The size of a list and of this page of it, in lists by page number.'),
  CursorMeta: described(cursorMeta, 'How to go on: the next page, and the next delta. Members may be added.'),
  PageMeta: described(pageMeta, 'How to go on, in lists by page number. Members may be added.'),
  DirectoryMeta: described(directoryMeta, 'How to go on, in lists that belong to no location. Members may be added.'),
  ChangesMeta: described(changesMeta, 'How to go on. Members may be added.'),
  DigestMeta: described(digestMeta, 'How to go on. Members may be added.'),
  ExportEnd: Type.Object(
    { meta: described(exportMeta, 'How to go on. Members may be added.') },
    { description: 'The last line of an export.' },
  ),
  RecordMeta: described(recordMeta, 'Members may be added.'),
  ErrorCode: Type.Enum(errorCodes, {
    description:
      'What is wrong, as a code for programs. Codes may be added: decide by the status when you do not know it',
  }),
  Error: Type.Object(errorMembers, { description: 'The body of every error but those of status 429.' }),
  TokenRequestsExceeded: Type.Object(
    { ...errorMembers, retry_after_seconds: retryAfter },
    { description: `429 of POST /auth/token. ${problems.token_requests_exceeded.errors}` },
  ),
  RequestsExceeded: Type.Object(
    { ...errorMembers, retry_after_seconds: retryAfter },
    { description: `429 of every operation with a token. ${problems.requests_exceeded.errors}` },
  ),
  SyncSlotsExceeded: Type.Object(
    {
      errors: Type.String({ description: 'Says that too many locations are syncing at the same time' }),
      sync_type: Type.Enum(['initial', 'incremental'], {
        description:
          'incremental: a request with q[fetch_modified_since] that returns only the changes; initial: any other request',
      }),
      max_concurrent_locations: Type.Integer({ description: 'Number of locations that may sync at the same time' }),
      active_location_ids: Type.Array(Type.Integer(), { description: 'Ids of the locations that are syncing now' }),
      retry_after_seconds: retryAfter,
    },
    { description: '429 of lists, digests and exports: nothing was executed, and a retry is safe.' },
  ),
}

/** The named schemas, for the framework to refer to by `$id`. */
export const sharedSchemas = Object.entries(schemas).map(([name, schema]) => ({ $id: name, ...plain(schema) }))

function record(type: string, idDescription: string, attributes: TObject, description: string): TSchema {
  return Type.Object(
    {
      id: Type.String({ description: idDescription, examples: ['1024'] }),
      type: Type.Literal(type, { description: 'The kind of resource' }),
      attributes,
    },
    { description },
  )
}

function described(schema: TObject, description: string): TSchema {
  return Type.Object(schema.properties, { description })
}

/**
 * The same schema in fewer words, and as readers of the document need it. `null` stands beside the type, so that the description is the
 * attribute's own. Objects of answers may get members, so none is closed: closed ones are for what agents send.
 */
function plain(schema: object): object {
  if (Array.isArray(schema)) return schema.map((each) => (isObject(each) ? plain(each) : each))
  const { additionalProperties: _, anyOf, ...rest } = schema as Record<string, unknown>
  const [value, nothing] = Array.isArray(anyOf) ? anyOf : []
  if (isObject(value) && !('$ref' in value) && isObject(nothing) && 'type' in nothing && nothing.type === 'null') {
    const { enum: choices, type = 'string', ...inner } = plain(value) as { enum?: unknown[]; type?: string }
    // Generators that make a name of each value have none for null.
    if (choices) return { ...inner, ...rest, anyOf: [{ type, enum: choices }, { type: 'null' }] }
    return { type: [type, 'null'], ...inner, ...rest }
  }
  const entries = Object.entries({ ...rest, ...(anyOf !== undefined && { anyOf }) })
  const members = entries.map(([name, member]) => [name, isObject(member) ? shared(member) : member])
  return { ...('enum' in rest && { type: 'string' }), ...Object.fromEntries(members) }
}

/** How current something is has a name of its own: it stands in many answers. */
function shared(schema: object): object {
  return JSON.stringify(schema) === JSON.stringify(freshness) ? component('Freshness') : plain(schema)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
