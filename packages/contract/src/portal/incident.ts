import type { Instant } from './answer.ts'

/** How far the operator is with an incident, in this order. */
export const incidentStates = ['investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentState = (typeof incidentStates)[number]

/** Something that went wrong with the service, in the operator's words; published when it is written. */
export type Incident = {
  id: string
  title: string
  /** That of the newest update. */
  state: IncidentState
  began_at: Instant
  /** Newest first. */
  updates: { state: IncidentState; text: string; posted_at: Instant }[]
}

/** For everyone: incidents that are not resolved, and those of the last 30 days, newest first. */
export type ServiceStatus = { incidents: Incident[] }
