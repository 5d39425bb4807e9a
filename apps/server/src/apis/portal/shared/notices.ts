import { type Notice, noticeKindsOf } from '@bridgework/contract/portal'
import { countUnread, listNotices, markRead, type StoredNotice } from '../../../modules/notices/notice.ts'
import { kindsReceived } from '../../../modules/notices/received.ts'
import { changeSetting, settingsOf } from '../../../modules/notices/settings.ts'
import { listMembershipsOf } from '../../../modules/overview/tenants.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { PortalHandlers } from './context.ts'
import { readListPage, toListed } from './list.ts'

/** A member's own notices, and which of them each person wants as mails. */
export const noticeHandlers: PortalHandlers<
  'listNotices' | 'countUnreadNotices' | 'markNoticesRead' | 'listNoticeSettings' | 'changeNoticeSetting'
> = {
  listNotices: async ({ pool }, { member: { memberId }, query }) => {
    const page = readListPage(query)
    const { total, notices } = await listNotices(pool, memberId, page)
    return { ...toListed(page, total, notices.map(toNotice)), unread: await countUnread(pool, memberId) }
  },

  countUnreadNotices: async ({ pool }, { member }) => ({ unread: await countUnread(pool, member.memberId) }),

  markNoticesRead: async ({ pool, now }, { member, body }) => {
    await markRead(pool, member.memberId, { id: body.id, withOlder: body.with_older }, now())
    return { done: true }
  },

  listNoticeSettings: async ({ pool }, { person }) => {
    const memberships = await membershipsOf(pool, person)
    const data = memberships.map(async ({ memberId, id, side, name, role }) => ({
      tenant_id: id,
      side,
      name,
      kinds: await settingsOf(pool, memberId, kindsReceived(side, role)),
    }))
    return { data: await Promise.all(data) }
  },

  changeNoticeSetting: async ({ pool }, { person, body }) => {
    const { tenant_id: tenantId, kind, delivery } = body
    const membership = (await membershipsOf(pool, person)).find(({ id }) => id === tenantId)
    if (!membership) throw new Problem('not_found')
    if (!noticeKindsOf(membership.side).includes(kind)) {
      throw new Problem('field_invalid', { errors: `There are no notices of the kind "${kind}" here.` })
    }
    await withTransaction(pool, (client) => changeSetting(client, membership.memberId, { kind, delivery }))
    return { done: true }
  },
}

/** A notice as it is answered. */
export function toNotice({ createdAt, readAt, ...notice }: StoredNotice): Notice {
  return { ...notice, created_at: createdAt.toISOString(), read_at: readAt?.toISOString() ?? null }
}

/** Those that the session is for: one that an identity provider began is for its own alone. */
async function membershipsOf(db: Queryable, person: Person) {
  const memberships = await listMembershipsOf(db, person.userId)
  return memberships.filter(
    ({ providerId }) => person.identityProviderId === null || providerId === person.identityProviderId,
  )
}
