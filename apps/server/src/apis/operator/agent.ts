import { createEnrolmentCode, listAgents, revokeAgent } from '../../modules/agents/agent-key.ts'
import { takeOver } from '../../modules/agents/location-writer.ts'
import { findLocation } from '../../modules/directory/location.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import { type CommandGroup, command } from './command-line.ts'
import { numericId, optional, required, wholeNumber } from './option.ts'

export const agent: CommandGroup = {
  help: 'office agents',
  commands: {
    enroll: command({
      help: 'Generates a one-time code that enrolls one agent of the organization, and the command to run in the office.',
      options: {
        organization: required('<id>', 'whose practices the agent reads', numericId<OrganizationId>),
        hours: optional('<number>', 'how long the code is valid (default: 24)', wholeNumber(24 * 30)),
      },
      run: async ({ pool, publicUrl, secretKey }, { organization, hours }) => {
        const { code, expiresAt } = await createEnrolmentCode(pool, await secretKey(), {
          organizationId: organization,
          lifetimeMs: (hours ?? 24) * 3_600_000,
        })
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
      options: { organization: optional('<id>', 'only the agents of this organization', numericId<OrganizationId>) },
      run: async ({ pool }, { organization: organizationId }) => {
        if (organizationId !== undefined) await requireOrganization(pool, organizationId)
        const data = await listAgents(pool, organizationId ?? null)
        const rows = data.map((each) => [
          each.id,
          each.organizationId,
          each.name,
          each.version,
          each.revokedAt === null ? 'live' : 'revoked',
          each.enrolledAt,
          each.lastContactAt,
        ])
        return {
          data,
          text: table(['id', 'organization', 'name', 'version', 'state', 'enrolled', 'last contact'], rows),
        }
      },
    }),
    'take-over': command({
      help: 'Lets an agent write at a location in place of the one that writes there now. That one is refused from its next request on.',
      options: {
        agent: required('<id>', 'the agent that writes from now on', numericId<AgentId>),
        location: required('<id>', 'the location', numericId<LocationId>),
      },
      run: async ({ pool }, { agent: agentId, location: locationId }) => {
        const location = await findLocation(pool, locationId)
        if (!location) throw new Problem('location_unknown')
        await takeOver(pool, { locationId, agentId, organizationId: location.organizationId })
        return {
          data: { agentId, locationId },
          text: `Agent ${agentId} writes at location ${locationId} from now on. Its next complete list decides about all that was received before.`,
        }
      },
    }),
    revoke: command({
      help: 'Revokes an agent’s key from its next request on. Its data stays.',
      options: { agent: required('<id>', 'the agent', numericId<AgentId>) },
      run: async ({ pool }, { agent: agentId }) => {
        await revokeAgent(pool, agentId)
        return { data: { agentId }, text: `Revoked the key of agent ${agentId}.` }
      },
    }),
  },
}
