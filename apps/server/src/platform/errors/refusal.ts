/** Why an act of an operator or a member was refused: for programs. The text is for the person. */
export type RefusalCode =
  | 'organization_unknown'
  | 'location_unknown'
  | 'company_unknown'
  | 'member_unknown'
  | 'agent_unknown'
  | 'agreement_unknown'
  | 'key_pair_unknown'
  | 'signing_key_unknown'
  | 'member_not_owner'
  | 'member_not_permitted'
  | 'member_exists'
  | 'owner_exists'
  | 'owner_stays'
  | 'member_active'
  | 'member_not_active'
  | 'last_operator'
  | 'company_closed'
  | 'agreement_not_accepted'
  | 'agreement_not_current'
  | 'agreement_version_wrong'
  | 'key_pair_exists'
  | 'key_pair_not_live'
  | 'grant_covers_all_locations'
  | 'removal_unknown'
  | 'removal_changed'
  | 'field_invalid'
  | 'not_in_production'
  | 'account_exists'
  | 'account_other'

/**
 * An act that the rules of the house refuse: nothing was changed, and the message tells the person who tried what is wrong and what would
 * work. Not a `Problem`: it is raised below every door, and each door (command line, portal) gives it its own form.
 */
export class Refusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
  }
}
