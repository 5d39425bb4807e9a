import { acknowledgedHeader, type IngestAnswers } from '@bridgework/contract/ingest'
import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { highestNumber } from '../../modules/agents/agent-number.ts'
import { startProcess } from '../../modules/agents/agent-process.ts'
import { epochOf } from '../../modules/agents/epoch.ts'
import { listWrittenByOthers } from '../../modules/agents/location-writer.ts'
import { listNotesGranted } from '../../modules/consent/notes.ts'
import { listLocations } from '../../modules/directory/location.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { agentOf, startOf } from './authorize.ts'
import { releaseFor } from './release-routes.ts'

/**
 * Who the agent of this request is to the service, and what people decided. Takes the process that it says, or refuses it with `agent_copied`. Refuses an agent to which the service of this epoch has acknowledged an
 * upload that it never had, with `restore_unmarked`.
 */
export async function identityOf(
  request: FastifyRequest,
  { pool, now }: { pool: Pool; now: () => Date },
): Promise<IngestAnswers['identifyAgent']> {
  const agent = agentOf(request)
  const highest = await highestNumber(pool, agent.agentId)
  const { timeZone } = await requireOrganization(pool, agent.organizationId)
  const locations = await listLocations(pool, agent.organizationId)
  const ids = locations.map(({ id }) => id)
  let epoch = await epochOf(pool, agent.agentId, ids)
  refuseLost(request, highest, epoch)
  const start = startOf(request)
  const isAnother = start !== null && start.id !== agent.processId
  if (isAnother && (await startProcess(pool, agent.agentId, start))) epoch = await epochOf(pool, agent.agentId, ids)
  const sourceIds = new Map(locations.map(({ id, sourceId }) => [id, sourceId]))
  const others = await listWrittenByOthers(pool, ids, agent.agentId)
  return {
    agent_id: agent.agentId,
    organization_id: agent.organizationId,
    server_time: now().toISOString(),
    highest_number: highest === null ? null : Number(highest),
    epoch,
    release: await releaseFor(pool, request),
    time_zone: timeZone,
    location_time_zones: locations.flatMap(({ sourceId, assignedTimeZone }) =>
      assignedTimeZone === null ? [] : [{ source_id: sourceId, time_zone: assignedTimeZone }],
    ),
    notes: (await listNotesGranted(pool, ids)).map(({ locationId, dataset, since }) => ({
      source_id: sourceIds.get(locationId) ?? '',
      dataset,
      since: since.toISOString(),
    })),
    written_by_others: locations.flatMap(({ id, sourceId, name }) => {
      const writer = others.get(id)
      const contact = writer?.lastContactAt?.toISOString() ?? null
      return writer ? [{ source_id: sourceId, name, agent_name: writer.name, last_contact_at: contact }] : []
    }),
    locations: locations.flatMap(({ id, sourceId, closedAt }) =>
      closedAt === null ? [{ source_id: sourceId, location_id: id }] : [],
    ),
  }
}

function refuseLost(request: FastifyRequest, highest: string | null, epoch: string): void {
  const [, number, known] =
    /^([1-9]\d{0,15}) (\S+)$/.exec(String(request.headers[acknowledgedHeader.toLowerCase()])) ?? []
  if (known !== epoch || Number(number) <= Number(highest ?? 0)) return
  throw new Problem('restore_unmarked', { retryAfterSeconds: 300, because: 'an acknowledged upload is unknown' })
}
