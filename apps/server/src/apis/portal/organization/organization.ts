import { datasetNames, datasetsWithNotes, getDataset, hasPatientData } from '@bridgework/contract'
import type { AgentEntry, AgentProblem, AgentState, OrganizationPage, ReadProgress } from '@bridgework/contract/portal'
import { type Agent, createEnrolmentCode, listAgents, revokeAgent } from '../../../modules/agents/agent-key.ts'
import { takeOverProcess } from '../../../modules/agents/agent-process.ts'
import { takeOver } from '../../../modules/agents/location-writer.ts'
import { newestRelease } from '../../../modules/agents/release.ts'
import { recordAudit } from '../../../modules/audit/store.ts'
import { listAccessRequests } from '../../../modules/consent/access-request.ts'
import { companiesWithAccess } from '../../../modules/consent/grant.ts'
import { companyNames, listRenames } from '../../../modules/directory/company.ts'
import { assignTimeZone, listLocations } from '../../../modules/directory/location.ts'
import {
  dismissFirstSteps,
  firstStepsDismissedAt,
  requireOrganization,
  setAgentUpdates,
  takesAgentUpdates,
  updateOrganization,
} from '../../../modules/directory/organization.ts'
import { listMembers } from '../../../modules/membership/member.ts'
import { statesOfAgents } from '../../../modules/overview/agents.ts'
import { surveyFreshness } from '../../../modules/overview/sync-health.ts'
import { countWaiting } from '../../../modules/overview/waiting.ts'
import { listRemovals } from '../../../modules/records/removals/removal-store.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type AgentId, parseNumericId } from '../../../platform/identity/identity.ts'
import { problemsByAgent } from '../shared/agent-problems.ts'
import { readingsOf } from '../shared/agent-reading.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { readListPage } from '../shared/list.ts'
import { requireOwnLocation } from '../shared/own-location.ts'
import { readChoice } from '../shared/query.ts'
import { enrolmentSystems } from './agent-commands.ts'
import { countWithTwoAgents, firstSyncs, locationPage, locationsPage } from './locations.ts'
import { toFormerName } from './vendors.ts'

/** What the people of a practice see of it: itself, its locations, and the agents that read them. */
export const organizationHandlers: PortalHandlers<
  | 'getOrganization'
  | 'countWaiting'
  | 'updateOrganization'
  | 'dismissFirstSteps'
  | 'listLocations'
  | 'getLocation'
  | 'updateLocation'
  | 'takeOverLocation'
  | 'takeOverAgent'
  | 'listAgents'
  | 'setAgentUpdates'
  | 'createEnrolmentCode'
  | 'revokeAgent'
> = {
  getOrganization: async (context, { member: { organizationId } }) => {
    const { pool, lastContactOf, now } = context
    const [organization, locations, agents, vendors, requests, members, dismissedAt] = await Promise.all([
      requireOrganization(pool, organizationId),
      listLocations(pool, organizationId),
      listAgents(pool, organizationId, agentsMax),
      companiesWithAccess(pool, organizationId),
      listAccessRequests(pool, { organizationId }),
      listMembers(pool, { side: 'organization', id: organizationId }),
      firstStepsDismissedAt(pool, organizationId),
    ])
    const locationIds = locations.map(({ id }) => id)
    const states = agents.map(await statesOfAgents(pool, agents, now()))
    const open = requests.filter(({ state }) => state === 'open').map(({ companyId }) => companyId)
    const living = agents.filter(({ revokedAt }) => revokedAt === null)
    const livingIds = living.map(({ id }) => id)
    const [removals, withTwoAgents, freshness, renames, names, problemsOf] = await Promise.all([
      listRemovals(pool, locationIds),
      countWithTwoAgents(context, locationIds),
      surveyFreshness(pool, organizationId, lastContactOf, now()),
      listRenames(pool, vendors),
      companyNames(pool, open),
      problemsByAgent(pool, livingIds, locations),
    ])
    const pending = freshness.notCurrent.filter(({ state }) => state === 'pending')
    return {
      id: organization.id,
      name: organization.name,
      time_zone: organization.timeZone,
      country: organization.country,
      created_at: organization.createdAt.toISOString(),
      locations: locations.length,
      agents: {
        living: living.length,
        connected: states.filter((state) => state === 'connected').length,
        missed: states.filter((state) => state === 'silent' || state === 'never_heard').length,
      },
      removals: removals.filter((removal) => removal.state === 'held').length,
      vendors: vendors.length,
      access_requests: open.map((id) => ({ company_id: id, company_name: names.get(id) ?? '' })),
      renamed_vendors: renames.map(toFormerName),
      members: members.length,
      first_steps_dismissed_at: dismissedAt?.toISOString() ?? null,
      locations_by_state: freshness.counts,
      locations_not_current: freshness.notCurrent.map(({ locationId, name, state }) => ({
        id: locationId,
        name,
        state,
      })),
      agent_problems: living
        .map(({ id, name }) => ({ agent_id: id, name, problems: problemsOf(id) }))
        .filter(({ problems }) => problems.length > 0),
      first_syncs: await firstSyncs(context, pending),
      locations_with_two_agents: withTwoAgents,
      agents_with_copies: living.filter(({ copy }) => copy !== null).length,
      datasets: datasetNames.map((name) => ({
        dataset: name,
        title: getDataset(name).title,
        has_patient_data: hasPatientData(name),
        has_notes: datasetsWithNotes.includes(name),
      })),
    } satisfies OrganizationPage
  },

  countWaiting: ({ pool }, { member }) => countWaiting(pool, member.organizationId),

  updateOrganization: async ({ pool }, call) => {
    const { name, time_zone: timeZone } = call.body
    await withTransaction(pool, async (client) => {
      await updateOrganization(client, call.member.organizationId, { name, timeZone })
      const facts = { name: name.trim(), ...(timeZone !== undefined && { timeZone }) }
      await recordAudit(client, entryOf(call, 'organization.update', facts))
    })
    return { done: true }
  },

  dismissFirstSteps: async ({ pool }, { member }) => {
    await dismissFirstSteps(pool, member.organizationId)
    return { done: true }
  },

  listLocations: (context, { member, query }) => locationsPage(context, member.organizationId, readListPage(query)),

  getLocation: async (context, { member, params, query }) => {
    const location = await requireOwnLocation(context.pool, member.organizationId, params.location_id)
    return await locationPage(context, location, readChoice(query, 'range', ['24h', '7d']) ?? '24h')
  },

  updateLocation: async ({ pool }, call) => {
    const location = await requireOwnLocation(pool, call.member.organizationId, call.params.location_id)
    const { time_zone: timeZone } = call.body
    await withTransaction(pool, async (client) => {
      await assignTimeZone(client, location.id, timeZone)
      await recordAudit(client, entryOf(call, 'location.update', { location, timeZone }))
    })
    return { done: true }
  },

  takeOverLocation: async ({ pool }, call) => {
    const { organizationId } = call.member
    const location = await requireOwnLocation(pool, organizationId, call.params.location_id)
    const agentId = parseNumericId<AgentId>(call.body.agent_id)
    if (agentId === null) throw new Problem('agent_unknown')
    await withTransaction(pool, async (client) => {
      const { name } = await takeOver(client, { locationId: location.id, agentId, organizationId })
      await recordAudit(client, entryOf(call, 'agent.take_over', { agent: { id: agentId, name }, location }))
    })
    return { done: true }
  },

  takeOverAgent: async ({ pool }, call) => {
    const { organizationId } = call.member
    const agentId = parseNumericId<AgentId>(call.params.agent_id ?? '')
    if (agentId === null) throw new Problem('agent_unknown')
    await withTransaction(pool, async (client) => {
      const copy = { agentId, processId: call.body.process_id, organizationId }
      const { name } = await takeOverProcess(client, copy)
      await recordAudit(client, entryOf(call, 'agent.take_over', { agent: { id: agentId, name } }))
    })
    return { done: true }
  },

  listAgents: async (context, { member: { organizationId } }) => {
    const { pool, now } = context
    const agents = await listAgents(pool, organizationId, agentsMax)
    const living = agents.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id)
    const problemsOf = await problemsByAgent(pool, living, await listLocations(pool, organizationId))
    const readingOf = await readingsOf(context, living)
    const stateOf = await statesOfAgents(pool, agents, now())
    return {
      data: agents.map((agent) => toEntry(agent, stateOf(agent), problemsOf(agent.id), readingOf(agent.id))),
      takes_updates: await takesAgentUpdates(pool, organizationId),
      newest_release: (await newestRelease(pool))?.version ?? null,
    }
  },

  setAgentUpdates: async ({ pool }, call) => {
    const { is_on: isOn } = call.body
    await withTransaction(pool, async (client) => {
      const isChanged = await setAgentUpdates(client, call.member.organizationId, isOn)
      if (isChanged) await recordAudit(client, entryOf(call, 'agent_updates.change', { isOn }))
    })
    return { done: true }
  },

  createEnrolmentCode: async ({ pool, secretKey, publicUrl, agentPackages }, call) => {
    const { code, expiresAt } = await createEnrolmentCode(
      pool,
      secretKey,
      { organizationId: call.member.organizationId },
      (client) => recordAudit(client, entryOf(call, 'agent.enroll', {})),
    )
    return {
      code,
      expires_at: expiresAt.toISOString(),
      systems: enrolmentSystems({ publicUrl, code, packages: await agentPackages() }),
    }
  },

  revokeAgent: async ({ pool }, call) => {
    const agentId = parseNumericId<AgentId>(call.params.agent_id ?? '')
    if (agentId === null) throw new Problem('agent_unknown')
    await withTransaction(pool, async (client) => {
      const { name } = await revokeAgent(client, agentId, call.member.organizationId)
      await recordAudit(client, entryOf(call, 'agent.revoke', { agent: { id: agentId, name } }))
    })
    return { done: true }
  },
}

/** More are not shown; a practice has one for each of its databases. */
const agentsMax = 500

function toEntry(agent: Agent, state: AgentState, problems: AgentProblem[], reading: ReadProgress | null): AgentEntry {
  return {
    id: agent.id,
    name: agent.name,
    version: agent.version,
    enrolled_at: agent.enrolledAt.toISOString(),
    revoked_at: agent.revokedAt?.toISOString() ?? null,
    last_contact_at: agent.lastContactAt?.toISOString() ?? null,
    state,
    failed_release:
      agent.failedRelease === null || agent.failedReleaseOutcome === null
        ? null
        : { version: agent.failedRelease, outcome: agent.failedReleaseOutcome },
    problems,
    reading,
    computer: agent.computer,
    copy: agent.copy && {
      process_id: agent.copy.processId,
      computer: agent.copy.computer,
      at: new Date(agent.copy.at).toISOString(),
    },
  }
}
