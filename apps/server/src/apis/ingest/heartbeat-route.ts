import { limits } from '@bridgework/contract'
import { type IngestBodies, ingestBodies } from '@bridgework/contract/ingest'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { agentVersionOf } from '../../modules/agents/agent-contact.ts'
import { noteHeartbeat, observedProblems, onServiceClock, replaceProblems } from '../../modules/agents/heartbeat.ts'
import { keepPlaces } from '../../modules/agents/location-writer.ts'
import { releaseAfter } from '../../modules/agents/release.ts'
import { finishReads } from '../../modules/datasets/cycle.ts'
import { parseInstant } from '../../modules/datasets/instant.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { readJson } from '../../platform/http/body/read-json.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import { agentOf } from './authorize.ts'
import { identityOf } from './identity.ts'
import { jsonBounds } from './lines/body.ts'
import type { LargeBodies } from './lines/large-bodies.ts'
import { serveBody } from './serve.ts'

/** An agent that takes releases by itself has taken one by then. */
const releaseOldMs = 7 * 24 * 60 * 60_000

/** Takes note of how an agent is, and of what it has read: only of reads in this epoch, at locations of its own. */
export function registerHeartbeat(
  app: FastifyInstance,
  { pool, now }: { pool: Pool; now: () => Date },
  largeBodies: LargeBodies,
): void {
  serveBody(app, 'heartbeat', { largeBodies, bodyLimit: limits.heartbeatBytesMax }, async (request, incoming) => {
    const receivedAt = now()
    const body = readJson(ingestBodies.heartbeat, await incoming.json(jsonBounds))
    requireInstants(body)
    const { agentId } = agentOf(request)
    const identity = await identityOf(request, { pool, now })
    const { state, reading, problems: reported = null, confirmed } = body
    await noteHeartbeat(pool, {
      agentId,
      state,
      heardAt: receivedAt,
      readingDataset: reading?.dataset ?? null,
      rowsRead: reading?.rows_read ?? null,
      rowsTotal: reading?.rows_total ?? null,
    })
    const newer = await releaseAfter(pool, agentVersionOf(request.headers['user-agent']))
    const isOld = newer !== null && receivedAt.getTime() - newer.publishedAt.getTime() > releaseOldMs
    const observed = observedProblems(body, { isOld, nowMs: receivedAt.getTime() })
    const known = new Set(identity.locations.map(({ location_id }) => location_id))
    const own = reported?.filter(({ location_id: id }) => id === undefined || known.has(id)) ?? null
    await replaceProblems(pool, agentId, { reported: own, observed }, receivedAt)
    const isOfThisEpoch = confirmed?.epoch === identity.epoch
    const taken = isOfThisEpoch ? await confirm(pool, agentId, known, body) : new Set<string>()
    const named = new Set(confirmed?.reads.flatMap(({ location_ids }) => location_ids))
    return { ...identity, not_confirmed: [...named.difference(taken)] }
  })
}

/** Which locations' reads were taken. */
async function confirm(
  pool: Pool,
  agentId: AgentId,
  known: ReadonlySet<string>,
  body: IngestBodies['heartbeat'],
): Promise<ReadonlySet<string>> {
  const reads = body.confirmed?.reads ?? []
  const wanted = [...new Set(reads.flatMap(({ location_ids }) => location_ids))].filter((id) => known.has(id))
  // Those that `known` has are of the agent's organization.
  const own = await keepPlaces(pool, wanted as LocationId[], agentId)
  const finished = reads.flatMap(({ dataset, read_at, complete, location_ids }) => {
    const readAt = onServiceClock(read_at, body)
    return (location_ids as LocationId[])
      .filter((id) => own.has(id))
      .map((locationId) => ({ locationId, dataset, readAt, isComplete: complete }))
  })
  if (finished.length > 0) await finishReads(pool, finished)
  return own
}

/** Throws field_invalid for a text that is no date-time. */
function requireInstants({ sent_at, answered, confirmed }: IngestBodies['heartbeat']): void {
  const all = [
    ['sent_at', sent_at],
    ...(answered
      ? [['answered.at', answered.at] as const, ['answered.server_time', answered.server_time] as const]
      : []),
    ...(confirmed?.reads.map(({ read_at }) => ['read_at', read_at] as const) ?? []),
  ] as const
  for (const [name, text] of all) {
    if (parseInstant(text) === null)
      throw new Problem('field_invalid', { errors: `${name} must be an RFC 3339 date-time.` })
  }
}
