import type { Side } from '@bridgework/contract/portal'
import { recordAudit } from '../../modules/audit/store.ts'
import { inviteMember } from '../../modules/sign-in/invitation.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { Context } from './context.ts'

/** Mails a member the link that lets them in, and puts it on record. The link is printed too, for an installation that sends no mail. */
export async function inviteFromCommandLine(
  client: Queryable,
  context: Pick<Context, 'secretKey' | 'publicUrl'>,
  member: { side: Side; tenantId: string | null; memberId: string; email: string; name: string; tenantName: string },
): Promise<string> {
  const by = 'The operator of Bridgework'
  const invitation = { ...member, invitedBy: by }
  const { link } = await inviteMember(client, await context.secretKey(), context.publicUrl, invitation)
  await recordAudit(client, {
    side: member.side,
    tenantId: member.tenantId,
    userId: null,
    actor: `${by} (command line)`,
    action: member.side === 'operator' ? 'operator.member_manage' : `${member.side}_member.manage`,
    subject: `${member.name} <${member.email}>`,
    ip: null,
    requestId: null,
  })
  return link
}
