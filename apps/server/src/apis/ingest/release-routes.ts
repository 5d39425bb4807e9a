import { limits } from '@bridgework/contract'
import { ingestBodies } from '@bridgework/contract/ingest'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { agentVersionOf } from '../../modules/agents/agent-contact.ts'
import { type AgentRelease, noteFailedRelease, readReleasePart, releaseAfter } from '../../modules/agents/release.ts'
import { takesAgentUpdates } from '../../modules/directory/organization.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { readJson } from '../../platform/http/body/read-json.ts'
import { agentOf } from './authorize.ts'
import { jsonBounds } from './lines/body.ts'
import type { LargeBodies } from './lines/large-bodies.ts'
import { serve, serveBody } from './serve.ts'

/** Releases of the agent: what an agent was offered at its contact, it gets here in parts, each of which it may ask for again. */
export function registerReleases(app: FastifyInstance, { pool }: { pool: Pool }, largeBodies: LargeBodies): void {
  serve(app, 'getReleasePart', {}, async (request) => {
    const { version, number } = request.params as { version: string; number: string }
    const offered = await findOffered(pool, request)
    const isPart = /^\d{1,4}$/.test(number) && Number(number) * limits.agentReleasePartBytes < (offered?.size ?? 0)
    if (offered?.version !== version || !isPart) throw new Problem('release_unknown')
    const bytes = await readReleasePart(pool, version, Number(number))
    if (bytes === null) throw new Problem('release_unknown')
    return { bytes: bytes.toString('base64') }
  })

  serveBody(app, 'reportRelease', { largeBodies }, async (request, incoming) => {
    const { version } = request.params as { version: string }
    const { outcome } = readJson(ingestBodies.reportRelease, await incoming.json(jsonBounds))
    if (!/^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version)) throw new Problem('release_unknown')
    await noteFailedRelease(pool, agentOf(request).agentId, { version, outcome })
    return {}
  })
}

/** The release that the agent of this request should install, as the contract has it; null: none. */
export async function releaseFor(pool: Pool, request: FastifyRequest) {
  const offered = await findOffered(pool, request)
  return offered && { version: offered.version, size: offered.size, sha256: offered.sha256 }
}

/** The release that the agent of this request should install: only where its organization has turned updates on, and only a newer one. */
async function findOffered(pool: Pool, request: FastifyRequest): Promise<AgentRelease | null> {
  if (!(await takesAgentUpdates(pool, agentOf(request).organizationId))) return null
  return await releaseAfter(pool, agentVersionOf(request.headers['user-agent']))
}
