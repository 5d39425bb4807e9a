import { type Action, actions, type MemberRole, mayDo } from '@bridgework/contract/portal'
import { isFresh, type Person } from '../../modules/sign-in/person.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import {
  type CompanyId,
  type MemberId,
  type OrganizationId,
  parseNumericId,
  parseUuid,
} from '../../platform/identity/identity.ts'

/** Proof that a person may do what the route does, for this company, this organization or the operator. Only `requireMembership` makes one. */
export type Membership = {
  readonly brand: 'Membership'
  readonly memberId: MemberId
  readonly role: MemberRole
  /** Of the side that the action belongs to; '' on the others. */
  readonly companyId: CompanyId
  readonly organizationId: OrganizationId
}

/**
 * The role is read at every request, so one that was taken away ends at once. Whoever does not belong to a company or an organization is told
 * that there is none: ids of others answer nothing. Throws Problem company_unknown, organization_unknown, role_denied or
 * fresh_sign_in_required, in this order.
 */
export async function requireMembership(
  db: Queryable,
  person: Person,
  action: Action,
  params: Record<string, string>,
  now: Date,
): Promise<Membership> {
  const found = await findMembership(db, person, action, params)
  if (!mayDo(found.role, action)) throw new Problem('role_denied', { because: `${found.role}: ${action}` })
  if ('fresh' in actions[action] && !isFresh(person, now)) throw new Problem('fresh_sign_in_required')
  return found
}

async function findMembership(
  db: Queryable,
  person: Person,
  action: Action,
  params: Record<string, string>,
): Promise<Membership> {
  const nobody = { companyId: '' as CompanyId, organizationId: '' as OrganizationId }
  const { side } = actions[action]
  if (side === 'company') {
    const companyId = parseUuid<CompanyId>(params.company_id ?? '')
    const row = companyId && (await findRow(db, 'member', 'company_id', companyId, person))
    if (!companyId || !row) throw new Problem('company_unknown')
    return { brand: 'Membership', ...nobody, companyId, memberId: row.id, role: row.role }
  }
  if (side === 'organization') {
    const organizationId = parseNumericId<OrganizationId>(params.organization_id ?? '')
    const row = organizationId && (await findRow(db, 'organization_member', 'organization_id', organizationId, person))
    if (!organizationId || !row) throw new Problem('organization_unknown')
    return { brand: 'Membership', ...nobody, organizationId, memberId: row.id, role: row.role }
  }
  const { rows } = await db.query<{ id: MemberId }>('select id from operator_member where user_id = $1', [
    person.userId,
  ])
  if (!rows[0]) throw new Problem('role_denied', { because: 'no operator' })
  return { brand: 'Membership', ...nobody, memberId: rows[0].id, role: 'owner' }
}

async function findRow(
  db: Queryable,
  table: 'member' | 'organization_member',
  column: 'company_id' | 'organization_id',
  id: string,
  person: Person,
): Promise<{ id: MemberId; role: MemberRole } | undefined> {
  const { rows } = await db.query<{ id: MemberId; role: MemberRole }>(
    `select id, role from ${table} where ${column} = $1 and user_id = $2`,
    [id, person.userId],
  )
  return rows[0]
}
