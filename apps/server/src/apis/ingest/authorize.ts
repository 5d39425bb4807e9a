import { type DatasetName, hasInstants, isDatasetName } from '@bridgework/contract'
import {
  contractHeader,
  type ProcessStart,
  processHeader,
  processStartHeader,
  readProcessStart,
} from '@bridgework/contract/ingest'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { agentVersionOf, createAgentContacts } from '../../modules/agents/agent-contact.ts'
import { type AgentPrincipal, authenticateAgent } from '../../modules/agents/agent-key.ts'
import { requireProcess } from '../../modules/agents/agent-process.ts'
import { requireWriter, type WriterPlace } from '../../modules/agents/location-writer.ts'
import type { SecretKey } from '../../modules/credentials/secret.ts'
import { findLocation } from '../../modules/directory/location.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { rawQuery } from '../../platform/http/server.ts'
import { type AgentId, type LocationId, type OrganizationId, parseNumericId } from '../../platform/identity/identity.ts'

type Known = {
  agent: AgentPrincipal
  locationId?: LocationId
  timeZone?: string | null
  dataset?: DatasetName
  place?: WriterPlace
}
const known = new WeakMap<FastifyRequest, Known>()

/** Every route of this instance is for agents. */
export function requireAgent(app: FastifyInstance, deps: { pool: Pool; secretKey: SecretKey; now: () => Date }): void {
  const contacts = createAgentContacts(deps)
  app.addHook('onRequest', async (request) => {
    const agent = await authenticateAgent(deps.pool, deps.secretKey, request.headers.authorization)
    known.set(request, { agent })
    const process = request.headers[processHeader.toLowerCase()]
    if (process !== undefined) await requireProcess(deps.pool, agent.agentId, agent.processId, String(process))
    const start = startOf(request)
    // A copy that is about to be refused does not speak for the one that runs. Set-up and check only ask: with them alone no agent runs.
    const isRunning = start === null ? process !== undefined || request.method !== 'GET' : start.id === agent.processId
    if (isRunning) await contacts.touchAgent(agent, agentVersionOf(request.headers['user-agent']))
    request.logNotes.agentId = agent.agentId
    if (rawQuery(request) !== '') throw new Problem('parameter_invalid', { errors: 'This path accepts no parameters.' })
  })
}

/** What the process says of its start; null: nothing. */
export function startOf(request: FastifyRequest): ProcessStart | null {
  const text = request.headers[processStartHeader.toLowerCase()]
  if (text === undefined) return null
  const start = readProcessStart(String(text))
  if (start === null) throw new Problem('parameter_invalid', { errors: `${processStartHeader} is not valid.` })
  return start
}

/** The path's location must be one of the agent's organization. */
export function requireLocation(pool: Pool) {
  return async (request: FastifyRequest): Promise<void> => {
    const { location_id: text } = request.params as { location_id: string }
    const locationId = parseNumericId<LocationId>(text)
    const location = locationId === null ? null : await findLocation(pool, locationId)
    if (!location) throw new Problem('location_unknown')
    if (location.organizationId !== agentOf(request).organizationId) throw new Problem('agent_denied')
    request.logNotes.locationId = location.id
    Object.assign(knownOf(request), { locationId: location.id, timeZone: location.timeZone })
  }
}

export async function requireDataset(request: FastifyRequest): Promise<void> {
  const { dataset } = request.params as { dataset: string }
  if (!isDatasetName(dataset)) throw new Problem('dataset_unknown')
  knownOf(request).dataset = dataset
}

/**
 * Records with instants are taken only of a location whose time zone is known: without one an agent made them with an offset that holds on some
 * days only.
 */
export async function requireTimeZone(request: FastifyRequest): Promise<void> {
  const { timeZone, dataset } = knownOf(request)
  if (timeZone === null && hasInstants(required(dataset))) throw new Problem('time_zone_required')
}

/** The agent must be the one that writes at the path's location. Throws location_written with the name of any other. */
export function requireLocationWriter(pool: Pool) {
  return async (request: FastifyRequest): Promise<void> => {
    knownOf(request).place = await requireWriter(pool, locationOf(request), agentOf(request).agentId)
  }
}

export function agentOf(request: FastifyRequest): AgentPrincipal {
  return knownOf(request).agent
}

/** The number of the contract that the agent says it knows. */
export function contractOf(request: FastifyRequest): number {
  return Number(request.headers[contractHeader.toLowerCase()] ?? 1)
}

/** The path's organization, which must be the agent's own. */
export function organizationOf(request: FastifyRequest): OrganizationId {
  const { organization_id: text } = request.params as { organization_id: string }
  const organizationId = parseNumericId<OrganizationId>(text)
  if (organizationId === null) throw new Problem('organization_unknown')
  if (organizationId !== agentOf(request).organizationId) throw new Problem('agent_denied')
  return organizationId
}

function locationOf(request: FastifyRequest): LocationId {
  return required(knownOf(request).locationId)
}

export function datasetOf(request: FastifyRequest): DatasetName {
  return required(knownOf(request).dataset)
}

/** The dataset of a location that an agent speaks of. */
export function keyOf(request: FastifyRequest): {
  locationId: LocationId
  dataset: DatasetName
  agentId: AgentId
  fence: string
} {
  const { agent } = knownOf(request)
  return {
    locationId: locationOf(request),
    dataset: datasetOf(request),
    agentId: agent.agentId,
    fence: placeOf(request).fence,
  }
}

/** The place of the location's writer, which the agent is. */
export function placeOf(request: FastifyRequest): WriterPlace {
  return required(knownOf(request).place)
}

function knownOf(request: FastifyRequest): Known {
  return required(known.get(request))
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a protected route without its hooks')
  return value
}
