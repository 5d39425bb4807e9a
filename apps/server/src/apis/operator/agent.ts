import { createEnrolmentCode, listAgents, revokeAgent } from '../../modules/agents/agent-key.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import type { Noun } from './command-line.ts'

export const agent: Noun = {
  help: 'what runs in the offices',
  verbs: {
    enroll: {
      help: 'Prints a code with which one agent of the organization can enrol once, and the command to run in the office.',
      options: {
        organization: { value: '<id>', isRequired: true, help: 'whose practices the agent reads' },
        hours: { value: '<number>', help: 'how long the code is good; 24 without it' },
      },
      run: async ({ pool, publicUrl, secretKey }, given) => {
        const { code, expiresAt } = await createEnrolmentCode(pool, await secretKey(), {
          organizationId: given.numericId<OrganizationId>('organization'),
          lifetimeMs: given.wholeNumber('hours', 24, 24 * 30) * 3_600_000,
        })
        const command = `bridgework-agent enroll --server ${publicUrl} --code ${code} --db-user <user>`
        return {
          data: { enrolmentCode: code, expiresAt, command },
          text: `${list({ code, 'good until': expiresAt })}\n\nIn the office:\n  ${command}`,
          note: 'The code is shown only this once and works once.',
        }
      },
    },
    list: {
      help: 'The agents of all organizations, or of one.',
      options: { organization: { value: '<id>', help: 'only this organization’s' } },
      run: async ({ pool }, given) => {
        const organizationId = given.findNumericId<OrganizationId>('organization')
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
    },
    revoke: {
      help: 'Ends an agent’s key, from its next request on. What it has sent stays.',
      options: { agent: { value: '<id>', isRequired: true, help: 'the agent' } },
      run: async ({ pool }, given) => {
        const agentId = given.numericId<AgentId>('agent')
        await revokeAgent(pool, agentId)
        return { data: { agentId }, text: `The key of agent ${agentId} is dead.` }
      },
    },
  },
}
