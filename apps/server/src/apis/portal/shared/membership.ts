import { type Action, actions, type MemberRole, mayDo, type Side } from '@bridgework/contract/portal'
import { requireActiveCompany } from '../../../modules/directory/company.ts'
import { findProvider } from '../../../modules/identity-provider/store.ts'
import { findMemberOf } from '../../../modules/membership/member.ts'
import { getSignInRule } from '../../../modules/membership/sign-in-rule.ts'
import { operator, parseTenantId, type Tenant } from '../../../modules/membership/tenant.ts'
import { isFresh, type Person } from '../../../modules/sign-in/person.ts'
import { hasSecondFactor, secondFactorOwed } from '../../../modules/sign-in/second-factor.ts'
import { findSupportView } from '../../../modules/sign-in/support-view.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { CompanyId, MemberId, OrganizationId } from '../../../platform/identity/identity.ts'

/** Proof that a person may do what the route does, for a tenant of this side. Only `requireMembership` makes one. */
export type Membership<S extends Side = Side> = Extract<AnyMembership, { side: S }>

type AnyMembership = { readonly brand: 'Membership'; readonly memberId: MemberId; readonly role: MemberRole } & (
  | { readonly side: 'company'; readonly companyId: CompanyId }
  | { readonly side: 'organization'; readonly organizationId: OrganizationId }
  | { readonly side: 'operator' }
)

/** Whom a membership is of. */
export function tenantOf(member: Membership): Tenant {
  if (member.side === 'company') return { side: 'company', id: member.companyId }
  if (member.side === 'organization') return { side: 'organization', id: member.organizationId }
  return operator
}

/**
 * The role is read at every request, so one that was taken away ends at once. A person who does not belong to a company or an organization is
 * told that there is none: ids of others answer nothing. Throws Problem company_unknown, organization_unknown, not_found for a tenant that
 * no id can name, identity_provider_required, second_factor_setup_required or second_factor_sign_in_required where the tenant requires a second factor, role_denied,
 * company_closed for an act of a company that is not active, or fresh_sign_in_required, in this order.
 */
export async function requireMembership(
  db: Queryable,
  person: Person,
  { action, isAct, params }: { action: Action; isAct: boolean; params: Record<string, string> },
  now: Date,
): Promise<Membership> {
  const tenant = tenantOfPath(action, params)
  const [found, rule, provider] = await Promise.all([
    findMemberOf(db, tenant, person.userId),
    getSignInRule(db, tenant),
    findProvider(db, tenant),
  ])
  if (!found) {
    const asSupport = await supportOf(db, person, tenant, { action, isAct }, now)
    if (asSupport) return asSupport
  }
  // For a session that a provider began there is nothing but the provider's own tenant.
  const isThroughProvider = person.identityProviderId !== null
  if (isThroughProvider && person.identityProviderId !== provider?.id) throw new Problem(unknown[tenant.side])
  if (!found) throw new Problem(unknown[tenant.side], { because: `no member: ${tenant.side}` })
  // The way back when the provider fails: the owner's own second factor, so that it is no weaker than the provider.
  const isWayBack = found.role === 'owner' && person.gaveSecondFactor
  if (provider?.isRequired && !isThroughProvider && !isWayBack) {
    throw new Problem('identity_provider_required', {
      errors: `Members sign in here through ${provider.name}. Sign in through it.`,
    })
  }
  if (rule.secondFactorSince) requireSecondFactor(rule.secondFactorSince, person, await hasSecondFactor(db, person))
  if (!mayDo(found.role, action, tenant.side)) throw new Problem('role_denied', { because: `${found.role}: ${action}` })
  if (tenant.side === 'company' && isAct) await requireActiveCompany(db, tenant.id)
  if ('fresh' in actions[action] && !isFresh(person, now)) throw new Problem('fresh_sign_in_required')
  return toMembership(tenant, found)
}

function toMembership(tenant: Tenant, { id, role }: { id: MemberId; role: MemberRole }): Membership {
  const member = { brand: 'Membership', memberId: id, role } as const
  if (tenant.side === 'company') return { ...member, side: tenant.side, companyId: tenant.id }
  if (tenant.side === 'organization') return { ...member, side: tenant.side, organizationId: tenant.id }
  return { ...member, side: tenant.side }
}

/**
 * Of an operator who looks at this tenant as support: reads what `mayDo` lets support read there, and does nothing. Null for everyone else. The person
 * must be an operator still, with all that is asked of one.
 */
async function supportOf(
  db: Queryable,
  person: Person,
  tenant: Tenant,
  { action, isAct }: { action: Action; isAct: boolean },
  now: Date,
): Promise<Membership | null> {
  if (tenant.side === 'operator') return null
  const view = await findSupportView(db, person.sessionId, now)
  if (view?.tenant.id !== tenant.id) return null
  const { memberId } = await requireMembership(db, person, { action: 'operator.read', isAct: false, params: {} }, now)
  if (isAct || !mayDo('support', action, tenant.side)) {
    throw new Problem('role_denied', { because: `support at a tenant: ${action}` })
  }
  return toMembership(tenant, { id: memberId, role: 'support' })
}

/** Throws a Problem when the person owes a second factor. `since`: since when one is required. */
export function requireSecondFactor(since: Date, person: Person, hasOne: boolean): void {
  const owed = secondFactorOwed(since, person, hasOne)
  if (owed === 'set_up') throw new Problem('second_factor_setup_required')
  if (owed === 'sign_in') throw new Problem('second_factor_sign_in_required')
}

function tenantOfPath(action: Action, params: Record<string, string>): Tenant {
  const { side } = actions[action]
  if (side === 'operator') return operator
  const tenant = parseTenantId(params[side === null ? 'tenant_id' : `${side}_id`] ?? '')
  if (tenant === null || (side !== null && tenant.side !== side)) {
    throw new Problem(side === null ? 'not_found' : unknown[side])
  }
  return tenant
}

/** Everybody knows that there is an operator. */
const unknown = { company: 'company_unknown', organization: 'organization_unknown', operator: 'role_denied' } as const
