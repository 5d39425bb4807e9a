import type { Action, NoticeKind, Side } from '@bridgework/contract/portal'
import type { ActFacts } from '../audit/entry.ts'
import { type AuditAction, actInWords } from '../audit/sentence.ts'
import { inQuotes, readSubject } from '../audit/subject.ts'
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

export type ActRule = {
  kind: NoticeKind
  /** Each that `notice` can give. */
  events: readonly ActEvent[]
  /** Members whose role may do this are notified. */
  to: Action
  /** Also the person who did it: a stranger may have done it in their name. */
  isActorNotified?: true
  /** Null: this one is no news. `contact`: where people reach the operator. */
  notice: (act: ActFacts, about: { tenantName: string; contact: string; home: string }) => ActNotice | null
}

/**
 * Which notice each act causes, by the side whose history has it; null: none. An act that is missing here does not compile. Rows of
 * conditions (a silent agent, an agreement to accept) are in condition-rules.ts.
 */
export const actRules: Record<AuditAction, Partial<Record<Side, ActRule>> | null> = {
  'grant.change': { organization: accessOfVendor(), company: accessAtPractice() },
  'grant.revoke': { organization: accessOfVendor(), company: accessAtPractice() },
  'grant.end': {
    organization: news(
      'access',
      'grant_expired',
      'grant.change',
      '/vendors',
      () => 'A vendor’s access reached its end date',
    ),
    company: news('access', 'grant_expired', 'company.update', '/connections', () => 'An access reached its end date'),
  },
  'access_request.make': {
    organization: news(
      'access',
      'access_requested',
      'grant.change',
      '/vendors',
      ({ actor }) => `${actor} asks for access`,
    ),
  },
  'access_request.grant': {
    company: news(
      'access',
      'request_granted',
      'company.update',
      '/connections',
      ({ actor }) => `${actor} granted your request`,
    ),
  },
  'access_request.decline': {
    company: news(
      'access',
      'request_declined',
      'company.update',
      '/connections',
      ({ actor }) => `${actor} declined your request`,
    ),
  },
  'access_request.invite': {
    company: news(
      'access',
      'request_invited',
      'company.update',
      '/connections',
      ({ actor }) => `${actor} lets you ask for access again`,
    ),
  },
  'company.rename': {
    organization: news(
      'access',
      'vendor_renamed',
      'grant.change',
      '/vendors',
      () => 'A vendor with access changed its name',
    ),
  },
  'operator.company_verify': { company: verification() },
  'company.domain_lost': {
    company: news(
      'company',
      'domain_lost',
      'company.update',
      '/settings',
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
  'organization.update': null,
  'seal.mail': null,
  // The operator's own work.
  'operator.company_create': null,
  'operator.organization_create': null,
  'agent_release.publish': null,
  'agent_release.withdraw': null,
  'backup.create': null,
  'backup.restore': null,
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
function accessOfVendor(): ActRule {
  return {
    kind: 'access',
    events: ['grant_given', 'grant_changed', 'grant_ended'],
    to: 'grant.change',
    notice: (act, { home }) => {
      const { name, before, after, change } = readAccess(act)
      if (before === after) return null
      const titles = {
        given: `${name} was granted access`,
        changed: `The access of ${name} was changed`,
        ended: `The access of ${name} was ended`,
      }
      const body = `${act.actor} did this. Before: ${before}. Now: ${after}.`
      return { event: `grant_${change}`, title: titles[change], body, path: `${home}/vendors` }
    },
  }
}

/** What the history says, with a title of its own. */
function news(kind: NoticeKind, event: ActEvent, to: Action, page: string, title: (act: ActFacts) => string): ActRule {
  return {
    kind,
    events: [event],
    to,
    notice: (act, { home }) => ({
      event,
      title: title(act),
      body: `${act.actor}: ${actInWords(act).what.replace(/[.\s]*$/, '')}.`,
      path: `${home}${page}`,
    }),
  }
}

function verification(): ActRule {
  return {
    kind: 'company',
    events: ['company_verified', 'company_unverified'],
    to: 'company.update',
    notice: (act, { tenantName, contact, home }) => {
      const { reason } = act
      const isVerified = !wordsOf(act).endsWith(': no longer verified')
      const because = reason === null ? '' : ` Reason: ${reason.replace(/[.\s]*$/, '')}.`
      return isVerified
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
          }
    },
  }
}

/** For the vendor, from whose history the practice is known as the one who acted. */
function accessAtPractice(): ActRule {
  return {
    kind: 'access',
    events: ['grant_given', 'grant_changed', 'grant_ended'],
    to: 'company.update',
    notice: (act, { home }) => {
      const { before, after, change } = readAccess(act)
      const name = act.actor
      if (before === after) return null
      const titles = {
        given: `${name} granted you access`,
        changed: `${name} changed your access`,
        ended: `${name} ended your access`,
      }
      const body = `Before: ${before}. Now: ${after}.`
      return { event: `grant_${change}`, title: titles[change], body, path: `${home}/connections` }
    },
  }
}

/** Our words of an act, with places for what others wrote. */
function wordsOf({ subject }: ActFacts): string {
  return readSubject(subject ?? '').words
}

/**
 * An act that is worded in another way is noticed as it is: it must not hold up those behind it. So is one of an earlier release, which marked no name
 * and no purpose, where they may be what says "Before".
 */
function readAccess({ subject }: ActFacts) {
  const { words, fill } = readSubject(subject ?? '')
  const [, name = 'A company', before = 'as in the history', after = inQuotes(words)] =
    /^(?!.*Before: .*Before: )(.*)\. Before: (.*)\. After: (.*?)\.(?: (?:Granted|Purpose|Ends|Decided).*)?$/s.exec(
      words,
    ) ?? []
  const change = before === 'nothing' ? 'given' : after === 'nothing' ? 'ended' : 'changed'
  return { name: fill(name), before: fill(before), after: fill(after), change } as const
}

function companyState(events: readonly ActEvent[]): ActRule {
  return {
    kind: 'company',
    events,
    to: 'company.update',
    notice: (act, { tenantName, contact, home }) => {
      const { reason } = act
      const state = (['active', 'suspended', 'closed'] as const).find((each) => wordsOf(act).endsWith(`: ${each}`))
      if (state === undefined) return null
      const because = reason === null ? '' : ` Reason: ${reason.replace(/[.\s]*$/, '')}.`
      const ask = `${because} Questions: ${contact}.`
      const of = {
        active: `${tenantName} is active again. Your keys work as before.${ask}`,
        suspended: `The operator of Bridgework suspended ${tenantName}. Every request is refused until the operator resumes it. Nothing is deleted.${ask}`,
        closed: `The operator of Bridgework closed ${tenantName} for good. Every request is refused from now on.${ask}`,
      }
      const titles = { active: 'resumed', suspended: 'suspended', closed: 'closed' } as const
      return {
        event: `company_${titles[state]}`,
        title: `Your company was ${titles[state]}`,
        body: of[state],
        path: home,
      }
    },
  }
}

function keyMade(): ActRule {
  return {
    kind: 'keys',
    events: ['key_made', 'key_replaced'],
    to: 'key_pair.read',
    isActorNotified: true,
    notice: (act, { home }) => {
      const { actor } = act
      // A second click changes nothing.
      if (wordsOf(act).startsWith('Refused')) return null
      const isReplaced = / which ended /.test(wordsOf(act))
      return {
        event: isReplaced ? 'key_replaced' : 'key_made',
        title: isReplaced ? 'The API key pair was replaced' : 'An API key pair was generated',
        body: `${actor} did this.${isReplaced ? ' The pair before no longer works: put the new one where your software reads it.' : ''} If you do not expect it, revoke the pair.`,
        path: `${home}/keys`,
      }
    },
  }
}

function keyRevoked(): ActRule {
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
