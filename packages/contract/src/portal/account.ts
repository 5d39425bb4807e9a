import type { MemberRole, Side } from './action.ts'
import type { Done, Instant } from './answer.ts'
import type { ServiceStatus } from './incident.ts'
import type { NoticeSettings } from './notice.ts'

/** What the sign-in pages need to know of the installation. */
export type Environment = {
  environment: 'sandbox' | 'production'
  mail_page: string | null
  docs_url: string
  /** The package of the client that this service hands out; null: it has none. */
  client: { url: string; sha256: string } | null
}

/**
 * Something a person may act for. An operator has one entry with the side and the id `operator`. `second_factor`: what the person owes where
 * one is required; null: nothing. `next_sign_in`: to set one up at the next sign-in; before the rest is open again, `sign_in`: to sign in
 * with the one that they have, `set_up`: to set one up.
 */
export type Membership = {
  side: Side
  id: string
  name: string
  role: MemberRole
  second_factor: 'next_sign_in' | 'sign_in' | 'set_up' | null
  /** Through which members can sign in. `is_owed`: this person must, before the rest is open. */
  identity_provider: { name: string; sign_in_name: string; is_owed: boolean } | null
  /** Of an operator who looks at it as support, read-only: until when. Null: the person is a member. */
  support_until: Instant | null
}

/** Who is signed in. `csrf_token` goes into X-CSRF-Token of whatever is not a GET. */
export type Session = {
  user: { id: string; name: string; email: string; two_factor_enabled: boolean; passkeys: number }
  csrf_token: string
  signed_in_at: Instant
  /** Until then, acts that need a fresh sign-in need no other. `signed_in_at` where an identity provider did not say that the person had just signed in. */
  fresh_until: Instant
  /** Whatever happens, nobody stays signed in longer. */
  ends_at: Instant
  idle_timeout_seconds: number
  /** An identity provider began the session: `memberships` has its company or practice alone, and nothing of the account can be changed. */
  through_provider: boolean
  memberships: Membership[]
}

export type OpenSession = {
  id: string
  is_current: boolean
  signed_in_at: Instant
  last_seen_at: Instant
  ip: string | null
  user_agent: string | null
}

/** What acts are about, and the sides whose histories have such acts. */
export const auditKinds = {
  people: { title: 'Members and sign-in', sides: ['company', 'organization', 'operator'] },
  access: { title: 'Vendor access', sides: ['organization', 'operator'] },
  keys: { title: 'Keys and agreement', sides: ['company', 'operator'] },
  locations: { title: 'Locations and agents', sides: ['organization', 'operator'] },
  removals: { title: 'Removals', sides: ['organization', 'operator'] },
  disclosures: { title: 'Disclosures', sides: ['organization', 'operator'] },
  settings: { title: 'Settings', sides: ['company', 'organization', 'operator'] },
  tenants: { title: 'Companies and practices', sides: ['company', 'organization', 'operator'] },
  service: { title: 'Service', sides: ['operator'] },
  account: { title: 'Account', sides: [] },
} as const satisfies Record<string, { title: string; sides: readonly Side[] }>
export type AuditKind = keyof typeof auditKinds

/** Something that a person did, for the history of a company, an organization, the operator or an account. */
export type AuditEvent = {
  id: string
  occurred_at: Instant
  actor: string
  /** As recorded: `key_pair.generate`. */
  action: string
  /** What was done, as a sentence about the actor, with what others wrote in quotation marks: `Revoked the agent “Front desk”`. */
  what: string
  /** What the sentence leaves out. */
  details: string | null
  /** Why, where the person said so. */
  reason: string | null
  ip: string | null
  request_id: string | null
}

/** A sign-up that waits for the click of the mailbox' owner. */
export type WaitingSignUp = { side: 'company' | 'organization'; tenant_name: string; name: string; email: string }

export type Invitation = {
  side: Side
  tenant_name: string
  email: string
  name: string
  role: MemberRole
  has_account: boolean
  second_factor_required: boolean
  identity_provider: { name: string; sign_in_name: string } | null
}

/** A mail that the sandbox kept in a file instead of sending it. */
export type SandboxMail = { sent_at: Instant; recipient: string; subject: string; text: string }

export type AccountAnswers = {
  getEnvironment: Environment
  /** `token`: null in production. */
  getReferenceToken: { token: string | null }
  signUp: Done
  findSignUp: WaitingSignUp
  /** `refusal`: why it would be refused; null when it is good. */
  checkPassword: { refusal: string | null }
  findInvitation: Invitation
  acceptInvitation: { side: Side; id: string }
  /** The newest 50, the newest first. */
  listSandboxMail: { data: SandboxMail[] }
  getSession: Session
  updateAccount: Done
  listSessions: { data: OpenSession[] }
  endAllSessions: Done
  endSession: Done
  endSupportView: Done
  getStatus: ServiceStatus
  listAccountEvents: { data: AuditEvent[] }
  /** One for each company or practice that the person belongs to. */
  listNoticeSettings: { data: NoticeSettings[] }
  changeNoticeSetting: Done
}
