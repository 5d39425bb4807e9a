import type { FreshnessState } from '../envelope.ts'
import type { AuditEvent } from './account.ts'
import type { MemberRole, Side } from './action.ts'
import type { AgentProblem, AgentState, ReadProgress } from './agent.ts'
import type { Done, Instant, Listed } from './answer.ts'
import type { LoggedRequest, Usage } from './company.ts'
import type { Incident } from './incident.ts'

export type OperatorOverview = {
  environment: 'sandbox' | 'production'
  started_at: Instant
  database: {
    version: string
    size_bytes: number
    largest_tables: { name: string; size_bytes: number; rows: number }[]
  }
  counts: {
    companies: number
    organizations: number
    locations: number
    records: number
    agents: number
    disclosures: number
  }
  agents: { connected: number; silent: number; never_heard: number }
  /** Locations, by their least current dataset. */
  freshness: Record<FreshnessState, number>
  /** The first few active locations that are not current, the worst first. */
  not_current: {
    location_id: string
    name: string
    organization_id: string
    organization_name: string
    state: FreshnessState
  }[]
  removals_held: number
  /** Active companies that no operator verified; practices do not find them in production. */
  companies_not_verified: number
}

export type OperatorCompany = {
  id: string
  name: string
  state: 'active' | 'suspended' | 'closed'
  owner_email: string
  second_factor_required: boolean
  created_at: Instant
  agreement_in_force: boolean
  has_live_key_pair: boolean
  organizations: number
  last_request_at: Instant | null
  /** Null: not verified. */
  verified_at: Instant | null
  verified_by: string | null
  /** What the company says of itself, to verify it by. */
  legal_name: string | null
  website: string | null
  contact: string | null
  verified_domain: string | null
}

export type OperatorOrganization = {
  id: string
  name: string
  owner_email: string | null
  second_factor_required: boolean
  created_at: Instant
  locations: number
  agents: number
  last_contact_at: Instant | null
}

export type OperatorAgent = {
  id: string
  name: string
  version: string | null
  organization_id: string
  organization_name: string
  enrolled_at: Instant
  last_contact_at: Instant | null
  state: AgentState
  problems: AgentProblem[]
  /** What it reads at this moment. */
  reading: ReadProgress | null
}

export type Jobs = {
  /** Work that waits because a change alters many other records. */
  rerendering: {
    location_id: string
    dataset: string
    waiting: number
    /** Of those that wait, how many failed at their last try, and the name of the error. */
    failing: number
    last_error: string | null
    since: Instant
  }[]
  mail: { waiting: number; failing: number; oldest_at: Instant | null; last_error: string | null }
  removals: {
    location_id: string
    location_name: string
    organization_id: string
    organization_name: string
    dataset: string
    state: 'held' | 'running'
    list_hash: string
    remaining: number
    hidden: number
    visible: number
    held_at: Instant
    /** How often the last slice failed, and the name of the error. */
    attempts: number
    last_error: string | null
  }[]
}

export type Limits = {
  slots: {
    company_id: string
    company_name: string
    sync_type: 'initial' | 'incremental'
    location_ids: string[]
    max: number
  }[]
  /** Addresses with token requests in the last 60 s. */
  token_attempts: { address: string; admitted: number; max: number; oldest_at: Instant }[]
}

export type AgreementVersion = {
  version: number
  body: string
  published_at: Instant
  enforced_at: Instant
  accepted_by_companies: number
}

export type PlotRange = '24h' | '7d' | '30d'

/** What happened at one or several locations; a bucket for each part of the range, oldest first. */
export type ActivityPlot = {
  range: PlotRange
  buckets: {
    at: Instant
    reads: number
    records_read: number
    /** Reads that were answered with 400 or more. */
    read_errors: number
    /** Requests of agents for these locations. */
    uploads: number
    records_changed: number
    upload_errors: number
    /** How old the copy of the dataset furthest behind became; null: not measured. */
    lag_seconds: number | null
  }[]
}

export type AgentPlot = { range: PlotRange; buckets: { at: Instant; requests: number; errors: number }[] }

type NamedLocation = { id: string; name: string; is_active: boolean; state: FreshnessState }

export type OperatorCompanyPage = OperatorCompany & {
  usage: Usage
  /** Those that granted it something, the first hundred by name. */
  granted_by: { id: string; name: string }[]
}

export type OperatorOrganizationPage = {
  id: string
  name: string
  time_zone: string | null
  created_at: Instant
  locations: NamedLocation[]
  agents: { id: string; name: string; state: OperatorAgent['state']; last_contact_at: Instant | null }[]
  activity: ActivityPlot
}

export type OperatorAgentPage = OperatorAgent & {
  /** Those that it writes. */
  locations: NamedLocation[]
  requests: AgentPlot
  activity: ActivityPlot
}

export type OperatorLocationPage = NamedLocation & {
  organization_id: string
  organization_name: string
  time_zone: string | null
  practice_management_system: { name: string | null; version: string | null }
  agent: { id: string; name: string } | null
  datasets: { dataset: string; title: string; state: FreshnessState; synced_at: Instant | null; records: number }[]
  activity: ActivityPlot
}

/** Measures of all processes together: the highest lag, the sum of memory and connections. A null has no measure. */
export type ServicePlot = {
  range: '1h' | '24h' | '7d'
  buckets: {
    at: Instant
    processes: number
    event_loop_lag_ms: number | null
    memory_bytes: number | null
    connections_busy: number | null
    connections_waited_for: number | null
    connections_max: number | null
    slots_in_use: number | null
    database_bytes: number | null
    disk_free_bytes: number | null
    rerender_waiting: number | null
    mails_waiting: number | null
  }[]
}

/** Somebody who has an account, and what they act for. */
export type OperatorPerson = {
  id: string
  name: string
  email: string
  created_at: Instant
  /** An authenticator app or a passkey. */
  has_second_factor: boolean
  memberships: { side: Side; id: string; name: string; role: MemberRole }[]
}

/** What an account can be signed in with. `link`: one that was mailed, or a sign-in under way; `undo_link`: restores an earlier address. */
export type SignInMeans =
  | 'password'
  | 'one_time_password'
  | 'recovery_codes'
  | 'passkey'
  | 'provider_identity'
  | 'session'
  | 'link'
  | 'undo_link'

export type OperatorPersonPage = OperatorPerson & {
  /** `name`: of a passkey or a provider. `added_at`: since when it counts. */
  means: { means: SignInMeans; name: string | null; added_at: Instant }[]
}

/** Something that a search found. `detail`: the state of a company, the practice of a location or agent, the address of a person. */
export type FoundThing = {
  kind: 'company' | 'organization' | 'location' | 'agent' | 'person'
  id: string
  name: string
  detail: string | null
}

export type OperatorAnswers = {
  /** At most ten of each kind. `request`: the one with this id, if it is kept. */
  findAnything: { data: FoundThing[]; request: (LoggedRequest & { company_id: string; company_name: string }) | null }
  beginSupportView: { ends_at: Instant }
  listIncidents: { data: Incident[] }
  openIncident: { id: string }
  updateIncident: Done
  getOperatorOverview: OperatorOverview
  listOperatorCompanies: Listed<OperatorCompany>
  createOperatorCompany: { id: string }
  setCompanyState: Done
  setCompanyVerification: Done
  listOperatorOrganizations: Listed<OperatorOrganization>
  createOperatorOrganization: { id: string }
  listOperatorAgents: Listed<OperatorAgent>
  listOperatorPeople: Listed<OperatorPerson>
  getOperatorPerson: OperatorPersonPage
  resetSecondFactor: Done
  getOperatorCompany: OperatorCompanyPage
  getOperatorOrganization: OperatorOrganizationPage
  getOperatorAgent: OperatorAgentPage
  getOperatorLocation: OperatorLocationPage
  getServicePlot: ServicePlot
  getJobs: Jobs
  getLimits: Limits
  listAgreements: { data: AgreementVersion[]; companies: number }
  publishAgreement: Done
  listOperatorEvents: Listed<AuditEvent>
  exportOperatorEvents: string
}
