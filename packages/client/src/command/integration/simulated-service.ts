import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseObject } from '../../api-error.ts'
import { type DatasetName, datasetNames } from '../../dataset-resource.ts'
import { datasets } from '../../generated.ts'
import { microsOf, rendered, type SimulatedPractice } from './simulated-practice.ts'

/** One request of the program, and what it was answered. */
export type Seen = {
  atMs: number
  /** Path and query, without the base URL. */
  target: string
  kind: 'token' | 'list' | 'export' | 'other'
  dataset: DatasetName | null
  since: string | null
  /** Where the page begins: the id of `after`, or the number of the page; '0': at the beginning. */
  position: string
  status: number
  /** The watermark that the answer had. */
  watermark: string | null
  /** The answer came from its beginning to its end, and nothing follows it. */
  isLastPage: boolean
}

export type Fault = { status: 401 | 429 | 503; retryAfterSeconds?: number } | 'cut'

export type SimulatedService = {
  baseUrl: string
  clientId: string
  clientSecret: string
  /** All requests since the last `beginRun`. */
  seen: () => readonly Seen[]
  /** Forgets what was seen. `faultOf` says what befalls each request that has a token. */
  beginRun: (faultOf?: (request: Seen) => Fault | null) => void
  close: () => Promise<void>
}

const basePath = '/api/v1/vendors'

/** Serves a practice on a loopback port as the vendor API does. Has no filters, digests or compression, which a sync does not need. */
export async function startService(practice: SimulatedPractice): Promise<SimulatedService> {
  const [clientId, clientSecret] = [`bwc_${randomBytes(16).toString('hex')}`, `bws_${randomBytes(32).toString('hex')}`]
  let seen: Seen[] = []
  let faultOf: (request: Seen) => Fault | null = () => null
  let token = ''

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : url.pathname
    const entry = entryOf(path, url.searchParams)
    seen.push(entry)
    const send = (status: number, body: object | string, headers: Record<string, string> = {}, isCut = false) => {
      entry.status = status
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
      response.writeHead(status, {
        'content-type':
          typeof body === 'string' ? 'application/x-ndjson; charset=utf-8' : 'application/json; charset=utf-8',
        'content-length': bytes.length,
        'x-request-id': requestId,
        ...headers,
      })
      if (isCut) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
      else response.end(bytes)
    }
    const requestId = randomUUID()
    const refuse = (status: number, code: string, errors: string, headers = {}) =>
      send(status, { errors, code, request_id: requestId }, headers)

    if (path === '/auth/token') {
      const body = parseObject(await textOf(request))
      if (body?.client_id !== clientId || body.client_secret !== clientSecret)
        return refuse(401, 'credentials_invalid', 'Invalid client credentials')
      token = newToken()
      return send(200, { token })
    }
    if (request.headers.authorization !== `Bearer ${token}`)
      return refuse(401, 'token_invalid', 'Not authorized: the token is invalid or has expired.')
    if (request.method !== 'GET') return refuse(405, 'method_not_allowed', 'This path does not support this method.')
    const fault = faultOf(entry)
    if (fault !== null && fault !== 'cut') {
      const { status, retryAfterSeconds } = fault
      const code = { 401: 'token_invalid', 429: 'requests_exceeded', 503: 'unavailable' }[status]
      const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
      return refuse(status, code, 'The integration check answers so to see what your program does.', headers)
    }
    const found = lookUp(practice, path, url.searchParams, entry, request.headers['x-epoch']?.toString() ?? null)
    if ('refused' in found) return refuse(found.refused, found.code, found.errors)
    entry.isLastPage &&= fault !== 'cut'
    const body = typeof found.body === 'string' ? found.body : withRequestId(found.body, requestId)
    send(200, body, found.headers, fault === 'cut')
  }

  const server = createServer((request, response) => {
    // A program that is killed leaves its requests: no code needs their errors.
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}${basePath}`,
    clientId,
    clientSecret,
    seen: () => seen,
    beginRun(given = () => null) {
      seen = []
      faultOf = given
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function entryOf(path: string, query: URLSearchParams): Seen {
  const [, , name = '', tail] = /^\/locations\/(\d+)\/(\w+)(?:\/(\w+))?$/.exec(path) ?? []
  const dataset = datasetNames.find((each) => each === name) ?? null
  const kind = path === '/auth/token' ? 'token' : dataset === null ? 'other' : (kindOf(tail) ?? 'other')
  return {
    atMs: performance.now(),
    target: query.size === 0 ? path : `${path}?${query}`,
    kind,
    dataset,
    since: query.get('q[fetch_modified_since]'),
    position: query.get('after') ?? (Number(query.get('page') ?? 1) > 1 ? (query.get('page') ?? '0') : '0'),
    ...{ status: 0, watermark: null, isLastPage: false },
  }
}

function kindOf(tail: string | undefined): 'list' | 'export' | null {
  if (tail === undefined) return 'list'
  return tail === 'export' ? tail : null
}

type Found =
  | { body: { data: unknown; meta?: object; pagy?: object } | string; headers?: Record<string, string> }
  | { refused: number; code: string; errors: string }

function lookUp(
  practice: SimulatedPractice,
  path: string,
  query: URLSearchParams,
  entry: Seen,
  epoch: string | null,
): Found {
  const { locationId, organizationId } = practice
  const single = (data: object): Found => ({ body: { data, meta: { epoch: practice.epoch } } })
  const directory = (data: object): Found => ({
    body: {
      data: [data],
      pagy: { total: 1, items: itemsOf(query), page: 1, pages: 1 },
      meta: { has_more: false, next_page: null, epoch: practice.epoch },
    },
  })
  if (path === '/locations') return directory(locationOf(practice))
  if (path === '/organizations') return directory(organizationOf(practice))
  if (path === `/organizations/${organizationId}`) return single(organizationOf(practice))
  if (path === '/changes') return changes(practice)
  if (!path.startsWith('/locations/')) return { refused: 404, code: 'route_unknown', errors: 'There is no such path.' }
  const [, , location, name, tail] = path.split('/')
  if (location !== locationId)
    return { refused: 404, code: 'location_unknown', errors: 'Resource not found: there is no such location.' }
  if (name === undefined) return single(locationOf(practice))
  if (name === 'sync_status')
    return { body: { data: practice.granted.map((each) => statusOf(practice, each)), meta: { epoch: practice.epoch } } }
  const { dataset, kind } = entry
  if (dataset === null) return { refused: 404, code: 'route_unknown', errors: 'There is no such path.' }
  if (!practice.granted.includes(dataset))
    return { refused: 403, code: 'dataset_denied', errors: 'Access denied: the practice has not granted this dataset.' }
  if (kind === 'list') return list(practice, dataset, query, entry, epoch)
  if (kind === 'export') return wholeExport(practice, dataset, entry)
  const record = practice.recordsOf(dataset).find(({ id }) => id === tail)
  if (!record) return { refused: 404, code: 'record_unknown', errors: 'Resource not found: there is no such record.' }
  return single(rendered(dataset, record, null, true))
}

function list(
  practice: SimulatedPractice,
  dataset: DatasetName,
  query: URLSearchParams,
  entry: Seen,
  epoch: string | null,
): Found {
  const { since, position } = entry
  const { type, pagination } = datasets[dataset]
  const known = ['items', 'after', 'page', 'q[fetch_modified_since]', `fields[${type}]`]
  const other = [...query.keys()].find((name) => !known.includes(name))
  if (other !== undefined)
    return { refused: 422, code: 'parameter_invalid', errors: `The integration check has no parameter ${other}.` }
  const sinceMicros = since === null ? null : microsOf(since)
  const isInstant = since === null || sinceMicros !== null
  if (!isInstant || (sinceMicros ?? 0n) > BigInt(Date.now() + aheadMaxMs) * 1000n)
    return { refused: 422, code: 'parameter_invalid', errors: `The service's time is ${new Date().toISOString()}.` }
  const items = itemsOf(query)
  const { records, isWhole } = practice.select(dataset, since, epoch)
  const isCursor = pagination === 'cursor'
  const pageNumber = Math.max(1, Number(position))
  const rest = isCursor
    ? records.filter(({ id }) => BigInt(id) > BigInt(position))
    : records.slice((pageNumber - 1) * items)
  const page = rest.slice(0, items)
  const hasMore = rest.length > page.length
  const next = isCursor
    ? { next_after: hasMore ? (page.at(-1)?.id ?? null) : null }
    : { next_page: hasMore ? pageNumber + 1 : null }
  entry.watermark = position === '0' ? practice.watermarkOf(dataset) : null
  entry.isLastPage = !hasMore
  const fields = query.get(`fields[${type}]`)?.split(',') ?? null
  return {
    body: {
      data: page.map((record) => rendered(dataset, record, fields)),
      pagy: {
        total: records.length,
        items,
        ...(!isCursor && { page: pageNumber, pages: Math.max(1, Math.ceil(records.length / items)) }),
      },
      meta: {
        has_more: hasMore,
        ...next,
        next_fetch_modified_since: entry.watermark,
        granted_at: null,
        restored_at: isWhole ? practice.restoredAt : null,
        epoch: practice.epoch,
        freshness: freshness(),
      },
    },
  }
}

/** More than the greatest difference of two clocks that the service accepts. */
const aheadMaxMs = 6 * 60_000

function wholeExport(practice: SimulatedPractice, dataset: DatasetName, entry: Seen): Found {
  if (datasets[dataset].pagination !== 'cursor')
    return { refused: 404, code: 'route_unknown', errors: 'There is no such path.' }
  const records = practice.recordsOf(dataset).filter(({ id }) => BigInt(id) > BigInt(entry.position))
  entry.watermark = entry.position === '0' ? practice.watermarkOf(dataset) : null
  entry.isLastPage = true
  const meta = {
    has_more: false,
    next_after: null,
    records: records.length,
    next_fetch_modified_since: entry.watermark,
    epoch: practice.epoch,
    freshness: freshness(),
    request_id: randomUUID(),
  }
  const lines = [...records.map((record) => rendered(dataset, record, null)), { meta }]
  return {
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    headers: {
      'x-total': String(practice.recordsOf(dataset).length),
      'x-epoch': practice.epoch,
      ...(entry.watermark !== null && { 'x-next-fetch-modified-since': entry.watermark }),
    },
  }
}

/** Always whole: the program may ask for changes as it likes, and learns what there is. */
function changes(practice: SimulatedPractice): Found {
  const rows = practice.granted.map((dataset) => ({
    id: `${practice.locationId}/${dataset}`,
    type: 'dataset',
    attributes: {
      location_id: practice.locationId,
      dataset,
      next_fetch_modified_since: practice.watermarkOf(dataset),
      granted_at: practice.createdAt,
      freshness: freshness(),
      removal_held: null,
    },
  }))
  const meta = {
    has_more: false,
    next_after: `${practice.epoch}_${Date.now()}000`,
    is_whole: true,
    epoch: practice.epoch,
  }
  return { body: { data: rows, meta } }
}

function locationOf(practice: SimulatedPractice) {
  const { locationId, organizationId, granted, createdAt } = practice
  return {
    id: locationId,
    type: 'location',
    attributes: {
      name: 'Integration check',
      organization_id: organizationId,
      address_line_1: '1 Main Street',
      address_line_2: null,
      city: 'Salem',
      state: 'OR',
      postal_code: '97301',
      country: 'US',
      phone: '(503) 555-0100',
      email: null,
      website_url: null,
      time_zone: 'America/Los_Angeles',
      currency: 'USD',
      is_active: true,
      practice_management_system: { name: 'Open Dental', version: '24.3.31.0' },
      attribution_script: { is_installed: false, installed_at: null, last_seen_at: null },
      sync: { ...freshness(), initial_sync_completed_at: createdAt },
      datasets_granted: granted,
      created_at: createdAt,
      updated_at: createdAt,
    },
  }
}

function organizationOf({ organizationId, granted, createdAt }: SimulatedPractice) {
  return {
    id: organizationId,
    type: 'organization',
    attributes: {
      name: 'Integration check',
      external_reference: null,
      time_zone: 'America/Los_Angeles',
      country: 'US',
      locations_count: 1,
      datasets_granted: granted,
      granted_at: createdAt,
      created_at: createdAt,
      updated_at: createdAt,
    },
  }
}

function statusOf(practice: SimulatedPractice, dataset: DatasetName) {
  const attributes = {
    dataset,
    ...freshness(),
    total: practice.recordsOf(dataset).length,
    initial_sync_completed_at: practice.createdAt,
    removal_held: null,
    attributes_not_provided: [],
  }
  return { id: dataset, type: 'sync_status', attributes }
}

function freshness() {
  return { synced_at: new Date().toISOString(), state: 'current' }
}

/** spec: Pagination rules 4. */
function itemsOf(query: URLSearchParams): number {
  return Math.min(5000, Math.max(1, Number(query.get('items') ?? 100) || 100))
}

function withRequestId(body: { data: unknown; meta?: object; pagy?: object }, requestId: string): object {
  const { data, pagy, meta } = body
  return { data, ...(pagy && { pagy }), meta: { ...meta, request_id: requestId } }
}

/** In the form of the service's. Nothing verifies its signature. */
function newToken(): string {
  const iat = Math.floor(Date.now() / 1000)
  const parts = [
    { alg: 'none', typ: 'at+jwt' },
    { iat, exp: iat + 6 * 60 * 60, jti: randomUUID() },
  ]
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.${randomBytes(64).toString('base64url')}`
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
