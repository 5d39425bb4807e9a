import type { FreshnessState } from '../envelope.ts'
import type { AuditEvent } from './account.ts'
import type { AgentEntry, AgentProblem, EnrolmentCode, LocationWriter, ReadProgress } from './agent.ts'
import type { Done, Instant, Listed } from './answer.ts'
import type { AccessRequest, VendorProfile } from './company.ts'
import type {
  DisclosedRecords,
  DisclosureEntry,
  DisclosureGroup,
  DisclosureSummary,
  FoundPatients,
  PatientAccounting,
} from './disclosure.ts'

export type OrganizationPage = {
  id: string
  name: string
  time_zone: string | null
  country: string | null
  created_at: Instant
  locations: number
  /** `missed`: living ones that are not heard though they should be. */
  agents: { living: number; connected: number; missed: number }
  /** Removals that wait for a person. */
  removals: number
  vendors: number
  /** Members, invited ones included. */
  members: number
  /** When the first steps on the overview were dismissed; null: never. */
  first_steps_dismissed_at: Instant | null
  /** Active locations by the state of the dataset that is furthest behind. */
  locations_by_state: Record<FreshnessState, number>
  /** The first few active locations that are not current, the worst first. */
  locations_not_current: { id: string; name: string; state: FreshnessState }[]
  /** What agents say is wrong, by agent; those that say nothing are left out. */
  agent_problems: { agent_id: string; name: string; problems: AgentProblem[] }[]
  /** The first few first syncs that have not finished. `reading`: what the location's agent reads at this moment. */
  first_syncs: FirstSync[]
  /** Locations at which a second agent was refused within a day. */
  locations_with_two_agents: number
  /** Agents of which a second copy was refused within a day. */
  agents_with_copies: number
  /** Requests of vendors that wait for an answer. */
  access_requests: { company_id: string; company_name: string }[]
  /** Vendors with access that got another name within 30 days. */
  renamed_vendors: Rename[]
  /** What can be granted, in the contract's order. */
  datasets: { dataset: string; title: string; has_patient_data: boolean; has_notes: boolean }[]
}

/** How far the first sync of a location is: `complete` of its `datasets` were read to the end. */
export type FirstSync = {
  location_id: string
  name: string
  datasets: number
  complete: number
  reading: ReadProgress | null
}

/** A name that a vendor had until then. */
export type Rename = { company_id: string; name: string; former_name: string; used_until: Instant }

export type DatasetCopy = {
  dataset: string
  title: string
  state: FreshnessState
  synced_at: Instant | null
  initial_sync_completed_at: Instant | null
  total: number
  /** Of the total, those that the practice management system still has. */
  visible: number
  /** Attributes that the practice management system, or its export, never has. */
  attributes_not_provided: string[]
  /** `held`: a removal waits for a person; `running`: one is carried out. */
  removal: 'held' | 'running' | null
  /** Why its agent does not read it; null: it says of nothing. */
  problem: string | null
}

export type LocationEntry = {
  id: string
  source_id: string
  name: string
  address: string | null
  /** What its agent reads with; null: none is known, and nothing with a time is taken. */
  time_zone: string | null
  /** What a person set; the agent takes it over at its next contact. */
  assigned_time_zone: string | null
  website_url: string | null
  is_active: boolean
  /** Since when the practice management system has not had it. */
  closed_at: Instant | null
  practice_management_system: { name: string | null; version: string | null }
  /** Null: no agent has written here yet. */
  writer: LocationWriter | null
  /** That of the dataset that is furthest behind. */
  state: FreshnessState
  datasets: DatasetCopy[]
}

export type TimelineRange = '24h' | '7d'

/** One cell of a dataset's timeline: `read`: read to the end at least once; `missed`: not, though open; `closed`: not, and out of hours; `none`: before the first sync. */
export type TimelineCell = { at: Instant; reads: number; kind: 'read' | 'missed' | 'closed' | 'none' }

export type LocationPage = LocationEntry & {
  range: TimelineRange
  cell_seconds: number
  timeline: { dataset: string; cells: TimelineCell[] }[]
  /** What its agent says is wrong here. */
  problems: AgentProblem[]
  /** What its agent reads at this moment. */
  reading: ReadProgress | null
}

export type RemovalEntry = {
  location_id: string
  location_name: string
  dataset: string
  title: string
  /** `held`: waits for a person; `running`: confirmed, or small enough, and being carried out. */
  state: 'held' | 'running'
  /** Names the list of records, to confirm what was seen. */
  list_hash: string
  /** Records that are still to be hidden, and those that are. */
  remaining: number
  hidden: number
  /** Visible records when it was held. */
  visible: number
  held_at: Instant
  location_closed: boolean
}

/** Records of a dataset that stay visible though they are missing, because a person decided so. */
export type KeptRecords = {
  location_id: string
  location_name: string
  dataset: string
  title: string
  records: number
  kept_at: Instant
}

/** `records`: the first 100 by source id. `name` only where it is not a patient's. */
export type RemovalPage = RemovalEntry & { records: { source_id: string; name: string | null; updated_at: Instant }[] }

export type VendorEntry = {
  company_id: string
  name: string
  is_verified: boolean
  verified_domain: string | null
  /** As a data URL; null: it has none. */
  logo: string | null
  /** Whether it may read something now. */
  has_access: boolean
  locations: number
  datasets: string[]
  last_read_at: Instant | null
  granted_at: Instant | null
}

/** A vendor that may read the practice's data, or did within the days of the list. */
export type ReaderEntry = {
  company_id: string
  name: string
  /** As a data URL; null: it has none. */
  logo: string | null
  is_verified: boolean
  /** Whether it may read something now. */
  has_access: boolean
  datasets: string[]
  locations: number
  granted_at: Instant | null
  /** When its access ends by the clock; null: it has no end. */
  ends_at: Instant | null
  last_read_at: Instant | null
  /** Records that it read on each of the days; null: the person may not see how much was read. */
  records: number[] | null
}

/** One grant of the history, in force or ended. */
export type GrantEntry = {
  company_id: string
  company_name: string
  /** Null: every location of the organization, those of the future included. */
  location_id: string | null
  location_name: string | null
  dataset: string
  /** Whether its notes are granted too. */
  notes: boolean
  granted_at: Instant
  granted_by: string
  revoked_at: Instant | null
  revoked_by: string | null
  purpose: string | null
  ends_at: Instant | null
}

export type VendorPage = {
  company_id: string
  name: string
  profile: VendorProfile
  /** Of the last 30 days, the latest first. */
  former_names: Rename[]
  state: 'active' | 'suspended' | 'closed'
  agreement_in_force: boolean
  last_read_at: Instant | null
  /** What the access is for; null: not said. */
  purpose: string | null
  /** When it ends by the clock; null: it has no end. */
  ends_at: Instant | null
  /** The last day before that, on the practice's clock: 2027-12-31. */
  ends_on: string | null
  /** Names what may be read now, for a change of it. */
  access_version: string
  /** Datasets that are granted for every location, those of the future included. */
  all_locations: string[]
  /** Of those, the ones with their notes. */
  all_locations_notes: string[]
  /** Every location of the organization with the datasets that the vendor may read there now, and those of them with their notes. */
  locations: { id: string; name: string; datasets: string[]; notes: string[] }[]
  history: GrantEntry[]
}

/** How many datasets, counted at each location, may be read now (or with their notes) and could not before, and the reverse. */
export type AccessChanged = { opened: number; closed: number }

/** What a dataset reveals: its attributes with an invented example. */
export type DatasetPreview = {
  dataset: string
  title: string
  description: string
  has_patient_data: boolean
  records: number
  attributes: { name: string; description: string; example: string }[]
}

export type AttributionEntry = {
  location_id: string
  location_name: string
  website_url: string | null
  key: string
  /** What to paste before the end of `<head>`. */
  snippet: string
  /** As the practice set them; none: those of its website. */
  domains: string[]
  /** Those that count now. */
  own_domains: string[]
  excluded_paths: string[]
  is_installed: boolean
  installed_at: Instant | null
  last_seen_at: Instant | null
  sightings: { origin: string; is_own_domain: boolean; first_seen_at: Instant; last_seen_at: Instant }[]
}

export type OrganizationAnswers = {
  getOrganization: OrganizationPage
  countWaiting: { removals: number; access_requests: number }
  updateOrganization: Done
  updateLocation: Done
  takeOverLocation: Done
  takeOverAgent: Done
  listOrganizationEvents: Listed<AuditEvent>
  exportOrganizationEvents: string
  listLocations: Listed<LocationEntry>
  getLocation: LocationPage
  /** `takes_updates`: agents take published releases by themselves. `newest_release`: the newest one; null: none is published. */
  listAgents: { data: AgentEntry[]; takes_updates: boolean; newest_release: string | null }
  setAgentUpdates: Done
  createEnrolmentCode: EnrolmentCode
  revokeAgent: Done
  /** `kept`: what people rejected, as far as it is still missing, the oldest decision first. */
  listRemovals: { data: RemovalEntry[]; kept: KeptRecords[] }
  previewRemoval: RemovalPage
  /** `remaining`: what is hidden in the background from now on. */
  confirmRemoval: { hidden: number; remaining: number }
  rejectRemoval: Done
  reviewRejection: Done
  listVendors: Listed<VendorEntry>
  getVendor: VendorPage
  /** `days`: of the practice, up to today. */
  listReaders: { data: ReaderEntry[]; days: string[] }
  changeVendorAccess: AccessChanged
  setVendorTerms: Done
  revokeVendorAccess: AccessChanged
  listVendorRequests: { data: AccessRequest[] }
  grantVendorRequest: AccessChanged
  declineVendorRequest: Done
  inviteVendorRequest: Done
  previewDataset: DatasetPreview
  listGrants: Listed<GrantEntry>
  listDisclosures: { data: DisclosureEntry[]; next_before: string | null }
  /** `today`: of the practice. `next_to`: the last of the days before those of this answer; null: there are none. */
  listDisclosureDays: { data: DisclosureGroup[]; today: string; next_to: string | null }
  summarizeDisclosures: DisclosureSummary
  exportDisclosures: string
  exportSealedDisclosures: string
  accountForPatient: PatientAccounting
  listDisclosedRecords: DisclosedRecords
  exportDisclosedRecords: string
  findPatients: FoundPatients
  /**
   * `sealed_at`, `entries`: of the practice's newest seal; null: it has none yet. `mailed_to`: the owner, who gets the seals when `is_mailed`;
   * null: there is none.
   */
  getSealKey: {
    public_key: string
    sealed_at: Instant | null
    entries: number | null
    is_mailed: boolean
    mailed_to: string | null
  }
  setSealMail: Done
  dismissFirstSteps: Done
  listAttribution: Listed<AttributionEntry>
  updateAttribution: AttributionEntry
}
