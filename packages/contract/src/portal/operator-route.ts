import { historyFilter, list, type Route } from './route-entry.ts'

/** The routes of the people who run the installation. */
export const operatorRoutes = {
  getOperatorOverview: { method: 'GET', path: '/operator/overview', action: 'operator.read' },
  /** Anything by its id, by its name, or by the id of a request. */
  findAnything: { method: 'GET', path: '/operator/find', action: 'operator.read', query: ['search'] },
  /** From then on, for an hour, this session may read the pages of a company or practice. In place of the one that it could read before. */
  beginSupportView: { method: 'POST', path: '/operator/support_view', action: 'operator.support_view' },
  listIncidents: { method: 'GET', path: '/operator/incidents', action: 'operator.read' },
  openIncident: { method: 'POST', path: '/operator/incidents', action: 'operator.incident_post' },
  updateIncident: {
    method: 'POST',
    path: '/operator/incidents/:incident_id/updates',
    action: 'operator.incident_post',
  },
  listOperatorCompanies: {
    method: 'GET',
    path: '/operator/companies',
    action: 'operator.read',
    query: [...list, 'state', 'verified', 'sort'],
  },
  createOperatorCompany: { method: 'POST', path: '/operator/companies', action: 'operator.company_create' },
  setCompanyState: {
    method: 'POST',
    path: '/operator/companies/:company_id/state',
    action: 'operator.company_suspend',
  },
  setCompanyVerification: {
    method: 'PUT',
    path: '/operator/companies/:company_id/verification',
    action: 'operator.company_verify',
  },
  listOperatorOrganizations: {
    method: 'GET',
    path: '/operator/organizations',
    action: 'operator.read',
    query: [...list, 'sort'],
  },
  createOperatorOrganization: {
    method: 'POST',
    path: '/operator/organizations',
    action: 'operator.organization_create',
  },
  listOperatorAgents: {
    method: 'GET',
    path: '/operator/agents',
    action: 'operator.read',
    query: [...list, 'sort'],
  },
  /** Everybody who has an account. */
  listOperatorPeople: { method: 'GET', path: '/operator/people', action: 'operator.read', query: list },
  getOperatorPerson: { method: 'GET', path: '/operator/people/:user_id', action: 'operator.read' },
  /** For a person who lost theirs: also ends the password and all sessions, and mails a link for a new password. */
  resetSecondFactor: {
    method: 'POST',
    path: '/operator/people/:user_id/second_factor_reset',
    action: 'operator.second_factor_reset',
  },
  getOperatorCompany: {
    method: 'GET',
    path: '/operator/companies/:company_id',
    action: 'operator.read',
    query: ['range'],
  },
  getOperatorOrganization: {
    method: 'GET',
    path: '/operator/organizations/:organization_id',
    action: 'operator.read',
    query: ['range'],
  },
  getOperatorAgent: {
    method: 'GET',
    path: '/operator/agents/:agent_id',
    action: 'operator.read',
    query: ['range'],
  },
  getOperatorLocation: {
    method: 'GET',
    path: '/operator/locations/:location_id',
    action: 'operator.read',
    query: ['range'],
  },
  getServicePlot: { method: 'GET', path: '/operator/service', action: 'operator.read', query: ['range'] },
  getJobs: { method: 'GET', path: '/operator/jobs', action: 'operator.read' },
  getLimits: { method: 'GET', path: '/operator/limits', action: 'operator.read' },
  listAgreements: { method: 'GET', path: '/operator/agreements', action: 'operator.read' },
  publishAgreement: { method: 'POST', path: '/operator/agreements', action: 'operator.agreement_publish' },
  listOperatorEvents: {
    method: 'GET',
    path: '/operator/events',
    action: 'operator.read',
    query: [...historyFilter, 'page'],
  },
  /** Answers text/csv. */
  exportOperatorEvents: { method: 'GET', path: '/operator/events.csv', action: 'operator.read', query: historyFilter },
} as const satisfies Record<string, Route>
