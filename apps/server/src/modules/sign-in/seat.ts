import type { MemberRole, Side } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'

/** A place in a company, in an organization or among the operators, with whoever it is meant for. */
export type Seat = {
  side: Side
  memberId: string
  /** Of the company or organization; '' on the operator's side. */
  tenantId: string
  tenantName: string
  email: string
  name: string
  role: MemberRole
  /** Null until the person has come. */
  userId: string | null
}

/** The seat of a member of any side; null when there is none, or they were removed. */
export async function findSeat(db: Queryable, side: Side, memberId: string): Promise<Seat | null> {
  const { rows } = await db.query<Omit<Seat, 'side' | 'memberId'>>(seats[side], [memberId])
  return rows[0] ? { side, memberId, ...rows[0] } : null
}

/** Seats a person. False when somebody sits there already. */
export async function takeSeat(db: Queryable, seat: Pick<Seat, 'side' | 'memberId'>, userId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ${tables[seat.side]} set user_id = $2 where id = $1 and user_id is null and removed_at is null`,
    [seat.memberId, userId],
  )
  return rowCount === 1
}

const tables = { company: 'member', organization: 'organization_member', operator: 'operator_member' } as const

const seats = {
  company: `select c.id::text as "tenantId", c.name as "tenantName", m.email, m.name, m.role, m.user_id as "userId"
              from member m join company c on c.id = m.company_id
             where m.id = $1 and m.removed_at is null`,
  organization: `select o.id::text as "tenantId", o.name as "tenantName", m.email, m.name, m.role, m.user_id as "userId"
                   from organization_member m join organization o on o.id = m.organization_id
                  where m.id = $1 and m.removed_at is null`,
  operator: `select '' as "tenantId", 'Bridgework' as "tenantName", email, name, 'owner' as role, user_id as "userId"
               from operator_member
              where id = $1 and removed_at is null`,
} as const
