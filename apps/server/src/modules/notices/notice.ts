import { type Action, type Delivery, mayDo, type NoticeKind } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { queueMail } from '../mail/queue.ts'
import { listMembers, type Member } from '../membership/member.ts'
import { nameOfTenant, type Tenant } from '../membership/tenant.ts'
import type { ActEvent } from './act-rules.ts'
import type { ConditionEvent } from './condition-rules.ts'
import { type NoticeText, noticeMail } from './notice-mail.ts'
import { deliveriesOf } from './settings.ts'

/** Why a notice was made: for operators and tests. */
export type NoticeEvent = ActEvent | ConditionEvent | `${ConditionEvent}_ended`

/** Something to notify members of: of which tenant, and those whose role may do `to`. */
export type NewNotice = NoticeText & {
  event: NoticeEvent
  kind: NoticeKind
  tenant: Tenant
  to: Action
  /** Of them not this person, who did it. */
  exceptUserId?: string | null
  /** Also these members, whatever their role. */
  alsoMembers?: readonly string[]
}

export type StoredNotice = NoticeText & {
  id: string
  kind: NoticeKind
  createdAt: Date
  readAt: Date | null
}

/** A person with more mails at once within an hour gets the rest in the daily digest. */
export const mailsPerHourMax = 20

const keptDays = 90

/**
 * Puts a notice in the list of each member whom it concerns, and queues the mails of those who want them at once. Hand down the transaction
 * of its reason: all of it or nothing, and once. Members who were removed or have not accepted yet get none.
 */
export async function notify(
  client: Queryable,
  { publicUrl, now }: { publicUrl: string; now: Date },
  notice: NewNotice,
): Promise<void> {
  const { tenant, kind } = notice
  const recipients = (await listMembers(client, tenant)).filter((member) => isConcerned(member, notice))
  if (recipients.length === 0) return
  const ids = recipients.map(({ id }) => id)
  const deliveries = await deliveriesOf(client, ids, kind)
  const mailed = await countMailed(client, ids, new Date(now.getTime() - 3_600_000))
  const tenantName = await nameOfTenant(client, tenant)
  for (const member of recipients) {
    const wanted = deliveries.get(member.id) as Delivery
    const isHeld = wanted === 'at_once' && (mailed.get(member.id) ?? 0) >= mailsPerHourMax
    const isMailed = wanted === 'at_once' && !isHeld
    await client.query(
      `insert into notice (member_id, kind, event, title, body, path, created_at, mailed_at, is_for_digest)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        ...[member.id, kind, notice.event, notice.title, notice.body, notice.path, now],
        ...[isMailed ? now : null, isHeld || wanted === 'daily'],
      ],
    )
    if (isMailed) await queueMail(client, noticeMail(publicUrl, member, { ...notice, tenantName }))
  }
}

function isConcerned({ id, userId, role }: Member, notice: NewNotice): boolean {
  if (userId === null) return false
  if (notice.alsoMembers?.includes(id)) return true
  return mayDo(role, notice.to, notice.tenant.side) && userId !== notice.exceptUserId
}

async function countMailed(db: Queryable, memberIds: readonly MemberId[], since: Date): Promise<Map<MemberId, number>> {
  const { rows } = await db.query<{ member_id: MemberId; count: string }>(
    'select member_id, count(*) from notice where member_id = any($1::uuid[]) and mailed_at > $2 group by member_id',
    [memberIds, since],
  )
  return new Map(rows.map((row) => [row.member_id, Number(row.count)]))
}

/** A page of a member's notices, the newest first. By notice_of_member. */
export async function listNotices(
  db: Queryable,
  memberId: MemberId,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; notices: StoredNotice[] }> {
  const { rows } = await db.query<RowOf<StoredNotice> & { total: string }>(
    `select id, kind, title, body, path, created_at, read_at,
            (select count(*) from notice where member_id = $1) as total
       from notice
      where member_id = $1
      order by id desc
      limit $2 offset $3`,
    [memberId, limit, offset],
  )
  const total = rows[0]?.total ?? (await count(db, memberId, 'true'))
  return { total: Number(total), notices: rows.map(({ total: _, ...row }) => fromRow<StoredNotice>(row)) }
}

/** The newest notices of a member in which this text occurs. */
export async function listNoticesSaying(
  db: Queryable,
  memberId: MemberId,
  text: string,
  limit: number,
): Promise<StoredNotice[]> {
  const { rows } = await db.query<RowOf<StoredNotice>>(
    `select id, kind, title, body, path, created_at, read_at
       from notice
      where member_id = $1 and (strpos(title, $2) > 0 or strpos(body, $2) > 0)
      order by id desc
      limit $3`,
    [memberId, text, limit],
  )
  return rows.map((row) => fromRow<StoredNotice>(row))
}

export async function countUnread(db: Queryable, memberId: MemberId): Promise<number> {
  return await count(db, memberId, 'read_at is null')
}

async function count(db: Queryable, memberId: MemberId, condition: 'true' | 'read_at is null'): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from notice where member_id = $1 and ${condition}`,
    [memberId],
  )
  return Number(rows[0]?.count)
}

/** Marks a notice of the member as read, and with `withOlder` all that came before it. One of somebody else is not touched. */
export async function markRead(
  db: Queryable,
  memberId: MemberId,
  { id, withOlder }: { id: string; withOlder: boolean },
  now: Date,
): Promise<void> {
  await db.query(
    `update notice set read_at = $3 where member_id = $1 and id ${withOlder ? '<=' : '='} $2 and read_at is null`,
    [memberId, id, now],
  )
}

/** Deletes notices after 90 days, read or not: what they say is in the histories, or has passed. */
export async function deleteOldNotices(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from notice where created_at < $1', [new Date(now.getTime() - keptDays * 86_400_000)])
}
