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
  two_factor_enabled: boolean
  joined_at: Instant
}

export type MemberAnswers = {
  listMembers: { data: Member[] }
  inviteMember: Member
  updateMember: Done
  removeMember: Done
  resendInvitation: Done
  transferOwnership: Done
}
