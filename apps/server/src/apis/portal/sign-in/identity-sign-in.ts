import type { SignInRouteName } from '@bridgework/contract/portal'
import { unsealText } from '../../../modules/credentials/sealed-text.ts'
import { beginSignIn, finishSignIn, type Identity } from '../../../modules/identity-provider/open-id-connect.ts'
import {
  flowLifetimeSeconds,
  type SignInFlow,
  sealFlow,
  unsealFlow,
} from '../../../modules/identity-provider/sign-in-flow.ts'
import {
  findLinkedMember,
  findProviderById,
  findProviderByName,
  type IdentityProvider,
  linkIdentity,
  markTested,
} from '../../../modules/identity-provider/store.ts'
import { findMember, findMemberOf, type Member } from '../../../modules/membership/member.ts'
import { getSignInRule } from '../../../modules/membership/sign-in-rule.ts'
import { nameOfTenant, type Tenant, tenantIdOf } from '../../../modules/membership/tenant.ts'
import { recordAccountEvent } from '../../../modules/sign-in/account-event.ts'
import { admitAttempt } from '../../../modules/sign-in/attempt-limit.ts'
import { acceptInvitation, findInvitation } from '../../../modules/sign-in/invitation.ts'
import { isFresh } from '../../../modules/sign-in/person.ts'
import { hasSecondFactor } from '../../../modules/sign-in/second-factor.ts'
import { noteSignInBegun, takeSignInBegun } from '../../../modules/sign-in/sign-in-under-way.ts'
import { endSession } from '../../../modules/sign-in/store.ts'
import { requireText } from '../../../platform/errors/field.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { PortalContext } from '../shared/context.ts'
import { requireCsrfToken } from '../shared/csrf.ts'
import { requireSecondFactor } from '../shared/membership.ts'
import type { SignInCall, SignInHandler } from './sign-in-call.ts'

/** Signing in through an organization's identity provider: the page sends the browser there, and posts what the provider sends back. */
export const identitySignInHandlers: {
  [Name in Extract<SignInRouteName, `${string}IdentitySignIn`>]: SignInHandler<Name>
} = {
  startIdentitySignIn: async (context, call) => {
    const { body } = call
    // Each one makes us call another server, so each one counts.
    await admitAttempt(context.pool, context.secretKey, 'identity_provider', { ip: call.ip })
    const provider = await findProviderByName(context.pool, body.sign_in_name)
    if (!provider) throw new Problem('identity_provider_unknown')
    const next = body.next ?? `/${provider.tenant.side}/${tenantIdOf(provider.tenant)}`
    const { url, cookie } = await beginAt(context, provider, {
      ...(await purposeOf(context, provider, call)),
      next,
    })
    return { answer: { url }, headers: new Headers({ 'set-cookie': cookie }) }
  },

  finishIdentitySignIn: async (context, call) => {
    const { pool, secretKey, publicUrl, providerAccess } = context
    const attempt = await admitAttempt(pool, secretKey, 'identity_provider', { ip: call.ip })
    // The cookie is of this browser alone and never sent from another site, so it also proves that our page asks.
    const flow = await unsealFlow(secretKey, cookieOf(call.headers))
    const provider = flow && (await findProviderById(pool, flow.providerId))
    if (!provider || tenantIdOf(provider.tenant) !== call.body.tenant_id) throw new Problem('identity_sign_in_lost')
    // Whatever comes of it: a cookie that somebody copied is worth nothing afterwards.
    if (!(await takeSignInBegun(pool, flow.checks.state))) throw new Problem('identity_sign_in_lost')
    if ('sessionId' in flow && call.person?.sessionId !== flow.sessionId) throw new Problem('identity_sign_in_lost')
    const returned = new URL(redirectUriOf(publicUrl, provider.tenant))
    returned.search = call.body.query
    const client = await clientOf(context, provider)
    const identity = await finishSignIn(client, providerAccess, returned, flow.checks, context.now())
    await attempt.succeeded()
    const answer = { next: flow.next, tested: null }
    if (flow.purpose === 'test') {
      await markTested(pool, provider.id)
      const { subject, email, signedInAt } = identity
      const tested = { subject, email, is_fresh: signedInAt !== null }
      return { answer: { ...answer, tested }, headers: forgetFlow(context) }
    }
    const member = await memberOfFlow(context, call, provider, flow, identity)
    const { userId, name, email } = member
    if (userId === null) throw notLinked(provider)
    const { headers } = await context.auth.api.signInThroughProvider({
      body: {
        userId,
        providerId: provider.id,
        countsAsSecondFactor: provider.countsAsSecondFactor,
        authenticatedAt: identity.signedInAt,
      },
      headers: call.headers,
      returnHeaders: true,
    })
    // A new sign-in ends the session before: a cookie that was planted or forgotten is worth nothing.
    if (call.person) await endSession(pool, call.person.userId, call.person.sessionId)
    for (const cookie of forgetFlow(context).getSetCookie()) headers.append('set-cookie', cookie)
    const event = {
      action: 'account.sign_in',
      user: { id: userId, name, email },
      facts: { provider: provider.name },
    } as const
    return { answer, headers, event }
  },
}

/** Where a tenant's provider sends people back to. One of its own for each tenant, so that no provider's answer is taken for another's. */
export function redirectUriOf(publicUrl: string, tenant: Tenant): string {
  return `${publicUrl}/sign-in/callback/${tenantIdOf(tenant)}`
}

type Distribute<T> = T extends unknown ? Omit<T, 'providerId' | 'checks'> : never

/** Begins a sign-in at a provider: where to send the browser, and the cookie by which it is recognized when it comes back. */
export async function beginAt(
  context: PortalContext,
  provider: IdentityProvider,
  wanted: Distribute<SignInFlow>,
): Promise<{ url: string; cookie: string }> {
  const { pool, publicUrl, secretKey, providerAccess } = context
  const redirectUri = redirectUriOf(publicUrl, provider.tenant)
  const { url, checks } = await beginSignIn(await clientOf(context, provider), providerAccess, redirectUri)
  await noteSignInBegun(pool, checks.state, flowLifetimeSeconds)
  const sealed = await sealFlow(secretKey, { ...wanted, providerId: provider.id, checks })
  return { url, cookie: flowCookie(context, sealed, flowLifetimeSeconds) }
}

type Purpose =
  | { purpose: 'sign_in' }
  | { purpose: 'link'; sessionId: string }
  | { purpose: 'accept'; token: string; name: string }

async function purposeOf(
  { pool, secretKey, now }: PortalContext,
  { tenant }: IdentityProvider,
  { body, person, headers }: SignInCall<'startIdentitySignIn'>,
): Promise<Purpose> {
  if (body.invitation) {
    const { token, name } = body.invitation
    const { member, hasAccount } = await findInvitation(pool, secretKey, token)
    if (tenantIdOf(member.tenant) !== tenantIdOf(tenant)) throw new Problem('invitation_unknown')
    // An account is its person's: only they can link it, when they are signed in to it.
    if (hasAccount) throw new Problem('account_exists')
    return { purpose: 'accept', token, name: requireText(name, 'your name') }
  }
  if (!body.link) return { purpose: 'sign_in' }
  if (!person) throw new Problem('sign_in_required')
  requireCsrfToken(secretKey, person, { headers: Object.fromEntries(headers) })
  if (person.identityProviderId !== null) throw new Problem('full_sign_in_required')
  if (!(await findMemberOf(pool, tenant, person.userId))) throw new Problem('identity_provider_unknown')
  // Else a stolen password would link an identity of the thief's, and become a second factor by that.
  const { secondFactorSince } = await getSignInRule(pool, tenant)
  if (secondFactorSince) requireSecondFactor(secondFactorSince, person, await hasSecondFactor(pool, person))
  if (!isFresh(person, now())) throw new Problem('fresh_sign_in_required')
  return { purpose: 'link', sessionId: person.sessionId }
}

/**
 * The member whom the person at the provider is. Only a link that the member made says so, never an e-mail address: a provider can claim any
 * address, and must never sign in anybody who did not choose it.
 */
async function memberOfFlow(
  { pool, secretKey }: PortalContext,
  { person, ip, requestId }: SignInCall<'finishIdentitySignIn'>,
  provider: IdentityProvider,
  flow: Exclude<SignInFlow, { purpose: 'test' }>,
  { subject }: Identity,
): Promise<Member> {
  const linkedId = await findLinkedMember(pool, provider.id, subject)
  if (flow.purpose === 'sign_in') {
    const member = linkedId && (await findMember(pool, linkedId))
    if (!member) throw notLinked(provider)
    return member
  }
  if (flow.purpose === 'link') {
    const member = person && (await findMemberOf(pool, provider.tenant, person.userId))
    if (!member) throw notLinked(provider)
    if (linkedId !== member.id) await link(member)
    return member
  }
  if (linkedId !== null) throw new Problem('identity_linked')
  const newPerson = { name: flow.name, passwordHash: null }
  const { id } = await acceptInvitation(pool, secretKey, { token: flow.token, person: null, newPerson, ip, requestId })
  const member = await findMember(pool, id)
  if (!member) throw new Problem('invitation_unknown')
  await link(member)
  return member

  async function link({ id: memberId, userId, name, email }: Member) {
    await linkIdentity(pool, { memberId, providerId: provider.id, subject })
    const facts = { provider: provider.name, tenant: await nameOfTenant(pool, provider.tenant) }
    const user = { id: userId ?? '', name, email }
    await recordAccountEvent(pool, { action: 'account.identity_link', user, facts, ip, requestId })
  }
}

function notLinked({ name }: IdentityProvider): Problem {
  return new Problem('identity_not_linked', {
    errors: `This account at ${name} belongs to no member here yet. Open your invitation, or sign in with your password once and link it there.`,
  })
}

async function clientOf({ secretKey }: PortalContext, { issuer, clientId, clientSecret }: IdentityProvider) {
  return { issuer, clientId, clientSecret: await unsealText(secretKey, clientSecret) }
}

const cookieName = 'bridgework.identity_sign_in'

function cookieOf(headers: Headers): string {
  const all = (headers.get('cookie') ?? '').split(/; */)
  return all.find((each) => each.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? ''
}

function flowCookie({ publicUrl }: PortalContext, value: string, maxAge: number): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${value}; Path=/portal/api; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`
}

function forgetFlow(context: PortalContext): Headers {
  return new Headers({ 'set-cookie': flowCookie(context, '', 0) })
}
