import type { MemberRole } from './action.ts'
import type { Done, Instant } from './answer.ts'

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

export type MemberAnswers = {
  getSignInRule: SignInRule
  changeSignInRule: Done
  listMembers: { data: Member[] }
  inviteMember: Member
  updateMember: Done
  removeMember: Done
  resendInvitation: Done
  transferOwnership: Done
}
