import { recordAudit } from '../../../modules/audit/store.ts'
import { sealText, unsealText } from '../../../modules/credentials/sealed-text.ts'
import { discover } from '../../../modules/identity-provider/open-id-connect.ts'
import {
  countLinks,
  deleteProvider,
  findProvider,
  type IdentityProvider,
  saveProvider,
} from '../../../modules/identity-provider/store.ts'
import { getSignInRule } from '../../../modules/membership/sign-in-rule.ts'
import { lockTenant, type Tenant, tenantIdOf } from '../../../modules/membership/tenant.ts'
import { hasSecondFactor } from '../../../modules/sign-in/second-factor.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { requireText } from '../../../platform/errors/field.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { entryOf } from '../shared/audit.ts'
import type { Call, PortalHandlers } from '../shared/context.ts'
import { tenantOf } from '../shared/membership.ts'
import { beginAt, redirectUriOf } from './identity-sign-in.ts'

/** How the owner of a company or a practice sets its identity provider up. The operator has none. */
export const identityProviderHandlers: PortalHandlers<
  'getIdentityProvider' | 'saveIdentityProvider' | 'testIdentityProvider' | 'deleteIdentityProvider'
> = {
  getIdentityProvider: async ({ pool, publicUrl }, { member }) => {
    const tenant = tenantOf(member)
    const provider = await findProvider(pool, tenant)
    return {
      redirect_uri: redirectUriOf(publicUrl, tenant),
      provider: provider && {
        sign_in_name: provider.signInName,
        sign_in_url: `${publicUrl}/sign-in?provider=${provider.signInName}`,
        name: provider.name,
        issuer: provider.issuer,
        client_id: provider.clientId,
        counts_as_second_factor: provider.countsAsSecondFactor,
        required: provider.isRequired,
        tested_at: provider.testedAt?.toISOString() ?? null,
        linked_members: await countLinks(pool, provider.id),
      },
    }
  },

  saveIdentityProvider: async ({ pool, secretKey, providerAccess }, call) => {
    const { body } = call
    const tenant = requireNotOperator(tenantOf(call.member))
    const signInName = requireSignInName(body.sign_in_name)
    const name = requireText(body.name, 'the name of the identity provider')
    const issuer = requireIssuer(body.issuer)
    const clientId = requireText(body.client_id, 'the client ID')
    const before = await findProvider(pool, tenant)
    const clientSecret =
      body.client_secret ?? (before && (await unsealText(secretKey, before.clientSecret))) ?? requireSecret()
    // Before anything is stored: a wrong issuer is found here, and not by the first member.
    await discover({ issuer, clientId, clientSecret }, providerAccess)
    const { required: isRequired, counts_as_second_factor: countsAsSecondFactor } = body
    const settings = {
      signInName,
      name,
      issuer,
      clientId,
      clientSecret: await sealText(secretKey, clientSecret),
      countsAsSecondFactor,
      isRequired,
    }
    await withTransaction(pool, async (client) => {
      await lockTenant(client, tenant)
      await requireWayIn(client, call, tenant, settings)
      await saveProvider(client, tenant, settings)
      await recordAudit(
        client,
        entryOf(call, 'identity_provider.change', {
          name,
          issuer,
          settings: { clientId, isRequired, countsAsSecondFactor },
        }),
      )
    })
    return { done: true }
  },

  testIdentityProvider: async (context, call) => {
    const provider = await findProvider(context.pool, tenantOf(call.member))
    if (!provider) throw new Problem('identity_provider_unknown')
    const { url, cookie } = await beginAt(context, provider, {
      purpose: 'test',
      sessionId: call.person.sessionId,
      next: `/${call.member.side}/${tenantIdOf(provider.tenant)}/identity-provider`,
    })
    call.reply.header('set-cookie', cookie)
    return { url }
  },

  deleteIdentityProvider: async ({ pool }, call) => {
    await withTransaction(pool, async (client) => {
      const tenant = tenantOf(call.member)
      await lockTenant(client, tenant)
      const before = await findProvider(client, tenant)
      if (!before || !(await deleteProvider(client, tenant))) throw new Problem('identity_provider_unknown')
      const { name, issuer } = before
      await recordAudit(client, entryOf(call, 'identity_provider.change', { name, issuer }))
    })
    return { done: true }
  },
}

/**
 * These settings must lock no member out: a provider is required only after a sign-in at it succeeded, by an owner who can come back with
 * a second factor of their own; and members who need a second factor must be able to have one.
 */
async function requireWayIn(
  client: Queryable,
  { person }: Call<'saveIdentityProvider'>,
  tenant: Tenant,
  next: Pick<IdentityProvider, 'issuer' | 'clientId' | 'isRequired' | 'countsAsSecondFactor'>,
): Promise<void> {
  if (!next.isRequired) return
  const before = await findProvider(client, tenant)
  const isTested = before?.issuer === next.issuer && before.clientId === next.clientId && before.testedAt !== null
  if (!isTested) throw new Problem('identity_provider_untested')
  if (!(await hasSecondFactor(client, person))) throw new Problem('second_factor_missing')
  const { secondFactorSince } = await getSignInRule(client, tenant)
  if (secondFactorSince && !next.countsAsSecondFactor) throw new Problem('identity_provider_without_factor')
}

function requireNotOperator(tenant: Tenant): Tenant {
  if (tenant.side === 'operator') throw new Problem('not_found')
  return tenant
}

function requireSignInName(text: string): string {
  const name = text.trim().toLowerCase()
  if (/^[a-z0-9](?:[a-z0-9-]{1,38})[a-z0-9]$/.test(name)) return name
  throw new Problem('field_invalid', {
    errors: 'The sign-in name must have 3 to 40 letters, digits and hyphens, as in smile-dental.',
  })
}

function requireIssuer(text: string): string {
  const issuer = text.trim()
  const url = URL.canParse(issuer) ? new URL(issuer) : null
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username
  if (isPlain && !issuer.includes('/.well-known/')) return issuer
  throw new Problem('field_invalid', {
    errors: 'The issuer must be an address like https://login.example.com, without /.well-known/openid-configuration.',
  })
}

function requireSecret(): never {
  throw new Problem('field_invalid', { errors: 'Enter the client secret.' })
}
