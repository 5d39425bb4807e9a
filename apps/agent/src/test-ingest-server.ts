import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { findDataset } from '@bridgework/contract'
import { Compile } from 'typebox/compile'

type StoredRecord = { attributes: Record<string, unknown>; isHidden: boolean; uploadNumber: number }
type Answer = { status: number; body: object; headers?: Record<string, string> }

/** What a test may do to a request: answer in the server's place, or let it take effect and cut the line before the answer. */
export type Interference = (request: {
  path: string
  method: string
  kind: string
  headers: IncomingMessage['headers']
}) => Answer | 'cut_after_effect' | { delayMs: number } | undefined

export type TestIngestServer = Awaited<ReturnType<typeof startTestIngestServer>>

/**
 * The ingest protocol as it is documented, in memory: each upload takes effect once per Idempotency-Key, every line is
 * checked against the contract, and what arrived is there to be counted.
 */
export async function startTestIngestServer(t: { after(work: () => Promise<void>): void }) {
  const agentKey = 'bwa_test'
  const agentId = '7'
  const organizationId = '42'
  const enrolmentCodes = new Set(['bwe_once'])
  const locations = new Map<string, { locationId: string; document: Record<string, unknown> }>()
  const records = new Map<string, Map<string, StoredRecord>>()
  const uploads = new Map<string, { bodyHash: string; answer: Answer }>()
  const cycles: { locationId: string; dataset: string; read_at: string; complete: boolean }[] = []
  const reconciles: { locationId: string; dataset: string; began_at_upload: number; source_ids: string[] }[] = []
  const requests: { method: string; path: string }[] = []
  const counts = { inserted: 0, changed: 0, unchanged: 0, hidden: 0 }
  const unknownLocations = new Set<string>()
  const world = {
    interference: undefined as Interference | undefined,
    removalsConfirmed: false,
    serverTime: () => new Date(),
  }

  async function answer(request: IncomingMessage, body: Buffer): Promise<Answer | 'cut'> {
    const path = request.url ?? ''
    const method = request.method ?? ''
    requests.push({ method, path })
    const parts = path.split('/')
    const kind = parts.at(-1) ?? ''
    const interference = world.interference?.({ path, method, kind, headers: request.headers })
    if (typeof interference === 'object' && 'status' in interference) return interference
    if (typeof interference === 'object') await new Promise((resolve) => setTimeout(resolve, interference.delayMs))
    const result = effect(request, parts, body)
    return interference === 'cut_after_effect' ? 'cut' : result
  }

  function effect(request: IncomingMessage, parts: string[], packed: Buffer): Answer {
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(packed) : packed
    const path = parts.slice(3).join('/')
    if (path === 'agents') {
      const { enrolment_code } = JSON.parse(body.toString())
      if (!enrolmentCodes.delete(enrolment_code))
        return problem(401, 'enrolment_code_invalid', 'The enrolment code is wrong, expired or already used.')
      return { status: 201, body: { agent_id: agentId, agent_key: agentKey, organization_id: organizationId } }
    }
    if (request.headers.authorization !== `Bearer ${agentKey}`)
      return problem(401, 'agent_key_invalid', 'Not authorized: the agent key is missing, wrong or revoked.')
    if (path === 'agents/self') {
      return {
        status: 200,
        body: { agent_id: agentId, organization_id: organizationId, server_time: world.serverTime().toISOString() },
      }
    }
    if (path === `organizations/${organizationId}/locations`)
      return upsertLocations(JSON.parse(body.toString()).locations)
    const [, locationId = '', dataset = '', kind] = parts.slice(3)
    const known = [...locations.values()].some((location) => location.locationId === locationId)
    if (!known || unknownLocations.has(locationId))
      return problem(404, 'location_unknown', 'Resource not found: there is no such location.')
    if (kind === 'records') return upload(locationId, dataset, String(request.headers['idempotency-key']), body)
    const document = JSON.parse(body.toString())
    if (kind === 'cycles') {
      cycles.push({ locationId, dataset, ...document })
      return { status: 200, body: { synced_at: document.read_at } }
    }
    if (kind === 'reconcile') return reconcile(locationId, dataset, document)
    return problem(404, 'route_unknown', 'Resource not found: there is no such path.')
  }

  function upsertLocations(named: Record<string, unknown>[]): Answer {
    for (const document of named) {
      const sourceId = String(document.source_id)
      const locationId = locations.get(sourceId)?.locationId ?? String(1001 + locations.size)
      locations.set(sourceId, { locationId, document })
    }
    const all = [...locations].map(([source_id, { locationId, document }]) => ({
      source_id,
      location_id: locationId,
      name: document.name,
    }))
    return { status: 200, body: { locations: all } }
  }

  function upload(locationId: string, dataset: string, key: string, body: Buffer): Answer {
    const number = Number(/^7-([1-9]\d{0,15})$/.exec(key)?.[1])
    if (!Number.isSafeInteger(number))
      return problem(422, 'idempotency_key_invalid', 'Idempotency-Key must be "<agent id>-<number>".')
    const bodyHash = createHash('sha256').update(body).digest('hex')
    const before = uploads.get(key)
    if (before !== undefined) {
      if (before.bodyHash === bodyHash) return before.answer
      return problem(422, 'idempotency_key_reused', 'Idempotency key reused with different content')
    }
    const lines = body
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    if (lines.length > 10_000) return problem(413, 'body_too_large', 'The request body is too large.')
    const faults = lines.map((line, index) => faultOf(dataset, line, index + 1))
    const bad = faults.findIndex((fault) => fault !== null)
    if (bad >= 0) return problem(422, 'record_invalid', faults[bad] ?? '', { line: bad + 1 })
    const result = { inserted: 0, changed: 0, unchanged: 0, hidden: 0 }
    for (const line of lines) result[store(recordsOf(locationId, dataset), line, number)] += 1
    for (const [name, value] of Object.entries(result)) counts[name as keyof typeof counts] += value
    const answer = { status: 200, body: result }
    uploads.set(key, { bodyHash, answer })
    return answer
  }

  function reconcile(
    locationId: string,
    dataset: string,
    document: { began_at_upload: number; source_ids: string[] },
  ): Answer {
    reconciles.push({ locationId, dataset, ...document })
    const named = new Set(document.source_ids)
    const visible = [...recordsOf(locationId, dataset)].filter(([, record]) => !record.isHidden)
    const missing = visible.filter(
      ([sourceId, record]) => !named.has(sourceId) && record.uploadNumber < document.began_at_upload,
    )
    const isMass =
      missing.length > 0 &&
      (missing.length === visible.length || (missing.length >= 10 && missing.length > visible.length / 5))
    if (isMass && !world.removalsConfirmed) {
      return problem(409, 'removal_held', 'This list would hide so many records that a person must confirm it first.', {
        missing: missing.length,
        visible: visible.length,
      })
    }
    for (const [, record] of missing) record.isHidden = true
    counts.hidden += missing.length
    return { status: 200, body: { hidden: missing.length } }
  }

  function recordsOf(locationId: string, dataset: string): Map<string, StoredRecord> {
    const key = `${locationId}/${dataset}`
    const known = records.get(key) ?? new Map<string, StoredRecord>()
    records.set(key, known)
    return known
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const result = await answer(request, Buffer.concat(chunks))
      if (result === 'cut') return request.socket.destroy()
      response.writeHead(result.status, {
        'content-type': 'application/json',
        'x-request-id': 'r-1',
        ...result.headers,
      })
      response.end(JSON.stringify(result.body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    agentKey,
    agentId,
    organizationId,
    world,
    counts,
    cycles,
    reconciles,
    requests,
    unknownLocations,
    locations,
    uploads,
    hideAll: (locationSourceId: string, dataset: string): void => {
      const locationId = locations.get(locationSourceId)?.locationId ?? ''
      for (const record of recordsOf(locationId, dataset).values()) record.isHidden = true
    },
    /** What vendors would see of a location's dataset, by source id; by the location's source id. */
    visible: (locationSourceId: string, dataset: string): Map<string, Record<string, unknown>> => {
      const locationId = locations.get(locationSourceId)?.locationId ?? ''
      return new Map(
        [...recordsOf(locationId, dataset)]
          .filter(([, record]) => !record.isHidden)
          .map(([id, record]) => [id, record.attributes]),
      )
    },
  }
}

function store(
  known: Map<string, StoredRecord>,
  line: { source_id: string; attributes?: Record<string, unknown> },
  number: number,
) {
  const before = known.get(line.source_id)
  if (line.attributes === undefined) {
    if (before === undefined || before.isHidden) return 'unchanged'
    before.isHidden = true
    return 'hidden'
  }
  known.set(line.source_id, { attributes: line.attributes, isHidden: false, uploadNumber: number })
  if (before === undefined) return 'inserted'
  return JSON.stringify(before.attributes) === JSON.stringify(line.attributes) && !before.isHidden
    ? 'unchanged'
    : 'changed'
}

const validators = new Map<string, ReturnType<typeof Compile>>()

function faultOf(dataset: string, line: unknown, number: number): string | null {
  if (typeof line !== 'object' || line === null || !('source_id' in line) || typeof line.source_id !== 'string') {
    return `Line ${number}: source_id must be a string.`
  }
  if (line.source_id.includes('\u0000')) return `Line ${number}: source_id must not hold NUL.`
  if ('removed' in line) return null
  const source = findDataset(dataset)?.source
  if (source === undefined) return `Line ${number}: there is no dataset ${dataset}.`
  const validator = validators.get(dataset) ?? Compile(source)
  validators.set(dataset, validator)
  const attributes = 'attributes' in line ? line.attributes : undefined
  if (validator.Check(attributes)) return null
  const [first] = validator.Errors(attributes)
  return `Line ${number}: attributes${first?.instancePath.replaceAll('/', '.') ?? ''} ${first?.message ?? 'is not valid'}.`
}

function problem(status: number, code: string, errors: string, members: object = {}): Answer {
  return { status, body: { errors, code, request_id: 'r-1', ...members } }
}
