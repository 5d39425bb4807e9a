/** The three kinds of people (a practice is an organization), and what a role of each may do. */
export const sides = ['company', 'organization', 'operator'] as const
export type Side = (typeof sides)[number]

/** An operator has no role of its own: each is an owner of that side. */
export const memberRoles = ['owner', 'admin', 'member'] as const
export type MemberRole = (typeof memberRoles)[number]

type Rule = {
  /** null: of any side; the path names the tenant. */
  side: Side | null
  roles: readonly MemberRole[]
  /** Needs a sign-in of the last 10 minutes. */
  fresh?: true
}

const anyone = memberRoles
const managers = ['owner', 'admin'] as const
const ownerOnly = ['owner'] as const

/**
 * Who may do what: the one table that the server enforces, the pages read and the tests walk. An act is named `<thing>.<verb>`; on the
 * operator's own pages it begins with `operator.`.
 */
export const actions = {
  'member.read': { side: null, roles: anyone },
  'member.manage': { side: null, roles: managers, fresh: true },
  'ownership.transfer': { side: null, roles: ownerOnly, fresh: true },
  'company.read': { side: 'company', roles: anyone },
  'company.update': { side: 'company', roles: managers },
  'company.audit': { side: 'company', roles: managers },
  'agreement.read': { side: 'company', roles: anyone },
  'agreement.accept': { side: 'company', roles: ownerOnly, fresh: true },
  'key_pair.read': { side: 'company', roles: managers },
  'key_pair.generate': { side: 'company', roles: managers, fresh: true },
  'key_pair.revoke': { side: 'company', roles: managers, fresh: true },
  'connection.read': { side: 'company', roles: anyone },
  'usage.read': { side: 'company', roles: anyone },
  'first_call.make': { side: 'company', roles: managers },
  'organization.read': { side: 'organization', roles: anyone },
  'organization.update': { side: 'organization', roles: managers },
  'location.update': { side: 'organization', roles: managers },
  'organization.audit': { side: 'organization', roles: managers },
  'location.read': { side: 'organization', roles: anyone },
  'agent.read': { side: 'organization', roles: anyone },
  'agent.enroll': { side: 'organization', roles: managers, fresh: true },
  'agent.take_over': { side: 'organization', roles: managers, fresh: true },
  'agent.revoke': { side: 'organization', roles: managers, fresh: true },
  'removal.read': { side: 'organization', roles: anyone },
  'removal.decide': { side: 'organization', roles: managers, fresh: true },
  'grant.read': { side: 'organization', roles: anyone },
  // Asks for a fresh sign-in only where it grants more than before: taking access away must never wait for a password.
  'grant.change': { side: 'organization', roles: managers },
  'grant.revoke': { side: 'organization', roles: managers },
  'disclosure.read': { side: 'organization', roles: managers },
  'seal.mail': { side: 'organization', roles: managers, fresh: true },
  'attribution.read': { side: 'organization', roles: anyone },
  'attribution.update': { side: 'organization', roles: managers },
  'operator.read': { side: 'operator', roles: ownerOnly },
  'operator.company_create': { side: 'operator', roles: ownerOnly, fresh: true },
  'operator.company_suspend': { side: 'operator', roles: ownerOnly, fresh: true },
  'operator.organization_create': { side: 'operator', roles: ownerOnly, fresh: true },
  'operator.agreement_publish': { side: 'operator', roles: ownerOnly, fresh: true },
} as const satisfies Record<string, Rule>

export type Action = keyof typeof actions

/** Whether a role, of a side that the action belongs to, may do it. */
export function mayDo(role: MemberRole, action: Action): boolean {
  const roles: readonly MemberRole[] = actions[action].roles
  return roles.includes(role)
}
