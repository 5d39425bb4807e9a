/** The three kinds of people (a practice is an organization), and what a role of each may do. */
export const sides = ['company', 'organization', 'operator'] as const
export type Side = (typeof sides)[number]

/** The roles of each side. An operator is an admin, or in support: reads, and acts with a reason. */
export const rolesOf = {
  company: ['owner', 'admin', 'member'],
  organization: ['owner', 'admin', 'member'],
  operator: ['admin', 'support'],
} as const satisfies Record<Side, readonly string[]>
export type MemberRole = (typeof rolesOf)[Side][number]
/** A role that a person can be given; an owner becomes one by a transfer. */
export type GivenRole = Exclude<MemberRole, 'owner'>

type Rule = {
  /** null: of any side; the path names the tenant. */
  side: Side | null
  roles: readonly MemberRole[]
  /** On the operator's side, which has no owner, in place of `roles`. */
  onOperator?: readonly MemberRole[]
  /** Needs a sign-in of the last 10 minutes. */
  fresh?: true
}

const anyone = ['owner', 'admin', 'member', 'support'] as const
const managers = ['owner', 'admin'] as const
const ownerOnly = ['owner'] as const
const adminOnly = ['admin'] as const
const operators = rolesOf.operator

/**
 * What an operator may read of a company or practice as support (`operator.support_view`): no patient, no secret, no member's own notices.
 * Named one by one, so that what is added is not read before somebody decides so.
 */
const supportReads: readonly string[] = [
  'member.read',
  'company.read',
  'agreement.read',
  'connection.read',
  'usage.read',
  'organization.read',
  'location.read',
  'agent.read',
  'grant.read',
  'attribution.read',
]

/**
 * Who may do what: the one table that the server enforces, the pages read and the tests walk. An act is named `<thing>.<verb>`; on the
 * operator's own pages it begins with `operator.`.
 */
export const actions = {
  'member.read': { side: null, roles: anyone },
  'member.manage': { side: null, roles: managers, fresh: true },
  'identity_provider.read': { side: null, roles: ownerOnly },
  'identity_provider.change': { side: null, roles: ownerOnly, fresh: true },
  // A member's own notices.
  'notice.read': { side: null, roles: anyone },
  'member_session.read': { side: null, roles: ownerOnly, onOperator: adminOnly },
  // Without a fresh sign-in: to end a session that may be stolen must never wait.
  'member_session.end': { side: null, roles: ownerOnly, onOperator: adminOnly },
  'sign_in_rule.change': { side: null, roles: ownerOnly, onOperator: adminOnly, fresh: true },
  'ownership.transfer': { side: null, roles: ownerOnly, fresh: true },
  'company.read': { side: 'company', roles: anyone },
  'company.update': { side: 'company', roles: managers },
  'company.domain_check': { side: 'company', roles: managers },
  'company.audit': { side: 'company', roles: managers },
  'agreement.read': { side: 'company', roles: anyone },
  'agreement.accept': { side: 'company', roles: ownerOnly, fresh: true },
  'key_pair.read': { side: 'company', roles: managers },
  'key_pair.generate': { side: 'company', roles: managers, fresh: true },
  'key_pair.revoke': { side: 'company', roles: managers, fresh: true },
  // Answers of the company's own server, and what signs its messages.
  'webhook.read': { side: 'company', roles: managers },
  'webhook.change': { side: 'company', roles: managers },
  // Where a secret is shown.
  'webhook.sign': { side: 'company', roles: managers, fresh: true },
  'connection.read': { side: 'company', roles: anyone },
  'access_request.make': { side: 'company', roles: managers },
  'access_request.withdraw': { side: 'company', roles: managers },
  'usage.read': { side: 'company', roles: anyone },
  'first_call.make': { side: 'company', roles: managers },
  // In a sandbox alone.
  'sandbox.read': { side: 'company', roles: anyone },
  'sandbox.drive': { side: 'company', roles: managers },
  'organization.read': { side: 'organization', roles: anyone },
  'organization.update': { side: 'organization', roles: managers },
  'location.update': { side: 'organization', roles: managers },
  'organization.audit': { side: 'organization', roles: managers },
  'location.read': { side: 'organization', roles: anyone },
  'agent.read': { side: 'organization', roles: anyone },
  'agent.enroll': { side: 'organization', roles: managers, fresh: true },
  'agent.take_over': { side: 'organization', roles: managers, fresh: true },
  'agent.revoke': { side: 'organization', roles: managers, fresh: true },
  // Whether agents take releases by themselves.
  'agent_updates.change': { side: 'organization', roles: managers, fresh: true },
  'removal.read': { side: 'organization', roles: anyone },
  'removal.decide': { side: 'organization', roles: managers, fresh: true },
  'grant.read': { side: 'organization', roles: anyone },
  // Asks for a fresh sign-in only where it grants more than before: taking access away must never wait for a password.
  'grant.change': { side: 'organization', roles: managers },
  'grant.revoke': { side: 'organization', roles: managers },
  'access_request.grant': { side: 'organization', roles: managers, fresh: true },
  'access_request.decline': { side: 'organization', roles: managers },
  'access_request.invite': { side: 'organization', roles: managers },
  'disclosure.read': { side: 'organization', roles: managers },
  // Whom a disclosure was about: names of patients, so each look-up leaves an act.
  'disclosure.identify': { side: 'organization', roles: managers },
  'seal.mail': { side: 'organization', roles: managers, fresh: true },
  'attribution.read': { side: 'organization', roles: anyone },
  'attribution.update': { side: 'organization', roles: managers },
  'operator.read': { side: 'operator', roles: operators },
  'operator.company_create': { side: 'operator', roles: operators, fresh: true },
  'operator.company_suspend': { side: 'operator', roles: operators, fresh: true },
  // Asked of the body of the act above: a closed company stays closed.
  'operator.company_close': { side: 'operator', roles: adminOnly, fresh: true },
  'operator.company_verify': { side: 'operator', roles: operators, fresh: true },
  'operator.second_factor_reset': { side: 'operator', roles: operators, fresh: true },
  'operator.organization_create': { side: 'operator', roles: operators, fresh: true },
  'operator.support_view': { side: 'operator', roles: operators, fresh: true },
  // Without a fresh sign-in: an incident is announced at once.
  'operator.incident_post': { side: 'operator', roles: operators },
  'operator.agreement_publish': { side: 'operator', roles: adminOnly, fresh: true },
} as const satisfies Record<string, Rule>

export type Action = keyof typeof actions

/** Whether a role of this side, to which the action belongs, may do it. Support beyond the operator's side is an operator who looks at a tenant. */
export function mayDo(role: MemberRole, action: Action, side: Side): boolean {
  if (role === 'support' && side !== 'operator') return supportReads.includes(action)
  const { roles, onOperator }: Rule = actions[action]
  return (side === 'operator' ? (onOperator ?? roles) : roles).includes(role)
}

/** Whether a role says why with every act: support does. */
export function needsReason(role: MemberRole): boolean {
  return role === 'support'
}
