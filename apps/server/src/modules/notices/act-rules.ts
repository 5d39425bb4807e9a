import { isDeepStrictEqual } from 'node:util'
import type { Action, NoticeKind, Side } from '@bridgework/contract/portal'
import { accessInWords } from '../audit/facts.ts'
import type { AuditAction, FactsOf } from '../audit/in-words.ts'
import { quoted } from '../audit/quoted.ts'
import type { NoticeText } from './notice-mail.ts'

/** What acts can cause. */
export type ActEvent =
  | 'grant_given'
  | 'grant_changed'
  | 'grant_ended'
  | 'grant_expired'
  | 'access_requested'
  | 'request_granted'
  | 'request_declined'
  | 'request_invited'
  | 'vendor_renamed'
  | 'company_verified'
  | 'company_unverified'
  | 'domain_lost'
  | 'company_suspended'
  | 'company_resumed'
  | 'company_closed'
  | 'key_made'
  | 'key_replaced'
  | 'key_revoked'

/** What an act becomes, before it is known whom it concerns. */
type ActNotice = NoticeText & { event: ActEvent }

/** What was done, and in words: who did it and why, quoted, and the sentence of the history. */
type Told<Facts> = { facts: Facts; actor: string; because: string; sentence: string }

/** `tenantName`: quoted. `contact`: where people reach the operator. `home`: the path of the tenant's pages. */
type Place = { tenantName: string; contact: string; home: string }

export type ActRule<Facts = never> = {
  kind: NoticeKind
  /** Each that `notice` can give. */
  events: readonly [ActEvent, ...ActEvent[]]
  /** Members whose role may do this are notified. */
  to: Action
  /** Also the person who did it: a stranger may have done it in their name. */
  isActorNotified?: true
  /** Null: this one is no news. */
  notice: (act: Told<Facts>, place: Place) => ActNotice | null
}

const toPractice = { kind: 'access', to: 'grant.change', page: '/vendors' } as const
const toVendor = { kind: 'access', to: 'company.update', page: '/connections' } as const

/**
 * Which notice each act causes, by the side whose history has it; null: none. An act that is missing here does not compile. Rows of
 * conditions (a silent agent, an agreement to accept) are in condition-rules.ts.
 */
export const actRules: { readonly [Name in AuditAction]: Partial<Record<Side, ActRule<FactsOf<Name>>>> | null } = {
  'grant.change': { organization: accessOfVendor(), company: accessAtPractice() },
  'grant.revoke': { organization: accessOfVendor(), company: accessAtPractice() },
  'grant.end': {
    organization: news('grant_expired', toPractice, () => 'A vendor’s access reached its end date'),
    company: news('grant_expired', toVendor, () => 'An access reached its end date'),
  },
  'access_request.make': {
    organization: news('access_requested', toPractice, (actor) => `${actor} asks for access`),
  },
  'access_request.decline': {
    company: news('request_declined', toVendor, (actor) => `${actor} declined your request`),
  },
  'access_request.invite': {
    company: news('request_invited', toVendor, (actor) => `${actor} lets you ask for access again`),
  },
  'company.rename': {
    organization: news('vendor_renamed', toPractice, () => 'A vendor with access changed its name'),
  },
  'operator.company_verify': { company: verification() },
  'company.domain_lost': {
    company: news(
      'domain_lost',
      { kind: 'company', to: 'company.update', page: '/settings' },
      () => 'The proof of your website was not found',
    ),
  },
  'operator.company_suspend': { company: companyState(['company_suspended', 'company_resumed']) },
  'operator.company_close': { company: companyState(['company_closed']) },
  'key_pair.generate': { company: keyMade() },
  'key_pair.revoke': { company: keyRevoked() },

  // Noticed as conditions, which also remind and end.
  'operator.agreement_publish': null,
  'agreement.accept': null,
  'agent.enroll': null,
  'removal.decide': null,
  // People who are added, changed or removed get mails of their own (modules/sign-in, modules/recovery).
  'member.manage': null,
  'member_session.end': null,
  'sign_in_rule.change': null,
  'identity_provider.change': null,
  'ownership.transfer': null,
  'operator.second_factor_reset': null,
  // In the history alone: colleagues’ everyday work.
  'access_request.withdraw': null,
  'company.domain_check': null,
  'disclosure.identify': null,
  'patient.search': null,
  'agent.revoke': null,
  'agent_updates.change': null,
  'agent.take_over': null,
  'attribution.update': null,
  'company.update': null,
  'location.update': null,
  'webhook.change': null,
  'organization.update': null,
  'seal.mail': null,
  // The operator's own work.
  'operator.company_create': null,
  'operator.organization_create': null,
  'operator.incident_post': null,
  'operator.support_view': null,
  'agent_release.publish': null,
  'agent_release.withdraw': null,
  'company.erase': null,
  'database.migrate': null,
  'database.restore': null,
  'disclosure.account': null,
  'disclosure.drop_month': null,
  'organization.erase': null,
  'organization.export': null,
  'sandbox.populate': null,
  'secret_key.drop': null,
  'secret_key.rotate': null,
  'signing_key.rotate': null,
  'signing_key.withdraw': null,
  // Of an account: those that a stranger could cause are mailed at once (modules/sign-in/account-event.ts).
  'account.sign_up': null,
  'account.invitation_accept': null,
  'account.sign_in': null,
  'account.sign_out': null,
  'account.session_end': null,
  'account.sign_out_everywhere': null,
  'account.update': null,
  'account.email_change': null,
  'account.email_undo': null,
  'account.password_change': null,
  'account.password_reset': null,
  'account.two_factor_enable': null,
  'account.two_factor_disable': null,
  'account.recovery_code_use': null,
  'account.recovery_codes_renew': null,
  'account.identity_link': null,
  'account.passkey_add': null,
  'account.passkey_delete': null,
}

/** For the practice, of a colleague or of the operator. */
function accessOfVendor(): ActRule<FactsOf<'grant.change'>> {
  return {
    kind: 'access',
    events: ['grant_given', 'grant_changed', 'grant_ended'],
    to: 'grant.change',
    notice: ({ facts, actor }, { home }) => {
      const change = changeOf(facts)
      if (change === null) return null
      const name = quoted(facts.vendor?.name ?? '')
      const titles = {
        given: `${name} was granted access`,
        changed: `The access of ${name} was changed`,
        ended: `The access of ${name} was ended`,
      }
      const body = `${actor} did this. ${beforeAndNow(facts)}`
      return { event: `grant_${change}`, title: titles[change], body, path: `${home}/vendors` }
    },
  }
}

/** For the vendor, from whose history the practice is known as the one who acted. */
function accessAtPractice(): ActRule<FactsOf<'grant.change'>> {
  return {
    kind: 'access',
    events: ['grant_given', 'grant_changed', 'grant_ended', 'request_granted'],
    to: 'company.update',
    notice: ({ facts, actor }, { home }) => {
      const [body, path] = [beforeAndNow(facts), `${home}/connections`]
      if (facts.isRequested) return { event: 'request_granted', title: `${actor} granted your request`, body, path }
      const change = changeOf(facts)
      if (change === null) return null
      const titles = {
        given: `${actor} granted you access`,
        changed: `${actor} changed your access`,
        ended: `${actor} ended your access`,
      }
      return { event: `grant_${change}`, title: titles[change], body, path }
    },
  }
}

/** Null: what may be read is the same. */
function changeOf({ before, after }: FactsOf<'grant.change'>) {
  if (isDeepStrictEqual(before, after)) return null
  if (before.length === 0) return 'given'
  return after.length === 0 ? 'ended' : 'changed'
}

function beforeAndNow({ before, after }: FactsOf<'grant.change'>): string {
  return `Before: ${accessInWords(before)}. Now: ${accessInWords(after)}.`
}

/** What the history says, with a title of its own. */
function news(
  event: ActEvent,
  { page, ...rule }: { kind: NoticeKind; to: Action; page: string },
  title: (actor: string) => string,
): ActRule<unknown> {
  return {
    ...rule,
    events: [event],
    notice: ({ actor, sentence }, { home }) => ({
      event,
      title: title(actor),
      // What the service does by itself has no actor.
      body: `${actor === quoted('Bridgework') ? '' : `${actor}: `}${sentence}.`,
      path: `${home}${page}`,
    }),
  }
}

function verification(): ActRule<FactsOf<'operator.company_verify'>> {
  return {
    kind: 'company',
    events: ['company_verified', 'company_unverified'],
    to: 'company.update',
    notice: ({ facts, because }, { tenantName, contact, home }) =>
      facts.isVerified
        ? {
            event: 'company_verified',
            title: 'Your company was verified',
            body: `Practices now find ${tenantName} as a verified vendor. Questions: ${contact}.`,
            path: home,
          }
        : {
            event: 'company_unverified',
            title: 'Your company is no longer verified',
            body: `Practices that do not know ${tenantName} yet do not find it. Access that you have goes on.${because} Questions: ${contact}.`,
            path: home,
          },
  }
}

function companyState(events: ActRule['events']): ActRule<FactsOf<'operator.company_suspend'>> {
  return {
    kind: 'company',
    events,
    to: 'company.update',
    notice: ({ facts: { state }, because }, { tenantName, contact, home }) => {
      const of = {
        active: `${tenantName} is active again. Your keys work as before.`,
        suspended: `The operator of Bridgework suspended ${tenantName}. Every request is refused until the operator resumes it. Nothing is deleted.`,
        closed: `The operator of Bridgework closed ${tenantName} for good. Every request is refused from now on.`,
      }
      const done = ({ active: 'resumed', suspended: 'suspended', closed: 'closed' } as const)[state]
      const body = `${of[state]}${because} Questions: ${contact}.`
      return { event: `company_${done}`, title: `Your company was ${done}`, body, path: home }
    },
  }
}

function keyMade(): ActRule<FactsOf<'key_pair.generate'>> {
  return {
    kind: 'keys',
    events: ['key_made', 'key_replaced'],
    to: 'key_pair.read',
    isActorNotified: true,
    notice: ({ facts: { clientId, replaced }, actor }, { home }) => {
      // A second click changes nothing.
      if (clientId === undefined) return null
      const isReplaced = replaced !== undefined
      return {
        event: isReplaced ? 'key_replaced' : 'key_made',
        title: isReplaced ? 'The API key pair was replaced' : 'An API key pair was generated',
        body: `${actor} did this.${isReplaced ? ' The pair before no longer works: put the new one where your software reads it.' : ''} If you do not expect it, revoke the pair.`,
        path: `${home}/keys`,
      }
    },
  }
}

function keyRevoked(): ActRule<FactsOf<'key_pair.revoke'>> {
  return {
    kind: 'keys',
    events: ['key_revoked'],
    to: 'key_pair.read',
    isActorNotified: true,
    notice: ({ actor }, { home }) => ({
      event: 'key_revoked',
      title: 'The API key pair was revoked',
      body: `${actor} did this. Requests with it are refused. Generate a new pair to go on.`,
      path: `${home}/keys`,
    }),
  }
}
