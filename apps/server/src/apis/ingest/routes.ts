import { createHash, type Hash, hash } from 'node:crypto'
import { contractNumber, datasets, isTimeZone, limits } from '@bridgework/contract'
import {
  contractHeader,
  ingestBodies,
  ingestVersion,
  ingestVersionHeader,
  type SourceLocation,
} from '@bridgework/contract/ingest'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { enrollAgent } from '../../modules/agents/agent-key.ts'
import { numberTooHigh } from '../../modules/agents/agent-number.ts'
import type { SecretKey } from '../../modules/credentials/secret.ts'
import type { SeenStamps } from '../../modules/datasets/seen-stamps.ts'
import { upsertLocations } from '../../modules/onboarding/upsert-locations.ts'
import { openStoredLookup, type StoredLookup } from '../../modules/records/write/as-stored.ts'
import { createRecordStatistics } from '../../modules/records/write/statistics.ts'
import { countLines, smallLines, storeUpload, type Upload } from '../../modules/records/write/upload.ts'
import type { TokenLimit } from '../../modules/throttle/token-limit.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { readJson } from '../../platform/http/body/read-json.ts'
import { uploadTimeoutMs } from '../../platform/http/server.ts'
import type { Log } from '../../platform/log/log-event.ts'
import type { LoadWatch } from '../../platform/memory/load-watch.ts'
import {
  agentOf,
  contractOf,
  datasetOf,
  keyOf,
  organizationOf,
  requireAgent,
  requireDataset,
  requireLocation,
  requireLocationWriter,
  requireTimeZone,
} from './authorize.ts'
import { registerHeartbeat } from './heartbeat-route.ts'
import { identityOf } from './identity.ts'
import { type IngestBody, jsonBounds, leaveBodies, requireType } from './lines/body.ts'
import { createLargeBodies } from './lines/large-bodies.ts'
import { takeLines } from './lines/lines.ts'
import { createLineReader, type ReadLine } from './lines/record-line.ts'
import { createUploadReader, lineBounds } from './lines/upload-lines.ts'
import { registerLists } from './lists/list-routes.ts'
import { registerReleases } from './release-routes.ts'
import { serve, serveBody } from './serve.ts'

export type IngestApiContext = {
  pool: Pool
  secretKey: SecretKey
  /** Enrolment codes are guessed like client secrets, so tries are counted with them. */
  tokenLimit: TokenLimit
  load: LoadWatch
  seenStamps: SeenStamps
  now: () => Date
  log: Log
}

/** HTTP under /ingest/v1: what office agents speak. Every check that needs no body comes before the body is read. */
export function registerIngestApi(app: FastifyInstance, context: IngestApiContext): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header(ingestVersionHeader, String(ingestVersion))
    reply.header(contractHeader, String(contractNumber))
  })
  app.register(async (open) => registerEnrolment(open, context))
  app.register(async (protectedApp) => {
    requireAgent(protectedApp, context)
    leaveBodies(protectedApp)
    registerProtected(protectedApp, context)
  })
}

function registerEnrolment(app: FastifyInstance, { pool, secretKey, tokenLimit }: IngestApiContext): void {
  serve(app, 'enrolAgent', {}, async (request, reply) => {
    const body = readJson(ingestBodies.enrolAgent, request.body)
    const verdict = await tokenLimit.admit(request.clientIp)
    reply.headers(tokenLimit.headersOf(verdict))
    if (!verdict.admitted)
      throw new Problem('token_requests_exceeded', { retryAfterSeconds: verdict.retryAfterSeconds })
    const { enrolment_code: code, replaces_agent_key: replacedKey, ...named } = body
    const agent = await enrollAgent(pool, secretKey, {
      code,
      ...named,
      ...(replacedKey === undefined ? {} : { replacedKey }),
    })
    reply.code(201)
    return { agent_id: agent.agentId, agent_key: agent.agentKey, organization_id: agent.organizationId }
  })
}

/** What a repeated upload did, whatever its first time is answered with again. */
const nothingStored = { inserted: 0, changed: 0, hidden: 0 }

function registerProtected(app: FastifyInstance, context: IngestApiContext): void {
  const { pool, now, log } = context
  const lineReaders = new Map(datasets.map((dataset) => [dataset.name as string, createLineReader(dataset)]))
  const largeBodies = createLargeBodies(context.load)
  const statistics = createRecordStatistics(context)
  app.addHook('onClose', statistics.stop)
  const onRequest = [requireLocation(pool), requireDataset, requireLocationWriter(pool)]
  const forDataset = { largeBodies, config: { uploadTimeoutMs }, onRequest }

  serve(app, 'identifyAgent', {}, (request) => identityOf(request, context))
  registerHeartbeat(app, context, largeBodies)

  serveBody(app, 'sendLocations', { largeBodies, bodyLimit: limits.locationsBytesMax }, async (request, incoming) => {
    const organizationId = organizationOf(request)
    const body = readJson(ingestBodies.sendLocations, await incoming.json(jsonBounds))
    const report = {
      agentId: agentOf(request).agentId,
      isComplete: body.complete === true,
      provided: {
        datasets: body.datasets ?? null,
        attributesLacking: body.attributes_not_provided ?? {},
        contract: contractOf(request),
      },
      now: now(),
    }
    requireTimeZones(body.locations)
    const sources = body.locations.map(toLocationSource)
    const locations = await upsertLocations(pool, organizationId, sources, report)
    return {
      locations: locations.map(({ id, sourceId, name }) => ({ source_id: sourceId, location_id: id, name })),
    }
  })

  const ofRecords = { ...forDataset, onRequest: [...forDataset.onRequest, requireTimeZone] }
  serveBody(app, 'sendRecords', { ...ofRecords, bodyLimit: limits.uploadBytesMax }, async (request, incoming) => {
    const begun = performance.now()
    const dataset = datasetOf(request)
    const number = uploadNumber(request)
    requireType(request, 'application/x-ndjson', 'Send the lines as Content-Type: application/x-ndjson.')
    const readLine = lineReaders.get(dataset)
    if (!readLine) throw new Problem('dataset_unknown')
    const key = keyOf(request)
    const read = await readUpload(incoming, readLine, openStoredLookup(pool, key.locationId, dataset))
    const lines = countLines(read)
    if (lines === 0) throw new Problem('record_invalid', { errors: 'The upload has no line.' })
    await incoming.beforeStoring()
    const upload = { ...key, ...read, number }
    const store = () => storeUpload(pool, upload, now, context.seenStamps)
    const { answer, isRepeated, total } = await (lines > smallLines ? context.load.whileWorking(store) : store())
    const { locationId } = key
    const { hidden, inserted, changed } = isRepeated ? nothingStored : answer
    statistics.noteGrowth(total - inserted, total)
    const durationMs = Math.round(performance.now() - begun)
    log({
      event: 'records.ingested',
      locationId,
      dataset,
      changed: inserted + changed,
      hidden,
      isRepeated,
      durationMs,
    })
    return answer
  })

  registerLists(app, context, forDataset)
  registerReleases(app, context, largeBodies)
}

/** A body that is known, as it was sent, is not unpacked. */
async function readUpload(
  incoming: IngestBody,
  readLine: ReadLine,
  lookup: StoredLookup,
): Promise<Required<Pick<Upload, 'lines' | 'asStored' | 'body' | 'bodyHash'>>> {
  const packed = await incoming.packed()
  const sha256 = packed === null ? null : hash('sha256', packed)
  const known = sha256 === null ? null : await lookup.findBody(sha256)
  if (known) return { lines: [], asStored: known.asStored, body: null, bodyHash: known.unpackedSha256 }
  const reader = createUploadReader(readLine, lookup)
  const unpacked = createHash('sha256')
  await incoming.read((pieces) => takeLines(hashing(pieces, unpacked), lineBounds, reader))
  const { records, ...read } = await reader.end()
  const bodyHash = unpacked.digest('hex')
  const isKept = sha256 !== null && records !== null
  return { ...read, bodyHash, body: isKept ? { ...records, sha256, unpackedSha256: bodyHash } : null }
}

async function* hashing(pieces: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    hash.update(piece)
    yield piece
  }
}

/** The upload's number from `Idempotency-Key: <agent id>-<number>`. */
function uploadNumber(request: FastifyRequest): string {
  const [, agentId, number] =
    /^([1-9]\d{0,15})-([1-9]\d{0,15})$/.exec(String(request.headers['idempotency-key'] ?? '')) ?? []
  if (number === undefined || agentId !== agentOf(request).agentId) throw new Problem('idempotency_key_invalid')
  // As in the JSON of a list. A text of digits alone.
  if (!Number.isSafeInteger(Number(number))) throw numberTooHigh()
  return number
}

/** Throws field_invalid for a time zone that is none. Each name is looked at once: a look takes 40 µs. */
function requireTimeZones(locations: readonly SourceLocation[]): void {
  const known = new Set<string | null>([null])
  for (const { source_id: sourceId, time_zone: name } of locations) {
    if (known.has(name)) continue
    if (name !== null && !isTimeZone(name)) {
      const errors = `time_zone of location ${sourceId} must be an IANA name like America/New_York, or null.`
      throw new Problem('field_invalid', { errors })
    }
    known.add(name)
  }
}

function toLocationSource(location: SourceLocation) {
  return {
    sourceId: location.source_id,
    name: location.name,
    addressLine1: location.address_line_1,
    addressLine2: location.address_line_2,
    city: location.city,
    state: location.state,
    postalCode: location.postal_code,
    country: location.country,
    phone: location.phone,
    email: location.email,
    websiteUrl: location.website_url,
    timeZone: location.time_zone,
    currency: location.currency,
    isActive: location.is_active,
    practiceManagementSystem: location.practice_management_system,
    officeHours: location.office_hours ?? null,
  }
}
