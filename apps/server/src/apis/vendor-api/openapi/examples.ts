import { type Dataset, datasets, findDataset, limits, type ProblemCode, problems } from '@bridgework/contract'

/** The parts of an OpenAPI operation that examples are added to. */
type Operation = { operationId?: string; responses?: Record<string, unknown> }
type Media = { example?: unknown; examples?: Record<string, { summary: string; value: unknown }> }

/** Gives every response of an operation an example: the success by its operation, each refusal by the codes in `x-problems`. */
export function addExamples(operation: Operation): void {
  const success = mediaOf(operation, '200')
  if (success) success.example = successOf(operation.operationId ?? '')
  const codes = 'x-problems' in operation ? (operation['x-problems'] as ProblemCode[]) : []
  for (const code of codes) {
    const media = mediaOf(operation, String(problems[code].status))
    if (media)
      media.examples = { ...media.examples, [code]: { summary: problems[code].errors, value: refusalOf(code) } }
  }
}

/** How the parameters of a dataset's lists may be given, by name. */
export function parameterExamples(dataset: Dataset): Readonly<Record<string, string>> {
  const [one = '', other = ''] = Object.keys(dataset.attributes.properties)
  return {
    'q[fetch_modified_since]': '2026-01-31T08:05:00.000001Z',
    'q[patient_id]': '2048',
    'q[starts_from]': '2026-02-01T08:00:00Z',
    'q[starts_to]': '2026-03-01T08:00:00Z',
    [`fields[${dataset.type}]`]: `${one},${other}`,
  }
}

// Both keys exist in what the generator makes of our schemas; its types leave open that a response may be a reference.
function mediaOf(operation: Operation, status: string): Media | undefined {
  const response = operation.responses?.[status] as { content?: Record<string, Media> } | undefined
  return response?.content?.['application/json'] ?? response?.content?.['application/x-ndjson']
}

const at = '2026-01-31T08:00:00.000Z'
const epoch = '8c1f6f0e-5b1c-4a39-9a80-6d6c2b0f7d51'
const requestId = '3f0e6a52-7d0c-4d5c-9a39-0c9f3a1f6f3e'
const locationId = '402871946530117'
const organizationId = '771530462918835'
const synced = { state: 'current', synced_at: at }

function refusalOf(code: ProblemCode): unknown {
  const { errors } = problems[code]
  if (code === 'sync_slots_exceeded')
    return {
      errors,
      sync_type: 'initial',
      max_concurrent_locations: 5,
      active_location_ids: [1, 2, 3, 4, 5].map((step) => Number(locationId) + step),
      retry_after_seconds: 1,
    }
  const body = { errors, code, request_id: requestId }
  return problems[code].status === 429 ? { ...body, retry_after_seconds: 42 } : body
}

function successOf(operationId: string): unknown {
  const pages = { total: 1, items: limits.pageSizeDefault, page: 1, pages: 1 }
  const listMeta = { has_more: false, next_page: null, epoch, request_id: requestId }
  for (const dataset of datasets) {
    if (operationId === dataset.operationIds.list) return datasetPage(dataset)
    if (operationId === dataset.operationIds.get)
      return { data: recordOf(dataset, true), meta: { epoch, request_id: requestId } }
    if (operationId === dataset.operationIds.digest) return digest
    if (operationId === dataset.operationIds.export)
      return [recordOf(dataset, false), lastLine].map((line) => `${JSON.stringify(line)}\n`).join('')
  }
  switch (operationId) {
    case 'auth_token_create':
      return { token: 'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiLigKYifQ.c2lnbmF0dXJl' }
    case 'organizations_list':
      return { data: [organization], pagy: pages, meta: listMeta }
    case 'organizations_get':
      return { data: organization, meta: { epoch, request_id: requestId } }
    case 'locations_list':
      return { data: [location], pagy: pages, meta: listMeta }
    case 'locations_get':
      return { data: location, meta: { epoch, request_id: requestId } }
    case 'locations_sync_status_get':
      return { data: datasets.map(statusOf), meta: { epoch, request_id: requestId } }
    case 'changes_list':
      return { data: [change], meta: changesMeta }
    default:
      throw new Error(`no example for the operation ${operationId}`)
  }
}

function datasetPage(dataset: Dataset): unknown {
  const isCursor = dataset.pagination === 'cursor'
  return {
    data: [recordOf(dataset, false)],
    pagy: { total: 1, items: limits.pageSizeDefault, ...(isCursor ? {} : { page: 1, pages: 1 }) },
    meta: {
      has_more: false,
      ...(isCursor ? { next_after: null } : { next_page: null }),
      next_fetch_modified_since: '2026-01-31T08:05:00.000001Z',
      granted_at: null,
      restored_at: null,
      epoch,
      freshness: synced,
      request_id: requestId,
    },
  }
}

function recordOf(dataset: Dataset, isDetail: boolean): unknown {
  const lookup = (name: string) => {
    const embedded = findDataset(name)
    return embedded && { id: '2048', source: embedded.example }
  }
  return {
    id: '1024',
    type: dataset.type,
    attributes: {
      ...dataset.render(dataset.example, lookup),
      source_id: '17',
      updated_at: at,
      ...(isDetail ? dataset.renderDetail?.(dataset.example) : {}),
    },
  }
}

function statusOf({ name }: Dataset): unknown {
  const attributes = {
    dataset: name,
    ...synced,
    total: 1,
    initial_sync_completed_at: at,
    removal_held: null,
    attributes_not_provided: name === 'patient_referrals' ? ['campaign'] : [],
  }
  return { id: name, type: 'sync_status', attributes }
}

const change = {
  id: `${locationId}/patients`,
  type: 'dataset',
  attributes: {
    location_id: locationId,
    dataset: 'patients',
    next_fetch_modified_since: '2026-01-31T08:05:00.000001Z',
    granted_at: at,
    freshness: synced,
    removal_held: null,
  },
}

const changesMeta = {
  has_more: false,
  next_after: `${epoch}_1769846400000001`,
  is_whole: false,
  epoch,
  request_id: requestId,
}

/** A message of a webhook. */
export const webhookExample = { type: 'dataset', timestamp: at, sequence: 7, epoch, data: change }

const lastLine = {
  meta: {
    has_more: false,
    next_after: null,
    records: 1,
    next_fetch_modified_since: '2026-01-31T08:05:00.000001Z',
    epoch,
    freshness: synced,
    request_id: requestId,
  },
}

const digest = {
  data: [
    {
      id: '1024',
      type: 'digest_range',
      attributes: {
        after_id: '0',
        last_id: '1024',
        records: 1,
        sha256: '0b1f4ac8e6a7a5d4b1a3cbe5b9f2a5b60f3f4e0c8a9f7d6e5c4b3a2918070605',
      },
    },
  ],
  meta: { has_more: false, next_after: null, epoch, request_id: requestId },
}

const organization = {
  id: organizationId,
  type: 'organization',
  attributes: {
    name: 'Smile Group',
    external_reference: null,
    time_zone: 'America/Los_Angeles',
    country: 'US',
    locations_count: 1,
    datasets_granted: datasets.map(({ name }) => name),
    granted_at: at,
    created_at: at,
    updated_at: at,
  },
}

const location = {
  id: locationId,
  type: 'location',
  attributes: {
    name: 'Smile Group Downtown',
    organization_id: organizationId,
    address_line_1: '1 Main Street',
    address_line_2: null,
    city: 'Salem',
    state: 'OR',
    postal_code: '97301',
    country: 'US',
    phone: '(503) 555-0100',
    email: null,
    website_url: 'https://smile.example',
    time_zone: 'America/Los_Angeles',
    currency: 'USD',
    is_active: true,
    practice_management_system: { name: 'Open Dental', version: '24.3.31.0' },
    attribution_script: { is_installed: false, installed_at: null, last_seen_at: null },
    sync: { ...synced, initial_sync_completed_at: at },
    datasets_granted: datasets.map(({ name }) => name),
    created_at: at,
    updated_at: at,
  },
}
