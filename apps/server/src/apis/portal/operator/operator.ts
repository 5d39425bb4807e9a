import { mayDo, sortColumns } from '@bridgework/contract/portal'
import { servicePlotOf } from '../../../modules/activity/service-minute.ts'
import { agentsOf } from '../../../modules/agents/agent-state.ts'
import { listAgreements, publishAgreement } from '../../../modules/credentials/agreement.ts'
import {
  closeCompany,
  companyStates,
  resumeCompany,
  setCompanyVerified,
  suspendCompany,
} from '../../../modules/directory/company.ts'
import { countDisclosures } from '../../../modules/disclosure/store.ts'
import { measureMail } from '../../../modules/mail/backlog.ts'
import { createTenant } from '../../../modules/membership/create-tenant.ts'
import { tenantIdOf } from '../../../modules/membership/tenant.ts'
import { pageOfAgents, statesOfAgents } from '../../../modules/overview/agents.ts'
import { countCompanies } from '../../../modules/overview/directory-counts.ts'
import { listSlotsInUse, listTokenAttempts } from '../../../modules/overview/limits-in-use.ts'
import { countHeldRemovals, listCurrentRemovals, listRerenderBacklog } from '../../../modules/overview/sync-health.ts'
import { pageOfCompanies, pageOfOrganizations } from '../../../modules/overview/tenants.ts'
import { inviteMember } from '../../../modules/sign-in/invitation.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { measureDatabase } from '../../../platform/database/size.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type CompanyId, parseUuid } from '../../../platform/identity/identity.ts'
import { problemsByAgent } from '../shared/agent-problems.ts'
import { readingsOf } from '../shared/agent-reading.ts'
import { actorOf, recordOperation, requireReasonFor } from '../shared/audit.ts'
import type { Call, PortalContext, PortalHandlers } from '../shared/context.ts'
import { readListPage, toListed } from '../shared/list.ts'
import { readChoice, readSort } from '../shared/query.ts'
import { operatorCompanies, toOperatorAgent } from './operator-pages.ts'

/** What the people who run the installation do and see. */
export const operatorHandlers: PortalHandlers<
  | 'getOperatorOverview'
  | 'listOperatorCompanies'
  | 'createOperatorCompany'
  | 'setCompanyState'
  | 'setCompanyVerification'
  | 'listOperatorOrganizations'
  | 'createOperatorOrganization'
  | 'listOperatorAgents'
  | 'getServicePlot'
  | 'getJobs'
  | 'getLimits'
  | 'listAgreements'
  | 'publishAgreement'
> = {
  getOperatorOverview: async ({ pool, environment, installationSurvey }) => {
    const [database, { notVerified, companies }, survey, disclosures, removals] = await Promise.all([
      measureDatabase(pool),
      countCompanies(pool),
      installationSurvey(),
      countDisclosures(pool),
      countHeldRemovals(pool),
    ])
    const { freshness, agents, organizations, locations, records } = survey
    return {
      environment,
      started_at: new Date(performance.timeOrigin).toISOString(),
      database: {
        version: database.version,
        size_bytes: database.sizeBytes,
        largest_tables: database.largestTables.map(({ name, sizeBytes, rows }) => ({
          name,
          size_bytes: sizeBytes,
          rows,
        })),
      },
      counts: {
        ...{ companies, organizations, locations, records, disclosures },
        agents: agents.connected + agents.silent + agents.never_heard,
      },
      agents,
      freshness: freshness.counts,
      not_current: freshness.notCurrent.map(({ locationId, name, organizationId, organizationName, state }) => ({
        location_id: locationId,
        name,
        organization_id: organizationId,
        organization_name: organizationName,
        state,
      })),
      removals_held: removals,
      companies_not_verified: notVerified,
    }
  },

  listOperatorCompanies: async ({ pool }, { query }) => {
    const page = readListPage(query)
    const { total, companies } = await pageOfCompanies(pool, {
      ...page,
      state: readChoice(query, 'state', companyStates),
      isVerified: verifiedChoices[readChoice(query, 'verified', ['yes', 'no']) ?? 'any'],
      sort: readSort(query, sortColumns.companies),
    })
    return toListed(page, total, await operatorCompanies(pool, companies))
  },

  createOperatorCompany: (context, call) => create(context, call, 'company'),

  setCompanyState: async ({ pool }, call) => {
    const id = parseUuid<CompanyId>(call.params.company_id ?? '')
    if (id === null) throw new Problem('company_unknown')
    const { state } = call.body
    const action = state === 'closed' ? 'operator.company_close' : 'operator.company_suspend'
    if (!mayDo(call.member.role, action, 'operator'))
      throw new Problem('role_denied', { because: `${call.member.role}: ${action}` })
    await withTransaction(pool, async (client) => {
      const company = await changes[state](client, id)
      await recordOperation(client, call, action, { company, state }, { side: 'company', id })
    })
    return { done: true }
  },

  setCompanyVerification: async ({ pool }, call) => {
    const id = parseUuid<CompanyId>(call.params.company_id ?? '')
    if (id === null) throw new Problem('company_unknown')
    const { is_verified: isVerified } = call.body
    if (!isVerified) requireReasonFor(call, 'Say why the company is no longer verified.')
    await withTransaction(pool, async (client) => {
      const company = await setCompanyVerified(client, id, isVerified ? actorOf(call) : null)
      await recordOperation(client, call, 'operator.company_verify', { company, isVerified }, { side: 'company', id })
    })
    return { done: true }
  },

  listOperatorOrganizations: async ({ pool }, { query }) => {
    const page = readListPage(query)
    const { total, organizations } = await pageOfOrganizations(pool, {
      ...page,
      sort: readSort(query, sortColumns.organizations),
    })
    const agents = await agentsOf(
      pool,
      organizations.map((each) => each.id),
    )
    const data = organizations.map((each) => ({
      id: each.id,
      name: each.name,
      owner_email: each.ownerEmail,
      second_factor_required: each.isSecondFactorRequired,
      created_at: each.createdAt.toISOString(),
      locations: each.locations,
      agents: agents.get(each.id)?.agents ?? 0,
      last_contact_at: agents.get(each.id)?.lastContactAt?.toISOString() ?? null,
    }))
    return toListed(page, total, data)
  },

  createOperatorOrganization: (context, call) => create(context, call, 'organization'),

  listOperatorAgents: async (context, { query }) => {
    const { pool, now } = context
    const page = readListPage(query)
    const { total, agents } = await pageOfAgents(pool, { ...page, sort: readSort(query, sortColumns.agents) })
    const ids = agents.map(({ id }) => id)
    const problemsOf = await problemsByAgent(pool, ids, [])
    const readingOf = await readingsOf(context, ids)
    const stateOf = await statesOfAgents(pool, agents, now())
    return toListed(
      page,
      total,
      agents.map((agent) =>
        toOperatorAgent(agent, {
          problems: problemsOf(agent.id),
          state: stateOf(agent),
          reading: readingOf(agent.id),
        }),
      ),
    )
  },

  getServicePlot: ({ pool, now }, { query }) =>
    servicePlotOf(pool, readChoice(query, 'range', ['1h', '24h', '7d']) ?? '1h', now()),

  getJobs: async ({ pool }) => {
    const [rerendering, mail, removals] = await Promise.all([
      listRerenderBacklog(pool),
      measureMail(pool),
      listCurrentRemovals(pool),
    ])
    return {
      rerendering: rerendering.map((each) => ({ ...each, since: each.since.toISOString() })),
      mail: {
        waiting: mail.waiting,
        failing: mail.failing,
        oldest_at: mail.oldestAt?.toISOString() ?? null,
        last_error: mail.lastError,
      },
      removals: removals.map((each) => ({ ...each, held_at: each.held_at.toISOString() })),
    }
  },

  getLimits: async ({ pool, slots, tokenLimit }) => {
    const [inUse, attempts] = await Promise.all([listSlotsInUse(pool), listTokenAttempts(pool, tokenLimit.windowMs)])
    return {
      slots: inUse.map((each) => ({
        company_id: each.companyId,
        company_name: each.companyName,
        sync_type: each.syncType,
        location_ids: each.locationIds,
        max: slots.limits[each.syncType],
      })),
      token_attempts: attempts.map(({ address, admitted, oldestAt }) => ({
        address,
        admitted,
        max: tokenLimit.max,
        oldest_at: oldestAt.toISOString(),
      })),
    }
  },

  listAgreements: async ({ pool }) => {
    const [versions, { companies }] = await Promise.all([listAgreements(pool, agreementsMax), countCompanies(pool)])
    const data = versions.map((each) => ({
      version: each.version,
      body: each.body,
      published_at: each.publishedAt.toISOString(),
      enforced_at: each.enforcedAt.toISOString(),
      accepted_by_companies: each.companies,
    }))
    return { data, companies }
  },

  publishAgreement: async ({ pool, now }, call) => {
    const { version, body, grace_period_days: days } = call.body
    const enforcedAt = new Date(now().getTime() + days * 86_400_000)
    await publishAgreement(pool, { version, body, enforcedAt }, (client) =>
      recordOperation(client, call, 'operator.agreement_publish', { version, graceDays: days }),
    )
    return { done: true }
  },
}

const verifiedChoices = { yes: true, no: false, any: null }

/** Of the versions the newest, each with its whole text. */
const agreementsMax = 50

/** Makes a company or an organization, and invites its owner: both or neither. */
async function create(
  context: PortalContext,
  call: Call<'createOperatorCompany' | 'createOperatorOrganization'>,
  side: 'company' | 'organization',
): Promise<{ id: string }> {
  return await withTransaction(context.pool, async (client) => {
    const owner = await createTenant(client, side, call.body)
    await inviteMember(client, context, owner, call.person.name)
    const id = tenantIdOf(owner.tenant)
    const made = { id, name: call.body.name.trim() }
    await recordOperation(client, call, `operator.${side}_create`, { made }, { side, id })
    return { id }
  })
}

const changes = { active: resumeCompany, suspended: suspendCompany, closed: closeCompany }
