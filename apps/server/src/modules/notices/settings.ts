import { type Delivery, isFixedKind, type NoticeKind, noticeKinds } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { MemberId } from '../../platform/identity/identity.ts'

/** How each of these members gets the mails of a kind: as they chose, or else its default. */
export async function deliveriesOf(
  db: Queryable,
  memberIds: readonly MemberId[],
  kind: NoticeKind,
): Promise<Map<MemberId, Delivery>> {
  const chosen = isFixedKind(kind) ? [] : await select(db, memberIds, [kind])
  const byMember = new Map(chosen.map((row) => [row.member_id, row.delivery]))
  return new Map(memberIds.map((id) => [id, byMember.get(id) ?? noticeKinds[kind].delivery]))
}

/** How a member gets the mails of these kinds. */
export async function settingsOf(
  db: Queryable,
  memberId: MemberId,
  kinds: readonly NoticeKind[],
): Promise<{ kind: NoticeKind; delivery: Delivery }[]> {
  const chosen = new Map((await select(db, [memberId], kinds)).map((row) => [row.kind, row.delivery]))
  return kinds.map((kind) => ({ kind, delivery: chosen.get(kind) ?? noticeKinds[kind].delivery }))
}

/** Chooses for one kind. What waits for a digest is not mailed any more when it is off. Throws a Problem for a kind that is fixed. */
export async function changeSetting(
  client: Queryable,
  memberId: MemberId,
  { kind, delivery }: { kind: NoticeKind; delivery: Delivery },
): Promise<void> {
  if (isFixedKind(kind)) {
    throw new Problem('field_invalid', { errors: `Mails of "${noticeKinds[kind].title}" cannot be turned off.` })
  }
  await client.query(
    `insert into notice_setting (member_id, kind, delivery)
     values ($1, $2, $3)
         on conflict (member_id, kind) do update set delivery = excluded.delivery`,
    [memberId, kind, delivery],
  )
  if (delivery !== 'off') return
  await client.query('update notice set is_for_digest = false where member_id = $1 and kind = $2 and is_for_digest', [
    memberId,
    kind,
  ])
}

async function select(db: Queryable, memberIds: readonly MemberId[], kinds: readonly NoticeKind[]) {
  const { rows } = await db.query<{ member_id: MemberId; kind: NoticeKind; delivery: Delivery }>(
    'select member_id, kind, delivery from notice_setting where member_id = any($1::uuid[]) and kind = any($2::text[])',
    [memberIds, kinds],
  )
  return rows
}
