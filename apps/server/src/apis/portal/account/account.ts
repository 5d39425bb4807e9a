import type { Membership } from '@bridgework/contract/portal'
import { listAuditOfPerson } from '../../../modules/audit/store.ts'
import { listMailFolder } from '../../../modules/mail/folder.ts'
import { nameOfTenant } from '../../../modules/membership/tenant.ts'
import { listMembershipsOf, type MembershipEntry } from '../../../modules/overview/tenants.ts'
import { recordAccountEvent } from '../../../modules/sign-in/account-event.ts'
import { freshMs, idleTimeoutMs, sessionLifetimeMs } from '../../../modules/sign-in/auth.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import { secondFactorOwed } from '../../../modules/sign-in/second-factor.ts'
import {
  countPasskeys,
  endAllSessions,
  endSession,
  listSessions,
  renamePerson,
} from '../../../modules/sign-in/store.ts'
import { endSupportView, findSupportView } from '../../../modules/sign-in/support-view.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { requireText } from '../../../platform/errors/field.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { parseUuid } from '../../../platform/identity/identity.ts'
import { toAuditEvent } from '../shared/audit.ts'
import type { Call, PortalHandlers } from '../shared/context.ts'
import { csrfTokenOf } from '../shared/csrf.ts'

/** What a person asks about themselves and the installation. */
export const accountHandlers: PortalHandlers<
  | 'getEnvironment'
  | 'listSandboxMail'
  | 'getSession'
  | 'updateAccount'
  | 'listSessions'
  | 'endAllSessions'
  | 'endSession'
  | 'endSupportView'
  | 'listAccountEvents'
> = {
  getEnvironment: async ({ environment, publicUrl, mailDir, clientPackage }) => ({
    environment,
    mail_page: mailDir === null ? null : '/mail',
    docs_url: `${publicUrl}/docs`,
    client: await clientPackage(),
  }),

  listSandboxMail: async ({ mailDir }) => {
    if (mailDir === null) throw new Problem('route_unknown')
    const mails = listMailFolder(mailDir, mailsMax)
    return { data: mails.map(({ sentAt, ...mail }) => ({ sent_at: sentAt, ...mail })) }
  },

  getSession: async ({ pool, secretKey, now }, { person }) => {
    const [memberships, passkeys, asSupport] = await Promise.all([
      listMembershipsOf(pool, person.userId),
      countPasskeys(pool, person.userId),
      asSupportOf(pool, person, now()),
    ])
    const { signedInAt, provedAt } = person
    const after = (moment: Date, ms: number) => new Date(moment.getTime() + ms).toISOString()
    return {
      user: {
        id: person.userId,
        name: person.name,
        email: person.email,
        two_factor_enabled: person.isTwoFactorEnabled,
        passkeys,
      },
      csrf_token: csrfTokenOf(secretKey, person),
      signed_in_at: signedInAt.toISOString(),
      fresh_until: provedAt === null ? signedInAt.toISOString() : after(provedAt, freshMs),
      ends_at: after(signedInAt, sessionLifetimeMs),
      idle_timeout_seconds: idleTimeoutMs / 1000,
      through_provider: person.identityProviderId !== null,
      memberships: [
        ...memberships
          .filter(({ providerId }) => person.identityProviderId === null || providerId === person.identityProviderId)
          .map((each) => toMembership(each, person, person.isTwoFactorEnabled || passkeys > 0)),
        ...asSupport,
      ],
    }
  },

  updateAccount: async ({ pool }, call) => {
    const name = requireText(call.body.name, 'your name')
    await withTransaction(pool, (client) => renamePerson(client, call.person.userId, name))
    await recordAccountEvent(pool, { ...eventOf(call), action: 'account.update', facts: { name } })
    return { done: true }
  },

  listSessions: async ({ pool }, { person }) => ({
    data: (await listSessions(pool, person.userId)).map((each) => ({
      id: each.id,
      is_current: each.id === person.sessionId,
      signed_in_at: each.signedInAt.toISOString(),
      last_seen_at: each.lastSeenAt.toISOString(),
      ip: each.ip,
      user_agent: each.userAgent,
    })),
  }),

  endAllSessions: async ({ pool }, call) => {
    await endAllSessions(pool, call.person.userId)
    await recordAccountEvent(pool, { ...eventOf(call), action: 'account.sign_out_everywhere' })
    return { done: true }
  },

  endSession: async ({ pool }, call) => {
    const sessionId = parseUuid(call.params.session_id ?? '')
    if (!sessionId || !(await endSession(pool, call.person.userId, sessionId))) throw new Problem('not_found')
    await recordAccountEvent(pool, { ...eventOf(call), action: 'account.session_end' })
    return { done: true }
  },

  endSupportView: async ({ pool }, { person }) => {
    await endSupportView(pool, person.sessionId)
    return { done: true }
  },

  listAccountEvents: async ({ pool }, { person }) => ({
    data: (await listAuditOfPerson(pool, person.userId, eventsMax)).map(toAuditEvent),
  }),
}

/** The company or practice that the session may look at as support, if any. The server asks at each request whether its person is an operator. */
async function asSupportOf(db: Queryable, { sessionId }: Person, now: Date): Promise<Membership[]> {
  const view = await findSupportView(db, sessionId, now)
  if (!view || view.tenant.side === 'operator') return []
  const { side, id } = view.tenant
  const name = await nameOfTenant(db, view.tenant)
  const nothing = { second_factor: null, identity_provider: null }
  return [{ side, id, name, role: 'support', ...nothing, support_until: view.endsAt.toISOString() }]
}

function toMembership(entry: MembershipEntry, person: Person, hasSecondFactor: boolean): Membership {
  const { side, id, name, role } = entry
  return {
    side,
    id,
    name,
    role,
    second_factor: secondFactorOwed(entry.secondFactorSince, person, hasSecondFactor),
    identity_provider:
      entry.providerId === null
        ? null
        : {
            name: entry.providerName,
            sign_in_name: entry.signInName,
            is_owed:
              entry.isProviderRequired &&
              person.identityProviderId === null &&
              !(role === 'owner' && person.gaveSecondFactor),
          },
    support_until: null,
  }
}

const eventsMax = 100
const mailsMax = 50

function eventOf({ person, ip, requestId }: Call<'updateAccount' | 'endAllSessions' | 'endSession'>) {
  return { user: { id: person.userId, name: person.name, email: person.email }, ip, requestId }
}
