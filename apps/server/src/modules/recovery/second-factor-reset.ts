import type { PoolClient } from 'pg'
import { Problem } from '../../platform/errors/problem.ts'
import type { FactsOf } from '../audit/in-words.ts'
import type { Concerned } from '../audit/operator-act.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { queueMail } from '../mail/queue.ts'
import { listMembershipsOfPerson } from '../membership/member.ts'
import { makeResetLink } from '../sign-in/reset-link.ts'
import { type HeldMeans, listMeans, type Removal, removeMeans } from './means.ts'
import { listRemoved, secondFactorResetMail } from './recovery-mail.ts'
import { markRecovered } from './request-beginning.ts'

/**
 * Every second factor, because a lost phone has the app and a passkey. The password as well: who asks for the reset proved nothing that an operator
 * can check, and a stolen password alone must not become a sign-in. So the mailbox is the way back. An identity provider proves by itself who
 * signs in, for its own company or practice alone. A link that restores an earlier address stays: a stranger may have changed the address.
 */
const ofLostFactor: Removal = {
  password: 'all',
  one_time_password: 'all',
  recovery_codes: 'all',
  passkey: 'all',
  provider_identity: 'none',
  session: 'all',
  link: 'all',
  undo_link: 'none',
}

/**
 * Resets the second factor of an account, and mails its person a link for a new password, which is also answered, for an installation without a mail
 * server. `record` gets the act's facts, and whose histories have it: the person's, and those of their companies and practices. Throws Problem
 * second_factor_none for an account without one.
 */
export async function resetSecondFactor(
  client: PoolClient,
  { secretKey, publicUrl }: { secretKey: SecretKey; publicUrl: string },
  account: { id: string; name: string; email: string },
  record: (facts: FactsOf<'operator.second_factor_reset'>, concerned: readonly Concerned[]) => Promise<void>,
): Promise<{ link: string }> {
  const held = await listMeans(client, account.id)
  const providers = namesOf(held)
  if (!held.some(({ means }) => means === 'one_time_password' || means === 'passkey')) throw nothingToReset(providers)
  const removed = await removeMeans(client, secretKey, account.id, ofLostFactor)
  await markRecovered(client, account.id)
  const token = await makeResetLink(client, account.id)
  await queueMail(client, secondFactorResetMail(publicUrl, account, { removed, providers, token }))
  const tenants = (await listMembershipsOfPerson(client, account.id)).map(({ tenant }) => tenant)
  await record({ person: account, removed: listRemoved(removed) }, [
    { side: 'account', id: account.id },
    ...tenants.filter((tenant) => tenant.side !== 'operator'),
  ])
  return { link: `${publicUrl}/reset-password#${token}` }
}

function namesOf(held: readonly HeldMeans[]): string[] {
  return held.flatMap(({ means, name }) => (means === 'provider_identity' && name !== null ? [name] : []))
}

function nothingToReset(providers: readonly string[]): Problem {
  if (providers.length === 0) return new Problem('second_factor_none')
  const errors = `This account has no second factor here. Its person signs in through ${providers.join(' and ')}: ask the IT of that provider to reset it there.`
  return new Problem('second_factor_none', { errors })
}
