import type { Pool } from 'pg'
import type { AgentId, LocationId, OrganizationId } from '../../../platform/identity/identity.ts'
import { requireWriter } from '../../agents/location-writer.ts'

/** Makes an agent that writes at the location, under fence 1. Every location has one of its own, with its id: an agent gives each number once. */
export async function addWriter(pool: Pool, organizationId: OrganizationId, locationId: LocationId): Promise<AgentId> {
  const agentId = String(locationId) as AgentId
  await pool.query(
    `insert into agent (id, organization_id, name, key_hmac, secret_key_id) values ($1, $2, 'Agent', int8send($1), '')`,
    [agentId, organizationId],
  )
  await requireWriter(pool, locationId, agentId)
  return agentId
}
