import type { ProblemCode } from '@bridgework/contract'
import { Problem } from '../../platform/errors/problem.ts'
import { Refusal, type RefusalCode } from '../../platform/errors/refusal.ts'

/** What the rules of the house refuse, in this door's form. */
export function refuse(error: unknown): never {
  if (!(error instanceof Refusal)) throw error
  throw new Problem(problemOf[error.code] ?? 'act_refused', { errors: error.message, cause: error })
}

/** Everything else is a conflict with what is: 409. */
const problemOf: Partial<Record<RefusalCode, ProblemCode>> = {
  field_invalid: 'field_invalid',
  organization_unknown: 'organization_unknown',
  company_unknown: 'company_unknown',
  location_unknown: 'location_unknown',
  member_unknown: 'thing_unknown',
  agent_unknown: 'thing_unknown',
  removal_unknown: 'thing_unknown',
  key_pair_unknown: 'thing_unknown',
  member_not_owner: 'role_denied',
  member_not_permitted: 'role_denied',
  agreement_not_accepted: 'agreement_not_accepted',
}
