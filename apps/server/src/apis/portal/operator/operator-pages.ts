import type { OperatorAgent, OperatorCompany, PlotRange } from '@bridgework/contract/portal'
import type { Pool } from 'pg'
import { activityOf, agentActivityOf } from '../../../modules/activity/plots.ts'
import { listAgents } from '../../../modules/agents/agent-key.ts'
import { listWriters, listWrittenBy } from '../../../modules/agents/location-writer.ts'
import { companiesInForce } from '../../../modules/credentials/agreement.ts'
import { companiesWithKeyPair } from '../../../modules/credentials/key-pair.ts'
import { type Location, listLocations, requireLocation } from '../../../modules/directory/location.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import { requireAgentEntry, statesOfAgents } from '../../../modules/overview/agents.ts'
import { countOrganizationsOf, listGrantingOrganizations } from '../../../modules/overview/connection.ts'
import { requireCompanyEntry } from '../../../modules/overview/tenants.ts'
import { lastRequestsOf } from '../../../modules/usage/request-log.ts'
import { usageOf } from '../../../modules/usage/usage.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import {
  type AgentId,
  type CompanyId,
  type LocationId,
  type OrganizationId,
  parseNumericId,
  parseUuid,
} from '../../../platform/identity/identity.ts'
import { entriesOf } from '../organization/locations.ts'
import { problemsByAgent } from '../shared/agent-problems.ts'
import { readingsOf } from '../shared/agent-reading.ts'
import type { PortalContext, PortalHandlers } from '../shared/context.ts'
import { type Query, readChoice } from '../shared/query.ts'

/** More agents of a practice are not shown. */
const agentsMax = 500

/** What the operator sees of one company, practice, agent or location: names, states and counts, nothing of a patient. */
export const operatorPageHandlers: PortalHandlers<
  'getOperatorCompany' | 'getOperatorOrganization' | 'getOperatorAgent' | 'getOperatorLocation'
> = {
  getOperatorCompany: async ({ pool, now }, { params, query }) => {
    const range = readRange(query)
    const id = parseUuid<CompanyId>(params.company_id ?? '')
    if (id === null) throw new Problem('company_unknown')
    const [[company], usage, grantedBy] = await Promise.all([
      requireCompanyEntry(pool, id).then((found) => operatorCompanies(pool, [found])),
      usageOf(pool, id, range, now()),
      listGrantingOrganizations(pool, id, 100),
    ])
    if (!company) throw new Error('a company without its entry')
    return { ...company, usage, granted_by: grantedBy }
  },

  getOperatorOrganization: async (context, { params, query }) => {
    const { pool, now } = context
    const range = readRange(query)
    const id = parseNumericId<OrganizationId>(params.organization_id ?? '')
    if (id === null) throw new Problem('organization_unknown')
    const [organization, locations, agents] = await Promise.all([
      requireOrganization(pool, id),
      listLocations(pool, id),
      listAgents(pool, id, agentsMax),
    ])
    const stateOf = await statesOfAgents(pool, agents, now())
    return {
      id: organization.id,
      name: organization.name,
      time_zone: organization.timeZone,
      created_at: organization.createdAt.toISOString(),
      locations: await namedLocations(context, locations),
      agents: agents.map((agent) => ({
        id: agent.id,
        name: agent.name,
        state: stateOf(agent),
        last_contact_at: agent.lastContactAt?.toISOString() ?? null,
      })),
      activity: await activityOf(pool, locations.map(idOf), range, now()),
    }
  },

  getOperatorAgent: async (context, { params, query }) => {
    const { pool, now } = context
    const range = readRange(query)
    const id = parseNumericId<AgentId>(params.agent_id ?? '')
    if (id === null) throw new Problem('agent_unknown')
    const [agent, written] = await Promise.all([requireAgentEntry(pool, id), listWrittenBy(pool, id)])
    const ofPractice = await listLocations(pool, agent.organization_id)
    const locations = ofPractice.filter((each) => written.includes(each.id))
    const problemsOf = await problemsByAgent(pool, [id], ofPractice)
    const reading = (await readingsOf(context, [id]))(id)
    const [requests, activity, named] = await Promise.all([
      agentActivityOf(pool, id, range, now()),
      activityOf(pool, written, range, now()),
      namedLocations(context, locations),
    ])
    const stateOf = await statesOfAgents(pool, [agent], now())
    const shown = toOperatorAgent(agent, { problems: problemsOf(id), state: stateOf(agent), reading })
    return { ...shown, locations: named, requests, activity }
  },

  getOperatorLocation: async (context, { params, query }) => {
    const { pool, now } = context
    const range = readRange(query)
    const id = parseNumericId<LocationId>(params.location_id ?? '')
    if (id === null) throw new Problem('location_unknown')
    const location = await requireLocation(pool, id)
    const [organization, [entry], writers, activity] = await Promise.all([
      requireOrganization(pool, location.organizationId),
      entriesOf(context, [location]),
      listWriters(pool, [id]),
      activityOf(pool, [id], range, now()),
    ])
    const writer = writers.get(id)
    return {
      id: location.id,
      name: location.name,
      is_active: location.isActive,
      state: entry?.state ?? 'pending',
      organization_id: organization.id,
      organization_name: organization.name,
      time_zone: location.timeZone,
      practice_management_system: location.practiceManagementSystem,
      agent: writer ? { id: writer.agentId, name: writer.name } : null,
      datasets: (entry?.datasets ?? []).map(({ dataset, title, state, synced_at, visible }) => ({
        dataset,
        title,
        state,
        synced_at,
        records: visible,
      })),
      activity,
    }
  },
}

/** Companies as the operator's pages show them. */
export async function operatorCompanies(
  pool: Pool,
  companies: readonly Awaited<ReturnType<typeof requireCompanyEntry>>[],
): Promise<OperatorCompany[]> {
  const ids = companies.map((company) => company.id)
  const [inForce, withKeyPair, organizations, lastRequests] = await Promise.all([
    companiesInForce(pool, ids),
    companiesWithKeyPair(pool, ids),
    countOrganizationsOf(pool, ids),
    lastRequestsOf(pool, ids),
  ])
  return companies.map((company) => ({
    id: company.id,
    name: company.name,
    state: company.state,
    owner_email: company.ownerEmail,
    second_factor_required: company.isSecondFactorRequired,
    created_at: company.createdAt.toISOString(),
    agreement_in_force: inForce.has(company.id),
    has_live_key_pair: withKeyPair.has(company.id),
    organizations: organizations.get(company.id) ?? 0,
    last_request_at: lastRequests.get(company.id)?.toISOString() ?? null,
    verified_at: company.verifiedAt?.toISOString() ?? null,
    verified_by: company.verifiedBy,
    legal_name: company.legalName,
    website: company.website,
    contact: company.contact,
    verified_domain: company.verifiedDomain,
  }))
}

/** An agent as the operator's pages show it. */
export function toOperatorAgent(
  agent: Awaited<ReturnType<typeof requireAgentEntry>>,
  { problems, state, reading }: Pick<OperatorAgent, 'problems' | 'state' | 'reading'>,
): OperatorAgent {
  return {
    id: agent.id,
    name: agent.name,
    version: agent.version,
    organization_id: agent.organization_id,
    organization_name: agent.organization_name,
    enrolled_at: agent.enrolled_at.toISOString(),
    last_contact_at: agent.lastContactAt?.toISOString() ?? null,
    state,
    problems: agent.revokedAt === null ? problems : [],
    reading: agent.revokedAt === null ? reading : null,
  }
}

async function namedLocations(context: PortalContext, locations: readonly Location[]) {
  const entries = await entriesOf(context, locations)
  return entries.map(({ id, name, is_active, state }) => ({ id, name, is_active, state }))
}

function idOf({ id }: Location): LocationId {
  return id
}

function readRange(query: Query): PlotRange {
  return readChoice(query, 'range', ['24h', '7d', '30d']) ?? '24h'
}
