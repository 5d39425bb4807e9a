import type { FreshnessState } from '../envelope.ts'
import type { AuditEvent } from './account.ts'
import type { Done, Instant, Listed } from './answer.ts'
import type { Notice } from './notice.ts'

export type CompanyPage = {
  id: string
  name: string
  state: 'active' | 'suspended' | 'closed'
  created_at: Instant
  owner: { name: string; email: string }
  agreement: AgreementState
  /** The live pair; null when there is none. */
  key_pair: { client_id: string; created_at: Instant; last_used_at: Instant | null } | null
  connections: { organizations: number; locations: number }
}

/** How many practices grant a company something: no more is said than that. */
export type PracticeRange = '0' | '1-4' | '5-19' | '20-99' | '100-499' | '500+'

/** What practices see of a company before they grant it access. The members that the company says of itself are null where it says nothing. */
export type VendorProfile = {
  legal_name: string | null
  postal_address: string | null
  website: string | null
  contact: string | null
  purpose: string | null
  /** A `data:` address of a PNG of 128 × 128 pixels. */
  logo: string | null
  /** Proved to be the company's. */
  verified_domain: string | null
  /** When the operator verified who the company is; null: not yet. */
  verified_at: Instant | null
  since: Instant
  practices: PracticeRange
}

/** The proof of the website's domain: what it takes, and what the last check found. */
export type DomainProof = {
  domain: string
  /** The TXT record is at `dns_name`, or the file at `file_url`; either says `token` and nothing else. */
  token: string
  dns_name: string
  file_url: string
  method: 'dns' | 'file' | null
  verified_at: Instant | null
  checked_at: Instant | null
  /** What the last check did not find, in words; null: it passed, or there was none. */
  dns_failure: string | null
  file_failure: string | null
}

export type CompanyProfilePage = { profile: VendorProfile; domain: DomainProof | null }

export type AgreementState = {
  current_version: number
  accepted_version: number | null
  is_in_force: boolean
  /** When the current version binds a company that has not accepted it: its keys stop working then. Null when it was accepted. */
  required_at: Instant | null
}

export type AgreementPage = AgreementState & {
  /** Markdown. */
  body: string
  published_at: Instant
  accepted_at: Instant | null
  accepted_by: string | null
  /** Every company must have accepted this version, or a newer one, by now; null: none is required yet. */
  required_now: { version: number; since: Instant } | null
}

export type KeyPairEntry = {
  id: string
  client_id: string
  created_at: Instant
  created_by: string | null
  state: 'live' | 'revoked'
  revoked_at: Instant | null
  revoked_by: string | null
  last_used_at: Instant | null
}

/** The one answer that holds a secret; it cannot be had again. */
export type NewKeyPair = { client_id: string; client_secret: string }

export type Connection = {
  organization_id: string
  organization_name: string
  purpose: string | null
  /** When the access ends by the clock; null: it has no end. */
  ends_at: Instant | null
  /** How many were found, of which this page has some. */
  locations_total: number
  locations: {
    id: string
    name: string
    city: string | null
    state: string | null
    has_attribution_script: boolean
    datasets: { dataset: string; granted_at: Instant; state: FreshnessState; synced_at: Instant | null }[]
  }[]
}

/**
 * What a practice ended at one moment, and did not grant again. `location_names`: the first ten; null: all locations of the practice.
 * `notes_alone`: the dataset itself may still be read.
 */
export type EndedAccess = {
  organization_id: string
  organization_name: string
  ended_at: Instant
  datasets: { dataset: string; notes_alone: boolean; locations: number; location_names: string[] | null }[]
}

/** A request for access. `declined` may be made again 30 days later, or when the practice lets the company. */
export type AccessRequest = {
  id: string
  organization_id: string
  organization_name: string
  company_id: string
  company_name: string
  datasets: string[]
  /** In the company's words; null: all locations. */
  locations: string | null
  purpose: string
  asked_at: Instant
  /** Who of the company. */
  asked_by: string
  state: 'open' | 'granted' | 'declined' | 'withdrawn'
  ended_at: Instant | null
  /** What the practice said with its answer. */
  message: string | null
  /** When the practice let the company ask again; null: it did not. */
  invited_at: Instant | null
}

export type UsageRange = '1h' | '24h' | '7d' | '30d'

/** `errors`: answers from 400 on that are not 429. The percentiles of how long requests took are null when there were none. */
export type UsageNumbers = {
  requests: number
  records: number
  throttled: number
  errors: number
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
}

export type Usage = {
  range: UsageRange
  bucket_seconds: number
  totals: UsageNumbers
  /** One for each bucket of the range, oldest first, also where nothing was asked. */
  buckets: (UsageNumbers & { at: Instant })[]
}

export const requestOutcomes = ['ok', 'throttled', 'error', 'unauthenticated'] as const

/** `throttled`: 429. `unauthenticated`: a key pair or token of the company was named and refused with 401. */
export type RequestOutcome = (typeof requestOutcomes)[number]

export type LoggedRequest = {
  id: string
  answered_at: Instant
  request_id: string
  method: string
  /** The pattern, below the vendor API's base. */
  route: string
  location_id: string | null
  client_id: string | null
  outcome: RequestOutcome
  status: number
  code: string | null
  /** What the code says, without what it said of this request's parameters. */
  meaning: string | null
  /** Why a key pair or token was refused; null for all but 401. */
  because: string | null
  /** The parameter that broke a rule, and the rule with what it says; never the value. A parameter that the path does not know is null. */
  parameter: string | null
  rule: string | null
  rule_meaning: string | null
  records: number
  duration_ms: number
}

/** Errors of the same route, status, code, parameter and rule. */
export type RequestErrors = Pick<
  LoggedRequest,
  'method' | 'route' | 'status' | 'code' | 'meaning' | 'parameter' | 'rule' | 'rule_meaning'
> & { requests: number; first_at: Instant; last_at: Instant }

/** A location that a practice granted the company: how current it is, the last requests for it, and the person's notices that name the practice. */
export type ConnectedLocation = Omit<Connection, 'locations' | 'locations_total'> & {
  location: Connection['locations'][number]
  requests: LoggedRequest[]
  notices: Notice[]
}

/** The sandbox makes it on the company's behalf; `body` is the answer's text, cut after 20,000 characters. */
export type FirstCall = { method: 'GET'; url: string; status: number; duration_ms: number; body: string }

export type CompanyAnswers = {
  getCompany: CompanyPage
  updateCompany: Done
  getCompanyProfile: CompanyProfilePage
  updateCompanyProfile: CompanyProfilePage
  setCompanyLogo: Done
  deleteCompanyLogo: Done
  checkCompanyDomain: CompanyProfilePage
  listCompanyEvents: Listed<AuditEvent>
  exportCompanyEvents: string
  getAgreement: AgreementPage
  acceptAgreement: AgreementPage
  listKeyPairs: { data: KeyPairEntry[] }
  generateKeyPair: NewKeyPair
  regenerateKeyPair: NewKeyPair
  revokeKeyPair: Done
  listConnections: Listed<Connection>
  /** By name; at most a thousand. */
  listPractices: { data: { id: string; name: string }[] }
  /** The latest first; what ended long ago is left out where there is much. */
  listEndedAccess: { data: EndedAccess[] }
  /** `datasets`: what can be asked for. */
  listAccessRequests: { data: AccessRequest[]; datasets: string[] }
  requestAccess: Done
  withdrawAccessRequest: Done
  getUsage: Usage
  /** The newest first; `next_before` is null on the last page. */
  listRequests: { data: LoggedRequest[]; next_before: string | null }
  /** The most frequent first. */
  listRequestErrors: { data: RequestErrors[] }
  getConnectedLocation: ConnectedLocation
  makeFirstCall: FirstCall
  sendAgain: FirstCall
}
