export { aboutError } from '../about-error.ts'
export type * from './account.ts'
export { auditKinds } from './account.ts'
export {
  type Action,
  actions,
  type GivenRole,
  type MemberRole,
  mayDo,
  needsReason,
  rolesOf,
  type Side,
  sides,
} from './action.ts'
export type * from './agent.ts'
export type * from './answer.ts'
export { type PortalBodies, portalBodies } from './body.ts'
export type * from './company.ts'
export { requestOutcomes } from './company.ts'
export { csvLine } from './csv-line.ts'
export type * from './disclosure.ts'
export { acceptedFilters, type FilterName, filterFault, filterFaults, type SortedList, sortColumns } from './filter.ts'
export { type Incident, type IncidentState, incidentStates, type ServiceStatus } from './incident.ts'
export {
  type LiveEvent,
  type LiveTopic,
  livePath,
  liveRoutes,
  liveTopics,
  type ReadRouteName,
  routesAbout,
  topicsOf,
} from './live.ts'
export type * from './member.ts'
export {
  type Delivery,
  deliveries,
  isFixedKind,
  type Notice,
  type NoticeKind,
  type NoticeSettings,
  noticeKinds,
  noticeKindsOf,
} from './notice.ts'
export type * from './operator.ts'
export type * from './organization.ts'
export type * from './portal-answers.ts'
export { type PortalParams, type PortalRouteName, portalApiPath, portalPages, portalRoutes } from './route.ts'
export { faultPattern, type SandboxAction, type SandboxState, sandboxAction, sandboxState } from './sandbox.ts'
export {
  type Passkey,
  type SignInAnswers,
  type SignInBodies,
  type SignInRouteName,
  signInBodies,
  signInRoutes,
} from './sign-in.ts'
export type { Webhook, WebhookAttempt } from './webhook.ts'
