import { recordAudit } from '../../../modules/audit/store.ts'
import { queueMail } from '../../../modules/mail/queue.ts'
import { type Member, requireMember } from '../../../modules/membership/member.ts'
import { nameOfTenant } from '../../../modules/membership/tenant.ts'
import { endSessionsFor, listSessionsFor } from '../../../modules/sign-in/session-use.ts'
import { sessionsEndedMail } from '../../../modules/sign-in/sign-in-mail.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type MemberId, parseUuid } from '../../../platform/identity/identity.ts'
import { actorOf, entryOf } from '../shared/audit.ts'
import type { Call, PortalContext, PortalHandlers } from '../shared/context.ts'
import { tenantOf } from '../shared/membership.ts'

/** Where members are signed in, for owners. A session that was not used for the company or practice does not exist here. */
export const memberSessionHandlers: PortalHandlers<'listMemberSessions' | 'endMemberSession' | 'endMemberSessions'> = {
  listMemberSessions: async ({ pool }, call) => {
    const { userId } = await memberOf(pool, call)
    const sessions = userId === null ? [] : await listSessionsFor(pool, tenantOf(call.member), userId)
    return {
      data: sessions.map((each) => ({
        id: each.id,
        is_current: each.id === call.person.sessionId,
        signed_in_at: each.signedInAt.toISOString(),
        last_used_at: each.lastUsedAt.toISOString(),
        ip: each.ip,
        user_agent: each.userAgent,
        second_factor: each.gaveSecondFactor,
      })),
    }
  },

  endMemberSession: async (context, call) => {
    const sessionId = parseUuid(call.params.session_id ?? '')
    if (sessionId === null || (await end(context, call, sessionId)) === 0) throw new Problem('not_found')
    return { done: true }
  },

  endMemberSessions: async (context, call) => ({ ended: await end(context, call, null) }),
}

type EndCall = Call<'endMemberSession' | 'endMemberSessions'>

/** Ends sessions, puts it on record on both sides, and mails the member: all of it or nothing. */
async function end({ pool, publicUrl }: PortalContext, call: EndCall, sessionId: string | null): Promise<number> {
  const tenant = tenantOf(call.member)
  return await withTransaction(pool, async (client) => {
    const { userId, name, email } = await memberOf(client, call)
    const ended = userId === null ? 0 : await endSessionsFor(client, tenant, userId, sessionId)
    if (ended === 0) return 0
    const tenantName = await nameOfTenant(client, tenant)
    await recordAudit(client, entryOf(call, 'member_session.end', { member: { name, email }, sessions: ended }))
    const { requestId } = call
    // Without the owner's network address, which is not the member's to see.
    const ofAccount = { side: 'account', tenantId: null, userId, actor: actorOf(call), ip: null, requestId } as const
    await recordAudit(client, {
      ...ofAccount,
      action: 'account.session_end',
      facts: { sessions: ended, tenant: tenantName },
    })
    await queueMail(client, sessionsEndedMail(publicUrl, { name, email }, { tenantName, by: call.person.name, ended }))
    return ended
  })
}

async function memberOf(db: Queryable, { member, params }: EndCall | Call<'listMemberSessions'>): Promise<Member> {
  const memberId = parseUuid<MemberId>(params.member_id ?? '')
  if (memberId === null) throw new Problem('member_unknown')
  return await requireMember(db, tenantOf(member), memberId)
}
