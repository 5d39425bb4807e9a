import { userInfo } from 'node:os'
import type { AuditAction, FactsOf } from '../../modules/audit/in-words.ts'
import { type Concerned, recordOperatorAct } from '../../modules/audit/operator-act.ts'
import { listMembers } from '../../modules/membership/member.ts'
import { operator } from '../../modules/membership/tenant.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { optional, required, text } from './option.ts'

/** Puts the act of a command on record. Hand down the transaction of the change. */
export type RecordAct<Action extends AuditAction> = (
  db: Queryable,
  facts: FactsOf<Action>,
  ...concerned: readonly (Concerned | undefined)[]
) => Promise<void>

/** Options of every command that leaves an act. */
export const actOptions = {
  as: optional('<address>', 'your e-mail address as an operator, for the history', text),
  reason: optional('<text>', 'why, for the history', text),
}

/** The same where the command hands out what is known of patients. */
export const reasonedOptions = { ...actOptions, reason: required('<text>', 'why, for the history', text) }

/**
 * Who did it is the user of this system, and the admin that they say they are: nothing here can prove more. Throws Problem member_unknown when
 * no operator has that address, and role_denied for one in support.
 */
export function createRecorder(
  action: AuditAction | null,
  { as, reason }: { as?: string; reason?: string },
): RecordAct<AuditAction> {
  return async (db, facts, ...concerned) => {
    if (action === null) throw new Error('a command without an act recorded one')
    const person = as === undefined ? undefined : await requireOperator(db, as)
    const actor = person
      ? `${person.name} <${person.email}> (command line, ${systemUser()})`
      : `The operator of Bridgework (command line, ${systemUser()})`
    const who = { userId: person?.userId ?? null, actor, ip: null, requestId: null }
    await recordOperatorAct(db, { ...who, action, facts, reason: reason?.trim() || null }, ...concerned)
  }
}

async function requireOperator(db: Queryable, email: string) {
  const found = (await listMembers(db, operator)).find((each) => each.email.toLowerCase() === email.toLowerCase())
  // The command line can do everything, so it could not hold what support may not.
  if (found?.role === 'support')
    throw new Problem('role_denied', { errors: `${found.email} is in support, which works in the portal.` })
  if (found) return found
  throw new Problem('member_unknown', { errors: `No operator has the address ${email}. See "operator list".` })
}

/** A container may run as a user without a name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
