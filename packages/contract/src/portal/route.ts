import { disclosureRoutes } from './disclosure-route.ts'
import { operatorRoutes } from './operator-route.ts'
import { requestLogRoutes } from './request-log-route.ts'
import { historyFilter, list, type ParamsOfPath, type Route } from './route-entry.ts'
import { sandboxRoutes } from './sandbox-route.ts'
import { webhookRoutes } from './webhook.ts'

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
  '/email-change',
  '/invitation',
  '/mail',
  '/docs',
  '/status',
  '/account',
  '/vendors/*',
  '/company/*',
  '/organization/*',
  '/operator',
  '/operator/*',
] as const

/**
 * Every route of the portal's own API. The server registers these and no other (signing in is in `signInRoutes`), the portal
 * calls these and no other, and a test walks every role over every one. A route changes something exactly when it is not a GET.
 */
export const portalRoutes = {
  getEnvironment: { method: 'GET', path: '/environment', action: 'anyone' },
  /** The sandbox's token for trying requests in the API reference. */
  getReferenceToken: { method: 'GET', path: '/reference_token', action: 'anyone' },
  signUp: { method: 'POST', path: '/sign_up', action: 'anyone' },
  /** Who and what a link from a mail confirms. It changes nothing: a scanner of mails opens links, and runs the scripts of the page. */
  findSignUp: { method: 'POST', path: '/sign_up/find', action: 'anyone' },
  /** Whether a new password would be accepted, for the form while it is typed. */
  checkPassword: { method: 'POST', path: '/password_check', action: 'anyone' },
  findInvitation: { method: 'POST', path: '/invitations/find', action: 'anyone' },
  acceptInvitation: { method: 'POST', path: '/invitations/accept', action: 'anyone' },
  /** The mails of a sandbox that has no mail server. In production there is no such route. */
  listSandboxMail: { method: 'GET', path: '/sandbox_mail', action: 'anyone' },

  /** Incidents that the operator published. */
  getStatus: { method: 'GET', path: '/status', action: 'anyone' },

  getSession: { method: 'GET', path: '/session', action: 'signed_in' },
  updateAccount: { method: 'PATCH', path: '/account', action: 'signed_in' },
  listSessions: { method: 'GET', path: '/account/sessions', action: 'signed_in' },
  /** All of them, the one that asks included. */
  endAllSessions: { method: 'DELETE', path: '/account/sessions', action: 'signed_in' },
  endSession: { method: 'DELETE', path: '/account/sessions/:session_id', action: 'signed_in' },
  /** Of this session. */
  endSupportView: { method: 'DELETE', path: '/account/support_view', action: 'signed_in' },
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
  /** What practices see of the company, and the proof of its website. */
  getCompanyProfile: { method: 'GET', path: '/companies/:company_id/profile', action: 'company.read' },
  updateCompanyProfile: { method: 'PUT', path: '/companies/:company_id/profile', action: 'company.update' },
  setCompanyLogo: { method: 'PUT', path: '/companies/:company_id/logo', action: 'company.update' },
  deleteCompanyLogo: { method: 'DELETE', path: '/companies/:company_id/logo', action: 'company.update' },
  checkCompanyDomain: { method: 'POST', path: '/companies/:company_id/domain_check', action: 'company.domain_check' },
  listCompanyEvents: {
    method: 'GET',
    path: '/companies/:company_id/events',
    action: 'company.audit',
    query: [...historyFilter, 'page'],
  },
  /** Answers text/csv. */
  exportCompanyEvents: {
    method: 'GET',
    path: '/companies/:company_id/events.csv',
    action: 'company.audit',
    query: historyFilter,
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
  /** One location, as the company sees it. */
  getConnectedLocation: {
    method: 'GET',
    path: '/companies/:company_id/locations/:location_id',
    action: 'connection.read',
  },
  listEndedAccess: { method: 'GET', path: '/companies/:company_id/ended_access', action: 'connection.read' },
  /** What the company asked practices for. */
  listAccessRequests: {
    method: 'GET',
    path: '/companies/:company_id/access_requests',
    action: 'connection.read',
  },
  requestAccess: {
    method: 'POST',
    path: '/companies/:company_id/access_requests',
    action: 'access_request.make',
  },
  withdrawAccessRequest: {
    method: 'DELETE',
    path: '/companies/:company_id/access_requests/:request_id',
    action: 'access_request.withdraw',
  },
  ...requestLogRoutes,
  makeFirstCall: { method: 'POST', path: '/companies/:company_id/first_call', action: 'first_call.make' },
  ...webhookRoutes,
  ...sandboxRoutes,

  getOrganization: { method: 'GET', path: '/organizations/:organization_id', action: 'organization.read' },
  /** How many decisions wait for a person, for the menu of every page. */
  countWaiting: { method: 'GET', path: '/organizations/:organization_id/waiting', action: 'removal.read' },
  updateOrganization: { method: 'PATCH', path: '/organizations/:organization_id', action: 'organization.update' },
  dismissFirstSteps: {
    method: 'POST',
    path: '/organizations/:organization_id/first_steps/dismiss',
    action: 'organization.update',
  },
  listOrganizationEvents: {
    method: 'GET',
    path: '/organizations/:organization_id/events',
    action: 'organization.audit',
    query: [...historyFilter, 'page'],
  },
  /** Answers text/csv. */
  exportOrganizationEvents: {
    method: 'GET',
    path: '/organizations/:organization_id/events.csv',
    action: 'organization.audit',
    query: historyFilter,
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
  /** From then on the copy of the agent that was refused sends, and the other one is refused. */
  takeOverAgent: {
    method: 'PUT',
    path: '/organizations/:organization_id/agents/:agent_id/process',
    action: 'agent.take_over',
  },
  /** From then on agents take published releases by themselves, or do not. */
  setAgentUpdates: {
    method: 'PUT',
    path: '/organizations/:organization_id/agent_updates',
    action: 'agent_updates.change',
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
  /** `show=verified`: those that the operator verified and that have no access, to choose from. */
  listVendors: {
    method: 'GET',
    path: '/organizations/:organization_id/vendors',
    action: 'grant.read',
    query: [...list, 'show'],
  },
  getVendor: {
    method: 'GET',
    path: '/organizations/:organization_id/vendors/:company_id',
    action: 'grant.read',
  },
  /** Who may read the practice's data or read it within two weeks, and how much. */
  listReaders: { method: 'GET', path: '/organizations/:organization_id/readers', action: 'grant.read' },
  /** All that the vendor may read from then on, in place of what it may read now. */
  changeVendorAccess: {
    method: 'PUT',
    path: '/organizations/:organization_id/vendors/:company_id/access',
    action: 'grant.change',
  },
  /** What the vendor's access is for, and when it ends. */
  setVendorTerms: {
    method: 'PUT',
    path: '/organizations/:organization_id/vendors/:company_id/terms',
    action: 'grant.change',
  },
  revokeVendorAccess: {
    method: 'DELETE',
    path: '/organizations/:organization_id/vendors/:company_id/access',
    action: 'grant.revoke',
  },
  /** What vendors asked the practice for. */
  listVendorRequests: {
    method: 'GET',
    path: '/organizations/:organization_id/access_requests',
    action: 'grant.read',
  },
  /** Beside what the vendor may read already: all that it asked for, or less. */
  grantVendorRequest: {
    method: 'POST',
    path: '/organizations/:organization_id/access_requests/:request_id/grant',
    action: 'access_request.grant',
  },
  declineVendorRequest: {
    method: 'POST',
    path: '/organizations/:organization_id/access_requests/:request_id/refusal',
    action: 'access_request.decline',
  },
  /** Lets the vendor ask again before the 30 days after a refusal are over. */
  inviteVendorRequest: {
    method: 'POST',
    path: '/organizations/:organization_id/access_requests/:request_id/invitation',
    action: 'access_request.invite',
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
  ...disclosureRoutes,
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

  ...operatorRoutes,
} as const satisfies Record<string, Route>

export type PortalRouteName = keyof typeof portalRoutes

/** The ids that the path of a route names. */
export type PortalParams<Name extends PortalRouteName> = ParamsOfPath<(typeof portalRoutes)[Name]['path']>
