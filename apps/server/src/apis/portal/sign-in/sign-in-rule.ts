import { recordAudit } from '../../../modules/audit/store.ts'
import { findProvider } from '../../../modules/identity-provider/store.ts'
import { queueMail } from '../../../modules/mail/queue.ts'
import { listMembers } from '../../../modules/membership/member.ts'
import {
  allowWithoutSecondFactor,
  getSignInRule,
  requireSecondFactor,
} from '../../../modules/membership/sign-in-rule.ts'
import { lockTenant, nameOfTenant, type Tenant } from '../../../modules/membership/tenant.ts'
import { findAccounts } from '../../../modules/sign-in/people.ts'
import { hasSecondFactor } from '../../../modules/sign-in/second-factor.ts'
import { secondFactorMail } from '../../../modules/sign-in/sign-in-mail.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { tenantOf } from '../shared/membership.ts'

/** What owners ask of the sign-ins of their members. */
export const signInRuleHandlers: PortalHandlers<'getSignInRule' | 'changeSignInRule'> = {
  getSignInRule: async ({ pool }, { member }) => {
    const { secondFactorSince } = await getSignInRule(pool, tenantOf(member))
    return { second_factor_since: secondFactorSince?.toISOString() ?? null }
  },

  changeSignInRule: async ({ pool, publicUrl }, call) => {
    const tenant = tenantOf(call.member)
    const isRequired = call.body.second_factor_required
    if (isRequired) {
      // An owner without one would be locked out of the page where this can be undone.
      if (!(await hasSecondFactor(pool, call.person))) throw new Problem('second_factor_missing')
      if (!call.person.gaveSecondFactor) throw new Problem('second_factor_sign_in_required')
    }
    await withTransaction(pool, async (client) => {
      await lockTenant(client, tenant)
      const change = isRequired ? requireSecondFactor : allowWithoutSecondFactor
      if (!(await change(client, tenant))) return
      const provider = await findProvider(client, tenant)
      if (isRequired && provider?.isRequired && !provider.countsAsSecondFactor) {
        throw new Problem('identity_provider_without_factor')
      }
      if (isRequired) await mailThoseWithout(client, tenant, publicUrl)
      await recordAudit(client, entryOf(call, 'sign_in_rule.change', { isOn: isRequired }))
    })
    return { done: true }
  },
}

async function mailThoseWithout(client: Queryable, tenant: Tenant, publicUrl: string): Promise<void> {
  const members = await listMembers(client, tenant)
  const accounts = await findAccounts(
    client,
    members.flatMap(({ userId }) => userId ?? []),
  )
  const tenantName = await nameOfTenant(client, tenant)
  for (const account of accounts.values()) {
    if (!account.hasSecondFactor) await queueMail(client, secondFactorMail(publicUrl, account, tenantName))
  }
}
