import { contractNumber } from '@bridgework/contract'
import {
  acknowledgedHeader,
  contractHeader,
  type IngestAnswers,
  type IngestBodies,
  type IngestParameters,
  type IngestRefusalKind,
  type IngestRouteName,
  ingestAnswers,
  ingestRefusal,
  ingestRefusals,
  ingestRoutes,
  ingestUrl,
  ingestVersion,
  ingestVersionHeader,
  type ProcessStart,
  packProcessStart,
  processHeader,
  processStartHeader,
} from '@bridgework/contract/ingest'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'
import { retryAfterMs } from './backoff.ts'
import type { DatasetName, SourceLocation, ZonesSet } from './connector.ts'
import { answeredByOther, type NetworkProblem, unanswered } from './network/network-problem.ts'
import { agentVersion } from './version.ts'

/** What a refusal means; and what is no answer of the service at all. */
export type IngestProblemKind = IngestRefusalKind | NetworkProblem['kind'] | 'in_progress' | 'unexpected'

/** A request that failed. `errors` is the server's text, shortened and without control characters. */
export class IngestProblem extends Error {
  readonly kind: IngestProblemKind
  readonly errors: string
  readonly status: number | null
  readonly retryAfterMs: number | null
  readonly requestId: string | null
  /** What a person can do about this one; null: as about any of its kind. */
  readonly todo: string | null
  /** Of a held removal: how many records are gone. */
  readonly missing: number | null
  /** Of a refused record: its line in the upload, from 1. */
  readonly line: number | null

  constructor(
    kind: IngestProblemKind,
    errors: string,
    answer: {
      status?: number
      retryAfterMs?: number | null
      requestId?: string | null
      todo?: string
      missing?: number | null
      line?: number | null
    } = {},
  ) {
    super(errors)
    this.name = 'IngestProblem'
    this.kind = kind
    this.errors = errors
    this.status = answer.status ?? null
    this.retryAfterMs = answer.retryAfterMs ?? null
    this.requestId = answer.requestId ?? null
    this.todo = answer.todo ?? null
    this.missing = answer.missing ?? null
    this.line = answer.line ?? null
  }
}

/** True when the service takes nothing of one location or dataset from this agent; the others may go on. */
export function isAboutLocation({ kind }: IngestProblem): boolean {
  return kind === 'denied' || kind === 'unknown' || kind === 'written_by_other'
}

/** True when the same request may succeed later as it is. */
export function isWorthRetrying(problem: IngestProblem): boolean {
  return ['unreachable', 'intercepted', 'in_progress', 'busy', 'failing'].includes(problem.kind)
}

export type Enrolment = { readonly agentId: string; readonly agentKey: string; readonly organizationId: string }

/** A location at which another agent writes, so that this one is refused. */
export type WrittenByOther = { readonly sourceId: string; readonly what: string }

/** Notes that are to be sent: of this dataset at this location. Another `since` than before: all of them again. */
export type NotesWanted = { readonly sourceId: string; readonly dataset: string; readonly since: string }

/** The release that the service wants the agent to take. Nothing of it is believed yet. */
export type OfferedRelease = { readonly version: string; readonly size: number; readonly sha256: string }

/** Who the server takes us for, its clock, and what people decided there. */
export type Identity = {
  readonly agentId: string
  readonly organizationId: string
  /** As it was answered. */
  readonly serverTime: string
  /** The highest number that the service has of this agent. */
  readonly highestNumber: number | null
  readonly epoch: string
  readonly zones: ZonesSet
  readonly notes: readonly NotesWanted[]
  readonly writtenByOthers: readonly WrittenByOther[]
  /** Source id → Bridgework's location id, of the locations that are not closed. */
  readonly locations: ReadonlyMap<string, string>
  /** The number of the contract that the service knows. */
  readonly contract: number
  /** Null: none. */
  readonly release: OfferedRelease | null
}

/** The last upload that the service took, and in which epoch; a service that never had it says `restore_unmarked`. */
export type Acknowledged = { readonly number: number; readonly epoch: string } | null

export type IngestClient = {
  identify(): Promise<Identity>
  /**
   * Says how the agent is, and confirms what it has read. `start`: which process this is, for the requests of this client from then on; a server that
   * takes those of another one says `copied`. `notConfirmed`: ids of locations whose reads the service did not take.
   */
  heartbeat(
    body: IngestBodies['heartbeat'],
    acknowledged: Acknowledged,
    start: ProcessStart,
  ): Promise<Identity & { readonly notConfirmed: readonly string[] }>
  /** One part, from 0, of the file of an offered release. */
  getReleasePart(version: string, number: number): Promise<Buffer>
  /** Says that a release was not taken, or was taken back. */
  reportRelease(version: string, outcome: IngestBodies['reportRelease']['outcome']): Promise<void>
  /**
   * Sends every location that the source has, and the datasets that it has at all, each with the attributes that it lacks. Source id →
   * Bridgework's location id, of all locations of the organization.
   */
  sendLocations(
    locations: readonly SourceLocation[],
    datasets: ReadonlyMap<DatasetName, readonly string[]>,
  ): Promise<ReadonlyMap<string, string>>
  /** `body` is gzipped NDJSON. The same number with the same body may be sent any number of times. */
  sendRecords(
    locationId: string,
    dataset: DatasetName,
    number: number,
    body: Uint8Array,
  ): Promise<IngestAnswers['sendRecords']>
  /** Begins a complete list; its id. */
  beginList(locationId: string, dataset: DatasetName, beganAtUpload: number): Promise<string>
  /** `body` is gzipped NDJSON, as the contract's `sliceLines` says. */
  sendListSlice(
    locationId: string,
    dataset: DatasetName,
    listId: string,
    body: Uint8Array,
  ): Promise<IngestAnswers['sendListSlice']>
  finishList(locationId: string, dataset: DatasetName, listId: string): Promise<IngestAnswers['finishList']>
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
  return {
    identify: async () => identityOf(await call('identifyAgent', {}), call.serviceContract()),
    heartbeat: async (body, acknowledged, start) => {
      const content = json(body)
      const headers = {
        ...content.headers,
        ...(acknowledged && { [acknowledgedHeader]: `${acknowledged.number} ${acknowledged.epoch}` }),
        [processStartHeader]: packProcessStart(start),
      }
      const answer = await call('heartbeat', {}, { ...content, headers })
      call.speakAs(start.id)
      return { ...identityOf(answer, call.serviceContract()), notConfirmed: answer.not_confirmed }
    },
    getReleasePart: async (version, number) => {
      const { bytes } = await call('getReleasePart', { version, number: String(number) })
      return Buffer.from(bytes, 'base64')
    },
    reportRelease: async (version, outcome) => {
      await call('reportRelease', { version }, json({ outcome } satisfies IngestBodies['reportRelease']))
    },
    sendLocations: async (locations, datasets) => {
      const body = {
        locations: [...locations],
        complete: true,
        datasets: [...datasets.keys()],
        attributes_not_provided: Object.fromEntries([...datasets].map(([dataset, lacks]) => [dataset, [...lacks]])),
      } satisfies IngestBodies['sendLocations']
      const answer = await call('sendLocations', { organization_id: options.organizationId }, json(body))
      return new Map(answer.locations.map(({ source_id, location_id }) => [source_id, location_id]))
    },
    sendRecords: (locationId, dataset, number, body) =>
      call(
        'sendRecords',
        { location_id: locationId, dataset },
        {
          body,
          headers: {
            'content-type': 'application/x-ndjson',
            'content-encoding': 'gzip',
            'idempotency-key': `${options.agentId}-${number}`,
          },
        },
      ),
    beginList: async (locationId, dataset, beganAtUpload) => {
      const body = { began_at_upload: beganAtUpload } satisfies IngestBodies['beginList']
      return (await call('beginList', { location_id: locationId, dataset }, json(body))).list_id
    },
    sendListSlice: (locationId, dataset, listId, body) =>
      call(
        'sendListSlice',
        { location_id: locationId, dataset, list_id: listId },
        { body, headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' } },
      ),
    finishList: (locationId, dataset, listId) =>
      call('finishList', { location_id: locationId, dataset, list_id: listId }, json({})),
  }
}

/** Exchanges a one-time code for an agent key. */
export async function enrolAgent(
  options: Pick<IngestOptions, 'serverUrl' | 'fetch' | 'timeoutMs'>,
  { code, name, version, replacedKey }: { code: string; name: string; version: string; replacedKey?: string },
): Promise<Enrolment> {
  const body: IngestBodies['enrolAgent'] = {
    enrolment_code: code,
    name,
    version,
    ...(replacedKey === undefined ? {} : { replaces_agent_key: replacedKey }),
  }
  const answer = await caller(options)('enrolAgent', {}, json(body))
  return { agentId: answer.agent_id, agentKey: answer.agent_key, organizationId: answer.organization_id }
}

function writtenByOther(location: {
  source_id: string
  name: string
  agent_name: string
  last_contact_at: string | null
}): WrittenByOther {
  const { source_id: sourceId, name, agent_name: agent, last_contact_at: contact } = location
  const what = `Another agent, "${agent}", writes at ${name}; its last contact was ${contact ?? 'never'}.`
  return { sourceId, what: printable(what) }
}

type Content = { body?: string | Uint8Array; headers: Record<string, string> }

function json(body: object): Content {
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

function caller(options: Pick<IngestOptions, 'serverUrl' | 'fetch' | 'timeoutMs'> & { agentKey?: string }) {
  const send = options.fetch ?? fetch
  /** As the service says in its answers. */
  let serviceContract = 1
  let processId: string | null = null
  const call = async <Name extends IngestRouteName>(
    name: Name,
    parameters: IngestParameters<Name>,
    content?: Content,
  ): Promise<IngestAnswers[Name]> => {
    let response: Response
    let text: string
    try {
      response = await send(`${options.serverUrl}${ingestUrl(name, parameters)}`, {
        method: ingestRoutes[name].method,
        redirect: 'manual',
        signal: AbortSignal.timeout(options.timeoutMs ?? 60_000),
        headers: {
          ...content?.headers,
          'user-agent': `bridgework-agent/${agentVersion}`,
          [ingestVersionHeader]: String(ingestVersion),
          [contractHeader]: String(contractNumber),
          ...(processId !== null && name !== 'heartbeat' && { [processHeader]: processId }),
          ...(options.agentKey === undefined ? {} : { authorization: `Bearer ${options.agentKey}` }),
        },
        ...(content?.body === undefined ? {} : { body: content.body as NonNullable<RequestInit['body']> }),
      })
      text = await response.text()
      serviceContract = Number(response.headers.get(contractHeader)) || 1
    } catch (error) {
      throw ofNetwork(unanswered(options.serverUrl, error))
    }
    const answer = parseJson(text)
    // The schema's own static type is what Check has just proven.
    if (response.ok && Check(ingestAnswers[name], answer)) return answer as IngestAnswers[Name]
    // A status alone is of whatever stands in between: only what the service says itself may end or change anything.
    const refusal = !response.ok && Check(ingestRefusal, answer) && answer.code !== undefined ? answer : null
    if (refusal) throw refusedBy(response, refusal)
    const problem = answeredByOther(options.serverUrl, response, text)
    // A proxy may have a lower limit than the service. Smaller bodies get through.
    if (response.status === 413) throw new IngestProblem('too_large', printable(problem.what), { status: 413 })
    throw ofNetwork(problem, response)
  }
  return Object.assign(call, {
    serviceContract: () => serviceContract,
    speakAs: (id: string) => {
      processId = id
    },
  })
}

function ofNetwork({ kind, what, todo }: NetworkProblem, response: Response | null = null): IngestProblem {
  return new IngestProblem(kind, printable(what), {
    todo: printable(todo),
    ...(response && { status: response.status, retryAfterMs: retryAfterOf(response) }),
  })
}

function refusedBy(response: Response, refusal: Static<typeof ingestRefusal>): IngestProblem {
  const known: Partial<Record<string, IngestRefusalKind>> = ingestRefusals
  return new IngestProblem(known[refusal.code ?? ''] ?? kindOf(response.status), printable(refusal.errors), {
    status: response.status,
    retryAfterMs: retryAfterOf(response),
    requestId: response.headers.get('x-request-id'),
    missing: refusal.missing ?? null,
    line: refusal.line ?? null,
  })
}

function retryAfterOf({ headers }: Response): number | null {
  return retryAfterMs(headers.get('retry-after'), new Date())
}

/** What a code means that this version does not know. */
function kindOf(status: number): IngestProblemKind {
  if (status === 409) return 'in_progress'
  if (status === 413) return 'too_large'
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 || status === 408 ? 'failing' : 'unexpected'
}

/** What a stranger's text may do to a terminal or a log: nothing. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\t]/gu, ' ').slice(0, 500)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function identityOf(answer: IngestAnswers['identifyAgent'], contract: number): Identity {
  return {
    agentId: answer.agent_id,
    organizationId: answer.organization_id,
    serverTime: answer.server_time,
    highestNumber: answer.highest_number,
    epoch: answer.epoch,
    zones: zonesOf(answer),
    notes: answer.notes.map(({ source_id: sourceId, dataset, since }) => ({ sourceId, dataset, since })),
    writtenByOthers: answer.written_by_others.map(writtenByOther),
    locations: new Map(answer.locations.map(({ source_id, location_id }) => [source_id, location_id])),
    contract,
    release: answer.release,
  }
}

function zonesOf(answer: IngestAnswers['identifyAgent']): ZonesSet {
  return {
    organization: answer.time_zone,
    locations: new Map(answer.location_time_zones.map(({ source_id, time_zone }) => [source_id, time_zone])),
  }
}
