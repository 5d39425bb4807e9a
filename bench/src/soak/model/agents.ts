import { ingestUrl } from '@bridgework/contract/ingest'
import { takeOver as nameWriter } from '@bridgework/server/src/modules/agents/location-writer.ts'
import type { LocationId } from '@bridgework/server/src/platform/identity/identity.ts'
import { isLater, tellOnce } from './clients.ts'
import { type LastUploads, requireStatus } from './sent/uploads.ts'
import { persist } from './waiting.ts'
import type { Organization, World } from './world.ts'

/**
 * A person names the agent that has waited as the writer of all locations. The other one is refused from then on, also with an upload that it sent
 * before, and what it sent counts as sent before any list of the new one.
 */
export async function takeOver(world: World, last: LastUploads, organization: Organization): Promise<void> {
  const { id: organizationId, agent: before, other: agent, locations } = organization
  for (const { id } of locations) {
    const named = { locationId: id as LocationId, agentId: agent.agentId, organizationId }
    await persist(world, () => nameWriter(world.pool, named))
  }
  // What it numbered before the other one wrote is refused: for each location the service has moved its numbers on by a million.
  const number = agent.number + locations.length * 1_000_000
  organization.agent = { ...agent, number, sinceNumber: number }
  organization.other = before
  last.delete(organizationId)
  world.counts.acts += 1
  for (const location of locations) {
    for (const { records } of Object.values(location.datasets))
      for (const record of records.values()) record.namedBy = 0
    world.note(location.id, `agent ${agent.agentId} takes over from ${before.agentId}`)
  }
  const location = organization.random.pick(locations)
  const refused = await tellOnce(before, world.wire.pick(world.service.servers), {
    method: 'POST',
    path: ingestUrl('sendRecords', { location_id: location.id, dataset: 'patients' }),
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': `${before.agentId}-${before.number}` },
    body: '{"source_id":"1","removed":true}',
  })
  if (refused.outcome === 'whole' && !isLater(refused))
    requireStatus(location, 'an upload of an agent that was replaced', refused, 409, 'location_written')
}
