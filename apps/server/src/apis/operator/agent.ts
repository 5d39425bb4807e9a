import { createEnrolmentCode, listAgents, revokeAgent } from '../../modules/agents/agent-key.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'
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
