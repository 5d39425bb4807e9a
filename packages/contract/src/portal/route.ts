import type { Action } from './action.ts'

/** `anyone`: without a sign-in. `signed_in`: for a signed-in person, about themselves. Anything else: by role. */
type Gate = Action | 'anyone' | 'signed_in'

type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  action: Gate
  /** Names of the parameters in the query that the route takes. */
  query?: readonly string[]
}

export const portalApiPath = '/portal/api'

/** The addresses of the pages; the server answers each with the portal, which shows what is there. */
export const portalPages = [
  '/',
  '/sign-in',
  '/sign-in/callback/*',
  '/sign-up',
  '/forgot-password',
  '/reset-password',
  '/verify-email',
  '/invitation',
  '/mail',
  '/account',
  '/company/*',
  '/organization/*',
  '/operator',
  '/operator/*',
] as const

const list = ['search', 'page'] as const
const disclosureFilter = ['company_id', 'location_id', 'dataset', 'from', 'to'] as const

/**
 * Every route of the portal's own API. The server registers these and no other (signing in is in `signInRoutes`), the portal
 * calls these and no other, and a test walks every role over every one. A route changes something exactly when it is not a GET.
 */
export const portalRoutes = {
  getEnvironment: { method: 'GET', path: '/environment', action: 'anyone' },
  signUp: { method: 'POST', path: '/sign_up', action: 'anyone' },
  findInvitation: { method: 'POST', path: '/invitations/find', action: 'anyone' },
  acceptInvitation: { method: 'POST', path: '/invitations/accept', action: 'anyone' },
  /** The mails of a sandbox that has no mail server. In production there is no such route. */
  listSandboxMail: { method: 'GET', path: '/sandbox_mail', action: 'anyone' },

  getSession: { method: 'GET', path: '/session', action: 'signed_in' },
  updateAccount: { method: 'PATCH', path: '/account', action: 'signed_in' },
  listSessions: { method: 'GET', path: '/account/sessions', action: 'signed_in' },
  endSession: { method: 'DELETE', path: '/account/sessions/:session_id', action: 'signed_in' },
  listAccountEvents: { method: 'GET', path: '/account/events', action: 'signed_in' },
  listNoticeSettings: { method: 'GET', path: '/account/notice_settings', action: 'signed_in' },
  changeNoticeSetting: { method: 'PUT', path: '/account/notice_settings', action: 'signed_in' },

  /** `tenant_id`: the id of a company or an organization, or `operator`. A member sees their own notices alone. */
  listNotices: { method: 'GET', path: '/tenants/:tenant_id/notices', action: 'notice.read', query: ['page'] },
  countUnreadNotices: { method: 'GET', path: '/tenants/:tenant_id/unread_notices', action: 'notice.read' },
  markNoticesRead: { method: 'POST', path: '/tenants/:tenant_id/notices/read', action: 'notice.read' },
  listMembers: { method: 'GET', path: '/tenants/:tenant_id/members', action: 'member.read' },
  inviteMember: { method: 'POST', path: '/tenants/:tenant_id/members', action: 'member.manage' },
  updateMember: { method: 'PATCH', path: '/tenants/:tenant_id/members/:member_id', action: 'member.manage' },
  removeMember: { method: 'DELETE', path: '/tenants/:tenant_id/members/:member_id', action: 'member.manage' },
  resendInvitation: {
    method: 'POST',
    path: '/tenants/:tenant_id/members/:member_id/invitation',
    action: 'member.manage',
  },
  getIdentityProvider: {
    method: 'GET',
    path: '/tenants/:tenant_id/identity_provider',
    action: 'identity_provider.read',
  },
  saveIdentityProvider: {
    method: 'PUT',
    path: '/tenants/:tenant_id/identity_provider',
    action: 'identity_provider.change',
  },
  testIdentityProvider: {
    method: 'POST',
    path: '/tenants/:tenant_id/identity_provider/test',
    action: 'identity_provider.change',
  },
  deleteIdentityProvider: {
    method: 'DELETE',
    path: '/tenants/:tenant_id/identity_provider',
    action: 'identity_provider.change',
  },
  listMemberSessions: {
    method: 'GET',
    path: '/tenants/:tenant_id/members/:member_id/sessions',
    action: 'member_session.read',
  },
  endMemberSessions: {
    method: 'DELETE',
    path: '/tenants/:tenant_id/members/:member_id/sessions',
    action: 'member_session.end',
  },
  endMemberSession: {
    method: 'DELETE',
    path: '/tenants/:tenant_id/members/:member_id/sessions/:session_id',
    action: 'member_session.end',
  },
  getSignInRule: { method: 'GET', path: '/tenants/:tenant_id/sign_in_rule', action: 'member.read' },
  changeSignInRule: { method: 'PUT', path: '/tenants/:tenant_id/sign_in_rule', action: 'sign_in_rule.change' },
  transferOwnership: { method: 'POST', path: '/tenants/:tenant_id/ownership', action: 'ownership.transfer' },

  getCompany: { method: 'GET', path: '/companies/:company_id', action: 'company.read' },
  updateCompany: { method: 'PATCH', path: '/companies/:company_id', action: 'company.update' },
  listCompanyEvents: {
    method: 'GET',
    path: '/companies/:company_id/events',
    action: 'company.audit',
    query: list,
  },
  /** Answers text/csv. */
  exportCompanyEvents: {
    method: 'GET',
    path: '/companies/:company_id/events.csv',
    action: 'company.audit',
    query: ['search'],
  },
  getAgreement: { method: 'GET', path: '/companies/:company_id/agreement', action: 'agreement.read' },
  acceptAgreement: {
    method: 'POST',
    path: '/companies/:company_id/agreement/acceptance',
    action: 'agreement.accept',
  },
  listKeyPairs: { method: 'GET', path: '/companies/:company_id/key_pairs', action: 'key_pair.read' },
  generateKeyPair: { method: 'POST', path: '/companies/:company_id/key_pairs', action: 'key_pair.generate' },
  regenerateKeyPair: {
    method: 'POST',
    path: '/companies/:company_id/key_pairs/regeneration',
    action: 'key_pair.generate',
  },
  revokeKeyPair: { method: 'POST', path: '/companies/:company_id/key_pairs/revocation', action: 'key_pair.revoke' },
  listConnections: {
    method: 'GET',
    path: '/companies/:company_id/connections',
    action: 'connection.read',
    query: list,
  },
  getUsage: { method: 'GET', path: '/companies/:company_id/usage', action: 'usage.read', query: ['range'] },
  listRecentRequests: { method: 'GET', path: '/companies/:company_id/requests', action: 'usage.read' },
  makeFirstCall: { method: 'POST', path: '/companies/:company_id/first_call', action: 'first_call.make' },

  getOrganization: { method: 'GET', path: '/organizations/:organization_id', action: 'organization.read' },
  updateOrganization: { method: 'PATCH', path: '/organizations/:organization_id', action: 'organization.update' },
  listOrganizationEvents: {
    method: 'GET',
    path: '/organizations/:organization_id/events',
    action: 'organization.audit',
    query: list,
  },
  /** Answers text/csv. */
  exportOrganizationEvents: {
    method: 'GET',
    path: '/organizations/:organization_id/events.csv',
    action: 'organization.audit',
    query: ['search'],
  },
  listLocations: {
    method: 'GET',
    path: '/organizations/:organization_id/locations',
    action: 'location.read',
    query: list,
  },
  getLocation: {
    method: 'GET',
    path: '/organizations/:organization_id/locations/:location_id',
    action: 'location.read',
    query: ['range'],
  },
  updateLocation: {
    method: 'PATCH',
    path: '/organizations/:organization_id/locations/:location_id',
    action: 'location.update',
  },
  /** From then on this agent writes at the location, and no other. */
  takeOverLocation: {
    method: 'PUT',
    path: '/organizations/:organization_id/locations/:location_id/writer',
    action: 'agent.take_over',
  },
  listAgents: { method: 'GET', path: '/organizations/:organization_id/agents', action: 'agent.read' },
  createEnrolmentCode: {
    method: 'POST',
    path: '/organizations/:organization_id/enrolment_codes',
    action: 'agent.enroll',
  },
  revokeAgent: {
    method: 'DELETE',
    path: '/organizations/:organization_id/agents/:agent_id',
    action: 'agent.revoke',
  },
  listRemovals: { method: 'GET', path: '/organizations/:organization_id/removals', action: 'removal.read' },
  previewRemoval: {
    method: 'GET',
    path: '/organizations/:organization_id/removals/:location_id/:dataset',
    action: 'removal.read',
  },
  confirmRemoval: {
    method: 'POST',
    path: '/organizations/:organization_id/removals/:location_id/:dataset/confirmation',
    action: 'removal.decide',
  },
  rejectRemoval: {
    method: 'POST',
    path: '/organizations/:organization_id/removals/:location_id/:dataset/rejection',
    action: 'removal.decide',
  },
  /** Takes a rejection back. */
  reviewRejection: {
    method: 'DELETE',
    path: '/organizations/:organization_id/removals/:location_id/:dataset/rejection',
    action: 'removal.decide',
  },
  listVendors: { method: 'GET', path: '/organizations/:organization_id/vendors', action: 'grant.read', query: list },
  getVendor: {
    method: 'GET',
    path: '/organizations/:organization_id/vendors/:company_id',
    action: 'grant.read',
  },
  /** All that the vendor may read from then on, in place of what it may read now. */
  changeVendorAccess: {
    method: 'PUT',
    path: '/organizations/:organization_id/vendors/:company_id/access',
    action: 'grant.change',
  },
  revokeVendorAccess: {
    method: 'DELETE',
    path: '/organizations/:organization_id/vendors/:company_id/access',
    action: 'grant.revoke',
  },
  previewDataset: {
    method: 'GET',
    path: '/organizations/:organization_id/dataset_previews/:dataset',
    action: 'grant.read',
  },
  listGrants: {
    method: 'GET',
    path: '/organizations/:organization_id/grants',
    action: 'grant.read',
    query: ['company_id', ...list],
  },
  listDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosures',
    action: 'disclosure.read',
    query: [...disclosureFilter, 'before'],
  },
  summarizeDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosure_summary',
    action: 'disclosure.read',
    query: disclosureFilter,
  },
  /** Answers text/csv. */
  exportDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosures.csv',
    action: 'disclosure.read',
    query: disclosureFilter,
  },
  /** Answers application/x-ndjson: what a stand-alone verifier needs. From the last seal before `from` on. */
  exportSealedDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosures.ndjson',
    action: 'disclosure.read',
    query: ['from'],
  },
  /** Changes nothing. A POST, because a patient's number must be in no address. */
  accountForPatient: {
    method: 'POST',
    path: '/organizations/:organization_id/patient_disclosures',
    action: 'disclosure.read',
  },
  /** What seals are checked with. */
  getSealKey: {
    method: 'GET',
    path: '/organizations/:organization_id/seal_key',
    action: 'disclosure.read',
  },
  /** Whether the practice's owner gets each new seal by mail. */
  setSealMail: { method: 'PUT', path: '/organizations/:organization_id/seal_mail', action: 'seal.mail' },
  listAttribution: {
    method: 'GET',
    path: '/organizations/:organization_id/attribution',
    action: 'attribution.read',
    query: list,
  },
  updateAttribution: {
    method: 'PATCH',
    path: '/organizations/:organization_id/attribution/:location_id',
    action: 'attribution.update',
  },

  getOperatorOverview: { method: 'GET', path: '/operator/overview', action: 'operator.read' },
  listOperatorCompanies: {
    method: 'GET',
    path: '/operator/companies',
    action: 'operator.read',
    query: [...list, 'state'],
  },
  createOperatorCompany: { method: 'POST', path: '/operator/companies', action: 'operator.company_create' },
  setCompanyState: {
    method: 'POST',
    path: '/operator/companies/:company_id/state',
    action: 'operator.company_suspend',
  },
  listOperatorOrganizations: {
    method: 'GET',
    path: '/operator/organizations',
    action: 'operator.read',
    query: list,
  },
  createOperatorOrganization: {
    method: 'POST',
    path: '/operator/organizations',
    action: 'operator.organization_create',
  },
  listOperatorAgents: { method: 'GET', path: '/operator/agents', action: 'operator.read', query: list },
  getJobs: { method: 'GET', path: '/operator/jobs', action: 'operator.read' },
  getLimits: { method: 'GET', path: '/operator/limits', action: 'operator.read' },
  listAgreements: { method: 'GET', path: '/operator/agreements', action: 'operator.read' },
  publishAgreement: { method: 'POST', path: '/operator/agreements', action: 'operator.agreement_publish' },
  listOperatorEvents: { method: 'GET', path: '/operator/events', action: 'operator.read', query: list },
  /** Answers text/csv. */
  exportOperatorEvents: { method: 'GET', path: '/operator/events.csv', action: 'operator.read', query: ['search'] },
} as const satisfies Record<string, Route>

export type PortalRouteName = keyof typeof portalRoutes
