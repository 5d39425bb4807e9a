import { auditKinds } from './account.ts'
import type { PortalRouteName, portalRoutes } from './route.ts'

/**
 * What a signed-in page hears of: the kinds of acts, what agents say of themselves, records, reads of vendors, requests that were answered, and
 * notices. The names alone: what changed, the page asks for.
 */
export const liveTopics = [
  ...(Object.keys(auditKinds) as (keyof typeof auditKinds)[]),
  'agents',
  'data',
  'reads',
  'requests',
  'notices',
] as const
export type LiveTopic = (typeof liveTopics)[number]

/** The stream of topics, below the portal's API. `tenant_id`: whose pages are open; without it only what concerns the person's account. */
export const livePath = '/live'

/** One event of the stream, as JSON. */
export type LiveEvent = { topics: readonly LiveTopic[] }

/**
 * `topics`: what changes the route's answer; none where it is read once. `ages`: it also changes with the clock, or with what a process measures, so a
 * page that stays open asks again on its own.
 */
type Live = { topics: readonly LiveTopic[]; ages?: true }

export type ReadRouteName = {
  [Name in PortalRouteName]: (typeof portalRoutes)[Name]['method'] extends 'GET' ? Name : never
}[PortalRouteName]

const once: Live = { topics: [] }
const history: Live = {
  topics: ['people', 'access', 'keys', 'locations', 'removals', 'disclosures', 'settings', 'tenants', 'service'],
}

/** Every route that reads: one that is missing does not compile. */
export const liveRoutes: Readonly<Record<ReadRouteName, Live>> = {
  getEnvironment: once,
  getStatus: { topics: [], ages: true },
  getReferenceToken: once,
  listSandboxMail: { topics: [], ages: true },
  getSession: { topics: ['people', 'settings', 'tenants', 'account'] },
  listSessions: { topics: ['account', 'people'] },
  listAccountEvents: { topics: ['account'] },
  listNoticeSettings: { topics: ['people', 'account'] },

  listNotices: { topics: ['notices'] },
  countUnreadNotices: { topics: ['notices'] },
  listMembers: { topics: ['people'] },
  getIdentityProvider: { topics: ['people'] },
  listMemberSessions: { topics: ['people'] },
  getSignInRule: { topics: ['people'] },

  getCompany: { topics: ['settings', 'keys', 'access', 'tenants', 'requests'] },
  getCompanyProfile: { topics: ['settings', 'tenants'] },
  listCompanyEvents: history,
  exportCompanyEvents: once,
  getAgreement: { topics: ['keys'] },
  listKeyPairs: { topics: ['keys', 'requests'] },
  listConnections: { topics: ['access'] },
  listEndedAccess: { topics: ['access'] },
  listAccessRequests: { topics: ['access'] },
  getUsage: { topics: ['requests'] },
  listRequests: { topics: ['requests'] },
  listRequestErrors: { topics: ['requests'] },
  listPractices: { topics: ['access', 'locations', 'settings', 'tenants'] },
  getConnectedLocation: { topics: ['access', 'requests'], ages: true },
  listWebhooks: { topics: ['keys'], ages: true },
  listWebhookAttempts: { topics: ['keys'], ages: true },
  getSandbox: { topics: ['access', 'requests'], ages: true },

  getOrganization: { topics: ['settings', 'access', 'locations', 'removals', 'agents', 'data', 'reads'] },
  countWaiting: { topics: ['removals', 'access', 'locations'] },
  listOrganizationEvents: history,
  exportOrganizationEvents: once,
  listLocations: { topics: ['settings', 'locations', 'agents', 'data'] },
  getLocation: { topics: ['settings', 'locations', 'agents', 'data', 'reads'] },
  listAgents: { topics: ['locations', 'agents'] },
  listRemovals: { topics: ['removals', 'locations'] },
  previewRemoval: { topics: ['removals'] },
  listVendors: { topics: ['access', 'settings', 'tenants'] },
  getVendor: { topics: ['access', 'locations', 'settings', 'tenants'] },
  listVendorRequests: { topics: ['access'] },
  previewDataset: once,
  listGrants: { topics: ['access', 'locations'] },
  listReaders: { topics: ['access', 'reads', 'settings', 'tenants'] },
  listDisclosures: { topics: ['reads'] },
  listDisclosureDays: { topics: ['reads'] },
  summarizeDisclosures: { topics: ['reads'] },
  exportDisclosures: once,
  exportSealedDisclosures: once,
  getSealKey: { topics: ['settings', 'service'] },
  listAttribution: { topics: ['settings', 'locations'], ages: true },

  getOperatorOverview: { topics: ['tenants', 'locations', 'service'], ages: true },
  findAnything: once,
  listIncidents: { topics: ['service'] },
  listOperatorCompanies: { topics: ['tenants', 'settings', 'keys', 'access'] },
  listOperatorOrganizations: { topics: ['tenants', 'settings', 'locations'] },
  listOperatorAgents: { topics: ['locations'], ages: true },
  listOperatorPeople: { topics: ['people', 'tenants'] },
  getOperatorPerson: { topics: ['people', 'tenants'] },
  getOperatorCompany: { topics: ['tenants', 'settings', 'keys', 'access', 'people'], ages: true },
  getOperatorOrganization: { topics: ['tenants', 'settings', 'locations', 'people'], ages: true },
  getOperatorAgent: { topics: ['locations'], ages: true },
  getOperatorLocation: { topics: ['locations', 'settings'], ages: true },
  getServicePlot: { topics: [], ages: true },
  getJobs: { topics: ['service'], ages: true },
  getLimits: { topics: [], ages: true },
  listAgreements: { topics: ['keys'] },
  listOperatorEvents: history,
  exportOperatorEvents: once,
}

/** Of which a page with the route is told. */
export function topicsOf(route: string): Live | null {
  return Object.hasOwn(liveRoutes, route) ? liveRoutes[route as ReadRouteName] : null
}

/** The routes with a topic, for who asks whether a role may hear of it. */
export function routesAbout(topic: LiveTopic): ReadRouteName[] {
  return (Object.keys(liveRoutes) as ReadRouteName[]).filter((name) => liveRoutes[name].topics.includes(topic))
}
