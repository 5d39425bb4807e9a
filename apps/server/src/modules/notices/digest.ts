import { isTimeZone } from '@bridgework/contract'
import type { NoticeKind } from '@bridgework/contract/portal'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { queueMail } from '../mail/queue.ts'
import { listWaitingMembers, type WaitingMember } from '../overview/digest-members.ts'
import type { NoticeContext } from './notice-acts.ts'
import { digestMail } from './notice-mail.ts'

/** When the daily mail comes, on the person's clock: before the first patient. */
const digestHour = 7

/**
 * Queues one mail for each person with notices that wait for the daily one and came before the last seven o'clock of their zone: that of
 * their first practice which has one, else UTC. Queued and marked in one transaction for each person. How many mails.
 */
export async function queueDigests({ pool, publicUrl, now }: NoticeContext): Promise<number> {
  const people = Map.groupBy(await listWaitingMembers(pool), ({ userId }) => userId)
  let queued = 0
  for (const members of people.values()) {
    const before = lastDigestAt(zoneOf(members), now())
    if (await withTransaction(pool, (client) => queueDigest(client, publicUrl, members, before))) queued += 1
  }
  return queued
}

async function queueDigest(
  client: Queryable,
  publicUrl: string,
  members: readonly WaitingMember[],
  before: Date,
): Promise<boolean> {
  const { rows } = await client.query<{
    member_id: string
    kind: NoticeKind
    title: string
    body: string
    path: string
  }>(
    `with due as (
       update notice set is_for_digest = false
        where member_id = any($1::uuid[]) and is_for_digest and created_at < $2
        returning id, member_id, kind, title, body, path)
     select member_id, kind, title, body, path from due order by id desc`,
    [members.map(({ id }) => id), before],
  )
  const [person] = members
  if (rows.length === 0 || !person) return false
  const names = new Map(members.map(({ id, tenantName }) => [id as string, tenantName]))
  const notices = rows.map((row) => ({ ...row, tenantName: names.get(row.member_id) ?? '' }))
  await queueMail(client, digestMail(publicUrl, person, notices))
  return true
}

function zoneOf(members: readonly WaitingMember[]): string {
  return members.map(({ timeZone }) => timeZone).find((zone) => zone !== null && isTimeZone(zone)) ?? 'UTC'
}

function lastDigestAt(zone: string, now: Date): Date {
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone)
  const today = local.with({ hour: digestHour, minute: 0, second: 0, millisecond: 0, microsecond: 0, nanosecond: 0 })
  const last = Temporal.ZonedDateTime.compare(today, local) <= 0 ? today : today.subtract({ days: 1 })
  return new Date(last.epochMilliseconds)
}
