import type { Instant } from './answer.ts'

/** Why an agent does not read or send something, in sentences of the service. `datasets` (titles), `locations` (names): none: all. */
export type AgentProblem = { what: string; todo: string; since: Instant; datasets: string[]; locations: string[] }

/**
 * `connected`: heard within the last 3 minutes. `office_closed`: not, and all its locations have been closed since; `silent`: not, though one was open
 * for so long. `never_heard`: it enrolled and did not run yet.
 */
export type AgentState = 'connected' | 'office_closed' | 'silent' | 'never_heard' | 'revoked'

export type AgentEntry = {
  id: string
  name: string
  version: string | null
  enrolled_at: Instant
  revoked_at: Instant | null
  last_contact_at: Instant | null
  state: AgentState
  /** The last release that it did not take by itself: it refused the file, or the version before runs again. Null: none. */
  failed_release: { version: string; outcome: 'refused' | 'rolled_back' } | null
  problems: AgentProblem[]
  /** What it reads at this moment. */
  reading: ReadProgress | null
  /** The computer whose requests are taken; null: none is known. */
  computer: string | null
  /** A second copy of it that was refused within a day. */
  copy: { process_id: string; computer: string; at: Instant } | null
}

/** Shown once. `systems`: for each kind of computer, what this service has to download for it, and what to paste, one step after the other. */
export type EnrolmentCode = {
  code: string
  expires_at: Instant
  systems: {
    name: string
    note: string
    downloads: { label: string; name: string; url: string }[]
    steps: { title: string; command: string }[]
  }[]
}

/** The agent that writes at a location. */
export type LocationWriter = {
  agent_id: string
  name: string
  last_contact_at: Instant | null
  since: Instant
  /** A revoked one's place is taken by the next agent that reads the location. */
  is_revoked: boolean
  /** Another living agent that wanted to write here within a day, and was refused. */
  refused: { agent_id: string; name: string; at: Instant } | null
}

/**
 * How far an agent has come with what it reads at the moment: in rows of the practice's system. `rows_total` null: not known; `seconds_left` null: not
 * known yet.
 */
export type ReadProgress = {
  title: string
  rows_read: number
  rows_total: number | null
  seconds_left: number | null
}
