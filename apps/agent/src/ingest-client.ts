import { retryAfterMs } from './backoff.ts'
import type { DatasetName, SourceLocation } from './connector.ts'

export type IngestProblemKind =
  | 'unreachable'
  | 'redirected'
  | 'key_refused'
  | 'denied'
  | 'unknown'
  | 'in_progress'
  | 'removal_held'
  | 'too_large'
  | 'record_invalid'
  | 'key_reused'
  | 'busy'
  | 'failing'
  | 'unexpected'

/** A request that failed. `errors` is the server's text, shortened and without control characters. */
export class IngestProblem extends Error {
  readonly kind: IngestProblemKind
  readonly errors: string
  readonly status: number | null
  readonly retryAfterMs: number | null
  readonly requestId: string | null
  /** Of a held removal: how many records are gone. */
  readonly missing: number | null

  constructor(
    kind: IngestProblemKind,
    errors: string,
    answer: { status?: number; retryAfterMs?: number | null; requestId?: string | null; missing?: number | null } = {},
  ) {
    super(errors)
    this.name = 'IngestProblem'
    this.kind = kind
    this.errors = errors
    this.status = answer.status ?? null
    this.retryAfterMs = answer.retryAfterMs ?? null
    this.requestId = answer.requestId ?? null
    this.missing = answer.missing ?? null
  }
}

/** True when the same request may succeed later as it is. */
export function isWorthRetrying(problem: IngestProblem): boolean {
  return ['unreachable', 'in_progress', 'busy', 'failing'].includes(problem.kind)
}

export type Enrolment = { readonly agentId: string; readonly agentKey: string; readonly organizationId: string }
type UploadCounts = { inserted: number; changed: number; unchanged: number; hidden: number }

export type IngestClient = {
  /** Who the server takes us for, and its clock. */
  identify(): Promise<{ agentId: string; organizationId: string; serverTime: Date }>
  /** Source id → Bridgework's location id, of all locations of the organization. */
  sendLocations(locations: readonly SourceLocation[]): Promise<ReadonlyMap<string, string>>
  /** `body` is gzipped NDJSON. The same number with the same body may be sent any number of times. */
  sendRecords(locationId: string, dataset: DatasetName, number: number, body: Uint8Array): Promise<UploadCounts>
  reportCycle(locationId: string, dataset: DatasetName, cycle: { readAt: Date; complete: boolean }): Promise<void>
  /** `body` is the gzipped JSON of `began_at_upload` and `source_ids`. */
  reconcile(locationId: string, dataset: DatasetName, body: Uint8Array): Promise<{ hidden: number }>
}

export type IngestOptions = {
  readonly serverUrl: string
  readonly agentKey: string
  readonly agentId: string
  readonly organizationId: string
  readonly fetch?: typeof fetch
  readonly timeoutMs?: number
}

/** Speaks the ingest protocol: one request per call, no retries, never follows a redirect. Throws `IngestProblem`. */
export function ingestClient(options: IngestOptions): IngestClient {
  const call = caller(options)
  const records = (locationId: string, dataset: DatasetName) => `/ingest/v1/locations/${locationId}/${dataset}`
  return {
    identify: async () => {
      const answer = await call('GET', '/ingest/v1/agents/self')
      return {
        agentId: textOf(answer, 'agent_id'),
        organizationId: textOf(answer, 'organization_id'),
        serverTime: new Date(textOf(answer, 'server_time')),
      }
    },
    sendLocations: async (locations) => {
      const answer = await call('POST', `/ingest/v1/organizations/${options.organizationId}/locations`, {
        body: JSON.stringify({ locations }),
        headers: { 'content-type': 'application/json' },
      })
      return new Map(listOf(answer, 'locations').map((each) => [textOf(each, 'source_id'), locationIdOf(each)]))
    },
    sendRecords: async (locationId, dataset, number, body) => {
      const answer = await call('POST', `${records(locationId, dataset)}/records`, {
        body,
        headers: {
          'content-type': 'application/x-ndjson',
          'content-encoding': 'gzip',
          'idempotency-key': `${options.agentId}-${number}`,
        },
      })
      const count = (name: string) => numberOf(answer, name)
      return {
        inserted: count('inserted'),
        changed: count('changed'),
        unchanged: count('unchanged'),
        hidden: count('hidden'),
      }
    },
    reportCycle: async (locationId, dataset, { readAt, complete }) => {
      await call('POST', `${records(locationId, dataset)}/cycles`, {
        body: JSON.stringify({ read_at: readAt.toISOString(), complete }),
        headers: { 'content-type': 'application/json' },
      })
    },
    reconcile: async (locationId, dataset, body) => {
      const answer = await call('POST', `${records(locationId, dataset)}/reconcile`, {
        body,
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      })
      return { hidden: numberOf(answer, 'hidden') }
    },
  }
}

/** Exchanges a one-time code for an agent key. */
export async function enrolAgent(
  options: Pick<IngestOptions, 'serverUrl' | 'fetch' | 'timeoutMs'>,
  request: { code: string; name: string; version: string },
): Promise<Enrolment> {
  const answer = await caller(options)('POST', '/ingest/v1/agents', {
    body: JSON.stringify({ enrolment_code: request.code, name: request.name, version: request.version }),
    headers: { 'content-type': 'application/json' },
  })
  return {
    agentId: textOf(answer, 'agent_id'),
    agentKey: textOf(answer, 'agent_key'),
    organizationId: textOf(answer, 'organization_id'),
  }
}

type Content = { body: string | Uint8Array; headers: Record<string, string> }

function caller(options: Pick<IngestOptions, 'serverUrl' | 'fetch' | 'timeoutMs'> & { agentKey?: string }) {
  const send = options.fetch ?? fetch
  return async (method: string, path: string, content?: Content): Promise<unknown> => {
    let response: Response
    let text: string
    try {
      response = await send(`${options.serverUrl}${path}`, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(options.timeoutMs ?? 60_000),
        headers: {
          ...content?.headers,
          ...(options.agentKey === undefined ? {} : { authorization: `Bearer ${options.agentKey}` }),
        },
        ...(content === undefined ? {} : { body: content.body as NonNullable<RequestInit['body']> }),
      })
      text = await response.text()
    } catch (error) {
      throw new IngestProblem(
        'unreachable',
        `The server ${new URL(options.serverUrl).host} cannot be reached (${reasonOf(error)}).`,
      )
    }
    const answer = parseJson(text)
    if (response.ok && answer !== undefined) return answer
    throw problemOf(response, answer)
  }
}

function problemOf(response: Response, answer: unknown): IngestProblem {
  const { status } = response
  const code = optionalText(answer, 'code')
  const details = {
    status,
    retryAfterMs: retryAfterMs(response.headers.get('retry-after'), new Date()),
    requestId: response.headers.get('x-request-id'),
    missing: optionalNumber(answer, 'missing'),
  }
  const errors = printable(optionalText(answer, 'errors') ?? `The server answered ${status}.`)
  return new IngestProblem(kindOf(status, code), errors, details)
}

function kindOf(status: number, code: string | null): IngestProblemKind {
  if (status >= 300 && status < 400) return 'redirected'
  if (status === 401) return 'key_refused'
  if (status === 403) return 'denied'
  if (status === 404) return 'unknown'
  if (status === 409) return code === 'removal_held' ? 'removal_held' : 'in_progress'
  if (status === 413) return 'too_large'
  if (status === 422 && code === 'idempotency_key_reused') return 'key_reused'
  if (status === 422 && code === 'record_invalid') return 'record_invalid'
  if (status === 429 || status === 503) return 'busy'
  if (status >= 500 || status === 408) return 'failing'
  return 'unexpected'
}

/** What a stranger's text may do to a terminal or a log: nothing. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\t]/gu, ' ').slice(0, 500)
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  const cause = error instanceof Error ? error.cause : undefined
  if (typeof cause === 'object' && cause !== null && 'code' in cause) return String(cause.code)
  return cause instanceof Error ? printable(cause.message) : 'connection failed'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function optionalText(answer: unknown, name: string): string | null {
  if (typeof answer !== 'object' || answer === null) return null
  const value: unknown = Reflect.get(answer, name)
  return typeof value === 'string' ? value : null
}

function textOf(answer: unknown, name: string): string {
  return optionalText(answer, name) ?? unexpected(name)
}

function optionalNumber(answer: unknown, name: string): number | null {
  const value: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined
  return typeof value === 'number' ? value : null
}

function numberOf(answer: unknown, name: string): number {
  return optionalNumber(answer, name) ?? unexpected(name)
}

function listOf(answer: unknown, name: string): unknown[] {
  const value: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined
  return Array.isArray(value) ? value : unexpected(name)
}

/** Location ids become part of a path. */
function locationIdOf(location: unknown): string {
  const id = textOf(location, 'location_id')
  return /^\d{1,19}$/.test(id) ? id : unexpected('location_id')
}

function unexpected(name: string): never {
  throw new IngestProblem(
    'unexpected',
    `The server's answer has no ${name}. Check that the server address is that of Bridgework.`,
  )
}
