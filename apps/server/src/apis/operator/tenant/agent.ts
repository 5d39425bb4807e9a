import { createEnrolmentCode, listAgents, revokeAgent } from '../../../modules/agents/agent-key.ts'
import { takeOverProcess } from '../../../modules/agents/agent-process.ts'
import { listProblems } from '../../../modules/agents/heartbeat.ts'
import { takeOver } from '../../../modules/agents/location-writer.ts'
import { type GroupedProblem, groupProblems } from '../../../modules/agents/problem-words.ts'
import { findLocation } from '../../../modules/directory/location.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { AgentId, LocationId, OrganizationId } from '../../../platform/identity/identity.ts'
import { list, table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { numericId, optional, required, wholeNumber } from '../option.ts'

/** The code with its table and datasets, and since when: the portal has the sentences. */
function problemText({ cause, datasets, since }: GroupedProblem): string {
  const of = datasets.length === 0 ? '' : ` (${datasets.join(', ')})`
  return `${cause}${of} since ${since.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export const agent: CommandGroup = {
  help: 'office agents',
  commands: {
    enroll: command({
      help: 'Generates a one-time code that enrolls one agent of the organization, and the command to run in the office.',
      act: 'agent.enroll',
      options: {
        organization: required('<id>', 'whose practices the agent reads', numericId<OrganizationId>),
        hours: optional('<number>', 'how long the code is valid (default: 24)', wholeNumber(24 * 30)),
      },
      run: async ({ pool, publicUrl, secretKey }, { organization, hours }, record) => {
        const { code, expiresAt } = await createEnrolmentCode(
          pool,
          await secretKey(),
          { organizationId: organization, lifetimeMs: (hours ?? 24) * 3_600_000 },
          (client) => record(client, {}, { side: 'organization', id: organization }),
        )
        const command = `bridgework-agent enroll --server ${publicUrl} --code ${code} --db-user <user>`
        return {
          data: { enrolmentCode: code, expiresAt, command },
          text: `${list({ code, expires: expiresAt })}\n\nIn the office:\n  ${command}`,
          note: 'The code is shown only this once and works once.',
        }
      },
    }),
    list: command({
      help: 'Lists the agents of all organizations, or of one.',
      act: null,
      options: { organization: optional('<id>', 'only the agents of this organization', numericId<OrganizationId>) },
      run: async ({ pool }, { organization: organizationId }) => {
        if (organizationId !== undefined) await requireOrganization(pool, organizationId)
        const agents = await listAgents(pool, organizationId ?? null)
        const living = agents.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id)
        const problems = Map.groupBy(await listProblems(pool, living), ({ agentId }) => agentId)
        const data = agents.map((each) => ({ ...each, problems: groupProblems(problems.get(each.id) ?? []) }))
        const rows = data.map((each) => [
          each.id,
          each.organizationId,
          each.name,
          each.version,
          each.revokedAt === null ? 'live' : 'revoked',
          each.enrolledAt,
          each.lastContactAt,
          each.copy && `${each.copy.computer} (${each.copy.at})`,
          each.failedRelease && `${each.failedRelease} ${each.failedReleaseOutcome?.replace('_', ' ')}`,
          each.problems.map(problemText).join('; ') || null,
        ])
        return {
          data,
          text: table(
            [
              'id',
              'organization',
              'name',
              'version',
              'state',
              'enrolled',
              'last contact',
              'refused copy',
              'failed release',
              'problems',
            ],
            rows,
          ),
        }
      },
    }),
    'take-over': command({
      help: 'Lets an agent write at a location in place of the one that writes there now, or the refused copy of an agent in place of the other. That one is refused from its next request on.',
      act: 'agent.take_over',
      options: {
        agent: required('<id>', 'the agent that writes from now on', numericId<AgentId>),
        location: optional('<id>', 'the location (without: the agent’s refused copy)', numericId<LocationId>),
      },
      run: async ({ pool }, { agent: agentId, location: locationId }, record) => {
        if (locationId === undefined) {
          const copy = (await listAgents(pool, null)).find(({ id }) => id === agentId)?.copy
          if (!copy) throw new Problem('agent_unknown', { errors: `Agent ${agentId} has no refused copy.` })
          await withTransaction(pool, async (client) => {
            const taken = await takeOverProcess(client, { agentId, processId: copy.processId, organizationId: null })
            const facts = { agent: { id: agentId, name: taken.name } }
            await record(client, facts, { side: 'organization', id: taken.organizationId })
          })
          return {
            data: { agentId, computer: copy.computer },
            text: `The copy of agent ${agentId} on the computer "${copy.computer}" sends from now on, and compares everything first.`,
          }
        }
        const location = await findLocation(pool, locationId)
        if (!location) throw new Problem('location_unknown')
        const { name, organizationId } = location
        await withTransaction(pool, async (client) => {
          const agent = await takeOver(client, { locationId, agentId, organizationId })
          const facts = { agent: { id: agentId, name: agent.name }, location: { id: locationId, name } }
          await record(client, facts, { side: 'organization', id: organizationId })
        })
        return {
          data: { agentId, locationId },
          text: `Agent ${agentId} writes at location ${locationId} from now on. Its next complete list decides about all that was received before.`,
        }
      },
    }),
    revoke: command({
      help: 'Revokes an agent’s key from its next request on. Its data stays.',
      act: 'agent.revoke',
      options: { agent: required('<id>', 'the agent', numericId<AgentId>) },
      run: async ({ pool }, { agent: agentId }, record) => {
        await withTransaction(pool, async (client) => {
          const { name, organizationId } = await revokeAgent(client, agentId)
          await record(client, { agent: { id: agentId, name } }, { side: 'organization', id: organizationId })
        })
        return { data: { agentId }, text: `Revoked the key of agent ${agentId}.` }
      },
    }),
  },
}
