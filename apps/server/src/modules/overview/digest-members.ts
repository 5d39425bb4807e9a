import type { Queryable } from '../../platform/database/queryable.ts'
import type { MemberId } from '../../platform/identity/identity.ts'

/** A membership of a person for whom notices wait. `timeZone`: of the practice, else of its first location with one. */
export type WaitingMember = {
  id: MemberId
  userId: string
  email: string
  name: string
  tenantName: string
  timeZone: string | null
}

/** All memberships of the people for whom notices of any of them wait for the daily mail. */
export async function listWaitingMembers(db: Queryable): Promise<WaitingMember[]> {
  const { rows } = await db.query<WaitingMember>(
    `select m.id, m.user_id as "userId", m.email, m.name, coalesce(c.name, o.name, 'Bridgework') as "tenantName",
            coalesce(o.time_zone, (select l.time_zone from location l
                                    where l.organization_id = o.id and l.time_zone is not null
                                    order by l.id limit 1)) as "timeZone"
       from membership m
       left join company c on c.id = m.company_id
       left join organization o on o.id = m.organization_id
      where m.removed_at is null
        and m.user_id in (select w.user_id from membership w
                            join notice n on n.member_id = w.id and n.is_for_digest
                           where w.removed_at is null)
      order by m.user_id, m.created_at, m.id`,
  )
  return rows
}
