import type { MemberRole } from './action.ts'
import type { Done, Instant, Listed } from './answer.ts'
import type { Notice } from './notice.ts'

/** A person who acts for a company, for an organization or for the operator, or was invited to. */
export type Member = {
  id: string
  name: string
  email: string
  role: MemberRole
  /** `invited`: the link was mailed and not used yet; `expired`: it can be no more. */
  state: 'active' | 'invited' | 'expired'
  is_you: boolean
  /** An authenticator app or a passkey. */
  has_second_factor: boolean
  joined_at: Instant
}

/** What a company, an organization or the operator asks of its members' sign-ins. Null: no second factor. */
export type SignInRule = { second_factor_since: Instant | null }

/** A session of a member that was used for the company or practice. `last_used_at`: for it, whatever else the member did. */
export type MemberSession = {
  id: string
  is_current: boolean
  signed_in_at: Instant
  last_used_at: Instant
  ip: string | null
  user_agent: string | null
  second_factor: boolean
}

/** How members sign in through an identity provider. `redirect_uri`: what its IT enters there. The client secret is never answered. */
export type IdentityProviderPage = {
  redirect_uri: string
  provider: {
    sign_in_name: string
    sign_in_url: string
    name: string
    issuer: string
    client_id: string
    counts_as_second_factor: boolean
    required: boolean
    tested_at: Instant | null
    linked_members: number
  } | null
}

export type MemberAnswers = {
  getIdentityProvider: IdentityProviderPage
  saveIdentityProvider: Done
  /** Where to send the browser. */
  testIdentityProvider: { url: string }
  deleteIdentityProvider: Done
  /** The latest 200. */
  listMemberSessions: { data: MemberSession[] }
  endMemberSession: Done
  endMemberSessions: { ended: number }
  getSignInRule: SignInRule
  changeSignInRule: Done
  listNotices: Listed<Notice> & { unread: number }
  countUnreadNotices: { unread: number }
  markNoticesRead: Done
  listMembers: { data: Member[] }
  inviteMember: Member
  updateMember: Done
  removeMember: Done
  resendInvitation: Done
  transferOwnership: Done
}
