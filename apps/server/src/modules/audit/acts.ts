import type { AuditKind } from '@bridgework/contract/portal'
import { Type } from 'typebox'
import { accessChange, sayAccessChange } from './access-change.ts'
import {
  AccessFacts,
  type Act,
  act,
  Code,
  Count,
  Dataset,
  FixedWords,
  Flag,
  Named,
  orNull,
  Person,
  Text,
} from './facts.ts'

const { Optional } = Type

const company = { company: Named }
const companyState = { ...company, state: Type.Enum(['active', 'suspended', 'closed']) }
const created = { made: Named, owner: Optional(Person) }
const emailChange = { from: Text, to: Text }
const isOn = { isOn: Flag }
const name = { name: Text }
const organization = { organization: Named }
const tenant = { tenant: Text }
const version = { version: Code }

/**
 * Every act that is put on record, by the kind that histories are filtered by: the shape of its facts, and its sentence, without its subject, who is in
 * the entry. A `{place}` is filled with the fact of its name, quoted where somebody else wrote it. What depends on the facts is a function, after what the
 * act is called in general. The only list of acts: one that is not here, or has other facts, does not compile where it is recorded. No fact is a
 * value of a patient, or a secret.
 */
export const actsByKind = {
  people: {
    'member.manage': act(
      { change: Type.Enum(['invited', 'invited again', 'made', 'removed']), member: Person, role: Optional(Code) },
      'Changed members',
      ({ change }) =>
        ({
          invited: 'Invited {member} as {role}',
          'invited again': 'Invited {member} again',
          made: 'Made {member} {role}',
          removed: 'Removed {member}',
        })[change],
    ),
    'ownership.transfer': act({ from: Person, to: Person }, 'Transferred ownership from {from} to {to}'),
    'identity_provider.change': act(
      {
        ...name,
        issuer: Text,
        /** Left out where it was removed. */
        settings: Optional(Type.Object({ clientId: Text, isRequired: Flag, countsAsSecondFactor: Flag })),
      },
      'Changed the identity provider',
      ({ settings }) => {
        if (!settings) return { what: 'Removed the identity provider {name}', details: 'Issuer: {issuer}.' }
        const signIn = settings.isRequired ? 'members sign in only through it' : 'passwords work too'
        const factor = settings.countsAsSecondFactor ? 'counts as a second factor' : 'counts as no second factor'
        return {
          what: `Set up the identity provider {name}: ${signIn}, and it ${factor}`,
          details: 'Issuer: {issuer}.',
        }
      },
    ),
    'member_session.end': act(
      { member: Person, sessions: Count },
      'Ended sessions of a member',
      ({ sessions }) => `Ended {sessions} ${sessions === 1 ? 'session' : 'sessions'} of {member}`,
    ),
    'sign_in_rule.change': act(isOn, 'Changed how members sign in', ({ isOn }) =>
      isOn ? 'Required a second factor of all members' : 'Stopped requiring a second factor of members',
    ),
    'operator.second_factor_reset': act(
      { person: Person, removed: Type.Array(FixedWords) },
      'Reset the second factor of {person}. Removed: {removed}',
    ),
    'account.sign_up': act(tenant, 'Signed up {tenant}'),
    'account.invitation_accept': act(tenant, 'Accepted the invitation to {tenant}'),
  },

  settings: {
    'company.update': act(
      {
        name: Optional(Text),
        hasLogo: Optional(Flag),
        // The profile, all of it.
        ...{
          legalName: Optional(orNull(Text)),
          postalAddress: Optional(orNull(Text)),
          website: Optional(orNull(Text)),
        },
        ...{ contact: Optional(orNull(Text)), purpose: Optional(orNull(Text)) },
      },
      'Changed the settings of the company',
      ({ name, hasLogo }) => {
        if (name !== undefined) return 'Named the company {name}'
        if (hasLogo !== undefined) return hasLogo ? 'Set the logo of the company' : 'Removed the logo of the company'
        return {
          what: 'Changed the profile of the company',
          details:
            'Legal name: {legalName}. Postal address: {postalAddress}. Website: {website}. Contact: {contact}. Description: {purpose}.',
        }
      },
    ),
    'organization.update': act(
      /** `organization`: as it was, where the operator did it. */
      { ...name, timeZone: Optional(orNull(Code)), organization: Optional(Named) },
      'Changed the settings of the practice',
      ({ timeZone }) => {
        if (timeZone === undefined) return 'Named the practice {name}'
        return `Named the practice {name} and ${timeZone === null ? 'removed its time zone' : 'set its time zone to {timeZone}'}`
      },
    ),
    'seal.mail': act(isOn, 'Changed whether seals are mailed', ({ isOn }) =>
      isOn ? 'Turned on mails of seals to the owner' : 'Turned off mails of seals to the owner',
    ),
    'attribution.update': act({ location: Named }, 'Changed the website script of {location}'),
  },

  keys: {
    'agreement.accept': act(
      /** `company` and `owner`: where the operator says so. */
      { version: Count, company: Optional(Named), owner: Optional(Person) },
      'Accepted the developer API agreement',
      ({ owner }) =>
        owner
          ? 'Recorded that {owner} accepted version {version} of the agreement for {company}'
          : 'Accepted version {version} of the agreement',
    ),
    'key_pair.generate': act(
      {
        /** Left out where the attempt was refused, because the pair to replace had ended already. */
        clientId: Optional(Text),
        replaced: Optional(Text),
        company: Optional(Named),
      },
      'Generated a key pair',
      ({ clientId, replaced, company }) => {
        if (clientId === undefined) return 'Tried to replace a key pair that had ended already'
        if (replaced !== undefined) return 'Generated a key pair in place of the one before'
        return company ? 'Generated a key pair for {company}' : 'Generated a key pair'
      },
    ),
    'key_pair.revoke': act(
      { clientId: Optional(Text), company: Optional(Named) },
      'Revoked the key pair',
      ({ company }) => (company ? 'Revoked the key pair of {company}' : 'Revoked the key pair'),
    ),
    'webhook.change': act(
      {
        url: Text,
        change: Type.Enum(['added', 'new secret', 'types', 'tested', 'paused', 'resumed', 'removed', 'sent again']),
        types: Optional(Type.Array(FixedWords)),
      },
      'Changed a webhook',
      ({ change }) =>
        ({
          added: 'Added the webhook {url} for {types}',
          'new secret': 'Gave the webhook {url} a new secret',
          types: 'Set the types of the webhook {url} to {types}',
          tested: 'Sent a test to the webhook {url}',
          paused: 'Paused the webhook {url}',
          resumed: 'Resumed the webhook {url}',
          removed: 'Removed the webhook {url}',
          'sent again': 'Sent a message to the webhook {url} again',
        })[change],
    ),
    'operator.agreement_publish': act(
      { version: Count, graceDays: Count },
      'Published the agreement',
      ({ graceDays }) => {
        const from =
          graceDays === 0 ? 'in force at once' : `required after {graceDays} ${graceDays === 1 ? 'day' : 'days'}`
        return `Published version {version} of the agreement, ${from}`
      },
    ),
  },

  access: {
    'grant.change': act(accessChange, 'Changed a vendor’s access', sayAccessChange),
    'grant.revoke': act(accessChange, 'Ended a vendor’s access', sayAccessChange),
    'grant.end': act({ other: Named, access: AccessFacts }, 'Ended an access at its end date, {other}: {access}'),
    'access_request.make': act(
      /** `practice`: left out in its own history. `locations`: in the vendor's words; null: all. */
      { practice: Optional(Named), datasets: Type.Array(Dataset), locations: orNull(Text), purpose: Text },
      'Asked for access',
      ({ practice, locations }) => {
        const where = locations === null ? 'all locations' : '{locations}'
        return `Asked ${practice ? '{practice} ' : ''}for access to {datasets} at ${where}, for: {purpose}`
      },
    ),
    'access_request.withdraw': act(
      { practice: Optional(Named) },
      'Withdrew the request for access',
      ({ practice }) => `Withdrew the request for access${practice ? ': {practice}' : ''}`,
    ),
    'access_request.decline': act(
      { vendor: Optional(Named), message: orNull(Text) },
      'Declined a request for access',
      ({ vendor, message }) =>
        `Declined a request for access${vendor ? ' of {vendor}' : ''}${message === null ? '' : ': {message}'}`,
    ),
    'access_request.invite': act(
      { vendor: Optional(Named) },
      'Let a vendor ask for access again',
      ({ vendor }) => `Let ${vendor ? '{vendor}' : 'your company'} ask for access again`,
    ),
  },

  locations: {
    'location.update': act(
      { location: Named, timeZone: orNull(Code) },
      'Changed the settings of a location',
      ({ timeZone }) =>
        timeZone === null ? 'Removed the time zone of {location}' : 'Set the time zone of {location} to {timeZone}',
    ),
    'agent.enroll': act(
      { organization: Optional(Named) },
      'Generated an enrollment code for an agent',
      ({ organization }) => `Generated an enrollment code for an agent${organization ? ' of {organization}' : ''}`,
    ),
    'agent.take_over': act(
      { agent: Named, location: Optional(Named) },
      'Chose the agent {agent} for a location',
      ({ location }) =>
        location ? 'Chose the agent {agent} for {location}' : 'Let the second copy of the agent {agent} take over',
    ),
    'agent_updates.change': act(
      { ...isOn, organization: Optional(Named) },
      'Changed whether agents update themselves',
      ({ isOn, organization }) =>
        `Turned ${isOn ? 'on' : 'off'} updates of agents${organization ? ' of {organization}' : ''}`,
    ),
    'agent.revoke': act({ agent: Named }, 'Revoked the agent {agent}'),
  },

  removals: {
    'removal.decide': act(
      {
        decision: Type.Enum(['confirmed', 'rejected', 'to be reviewed again']),
        dataset: Dataset,
        location: Named,
        /** How many were hidden, or are kept; and how many more will be hidden. */
        records: Optional(Count),
        remaining: Optional(Count),
      },
      'Decided about a removal',
      ({ decision, records, remaining = 0 }) => {
        const of = 'the removal of {dataset} at {location}'
        const count = `{records} ${records === 1 ? 'record' : 'records'}`
        return {
          confirmed: `Confirmed ${of}: ${count} hidden${remaining > 0 ? ', {remaining} more to hide' : ''}`,
          rejected: `Rejected ${of}: ${count} stay visible`,
          'to be reviewed again': `Put ${of} back for review`,
        }[decision]
      },
    ),
  },

  disclosures: {
    'disclosure.account': act(
      { organization: Optional(Named) },
      'Listed the disclosures of one patient',
      ({ organization }) => `Listed the disclosures of one patient${organization ? ' of {organization}' : ''}`,
    ),
    'disclosure.identify': act(
      { dataset: Dataset, vendor: Named, location: Named, records: Count },
      'Looked up the patients of a read',
      ({ records }) =>
        `Looked up the patients of a read of {dataset} by {vendor} at {location}: {records} ${records === 1 ? 'record' : 'records'}`,
    ),
    'patient.search': act({ found: Count }, 'Searched for a patient by name: {found} found'),
    'disclosure.drop_month': act(
      { month: Code, disclosures: Count, sealNumber: Count, sealSha256: Code },
      'Dropped the {disclosures} disclosures of {month}',
    ),
  },

  tenants: {
    'operator.company_create': act(created, 'Created a company', ({ owner }) =>
      owner ? 'Created the company {made} with {owner} as its owner' : 'Created the company {made}',
    ),
    'operator.organization_create': act(created, 'Created a practice', ({ owner }) =>
      owner ? 'Created the practice {made} with {owner} as its owner' : 'Created the practice {made}',
    ),
    'operator.company_suspend': act(companyState, 'Suspended or resumed a company', sayState),
    'operator.company_close': act(companyState, 'Closed a company', sayState),
    'operator.company_verify': act(
      { ...company, isVerified: Flag },
      'Changed the verification of a company',
      (facts) =>
        facts.isVerified ? 'Verified the company {company}' : 'Took back the verification of the company {company}',
    ),
    'operator.support_view': act(
      { viewed: Named, minutes: Count },
      'Began to look at the pages of {viewed} as support, read-only, for at most {minutes} minutes',
    ),
    'company.domain_check': act(
      { domain: Code, method: orNull(Type.Enum(['dns', 'file'])) },
      'Checked the proof of the website',
      ({ method }) => {
        const outcome = method === null ? 'no proof was found' : `proved by ${method === 'dns' ? 'DNS' : 'a file'}`
        return `Checked the proof of the website {domain}: ${outcome}`
      },
    ),
    'company.domain_lost': act(
      { domain: Code, checks: Count },
      'Took back the proof of the website {domain}: the proof was not found in {checks} checks',
    ),
    'company.rename': act({ former: Text, name: Text }, 'Changed its name from {former} to {name}'),
    'company.erase': act({ erased: Named }, 'Erased the company {erased}'),
    'organization.erase': act({ erased: Named }, 'Erased the practice {erased}'),
    'organization.export': act(organization, 'Exported all data of {organization}'),
  },

  service: {
    'operator.incident_post': act(
      { incident: Named, state: Type.Enum(['investigating', 'identified', 'monitoring', 'resolved']) },
      'Posted about an incident',
      ({ state }) => `Posted about the incident {incident}: ${state}`,
    ),
    'sandbox.populate': act(organization, 'Created demo data for {organization}'),
    'agent_release.publish': act({ ...version, sha256: Code }, 'Published version {version} of the agent'),
    'agent_release.withdraw': act(version, 'Withdrew version {version} of the agent'),
    'signing_key.rotate': act({ kid: Text }, 'Rotated the key that signs tokens'),
    'signing_key.withdraw': act({ kid: Text }, 'Withdrew a key that signed tokens'),
    'secret_key.rotate': act({ from: Text, to: Text, sealKeyFrom: Text, sealKeyTo: Text }, 'Replaced the secret key'),
    'secret_key.drop': act({ ids: Type.Array(Text) }, 'Dropped earlier secret keys'),
    'database.migrate': act({ number: Count, name: Text }, 'Migrated the database to version {number}'),
    'database.restore': act({ epoch: Text }, 'Marked the database as restored'),
  },

  account: {
    'account.sign_in': act({ provider: Optional(Text) }, 'Signed in', ({ provider }) =>
      provider === undefined ? 'Signed in' : 'Signed in through {provider}',
    ),
    'account.sign_out': act({}, 'Signed out'),
    'account.sign_out_everywhere': act({}, 'Signed out everywhere'),
    'account.session_end': act(
      /** `tenant`: whose owner did it, left out where the person did. */
      { sessions: Optional(Count), tenant: Optional(Text) },
      'Ended a session',
      ({ sessions, tenant }) =>
        tenant === undefined
          ? 'Ended a session'
          : `Ended {sessions} ${sessions === 1 ? 'session' : 'sessions'} of yours for {tenant}`,
    ),
    'account.update': act(name, 'Changed the name to {name}'),
    'account.email_change': act(emailChange, 'Changed the e-mail address from {from} to {to}'),
    'account.email_undo': act(emailChange, 'Undid a change of the e-mail address: from {from} back to {to}'),
    'account.password_change': act({}, 'Changed the password'),
    'account.password_reset': act({}, 'Set a new password with a link from a mail'),
    'account.two_factor_enable': act({}, 'Turned on two-factor sign-in'),
    'account.two_factor_disable': act({}, 'Turned off two-factor sign-in'),
    'account.recovery_code_use': act({}, 'Signed in with a recovery code'),
    'account.recovery_codes_renew': act({}, 'Generated new recovery codes'),
    'account.identity_link': act(
      { provider: Text, tenant: Text },
      'Linked the identity provider {provider} for {tenant}',
    ),
    'account.passkey_add': act(name, 'Added the passkey {name}'),
    'account.passkey_delete': act(name, 'Removed the passkey {name}'),
  },
} as const satisfies Record<AuditKind, Record<string, Act>>

function sayState({ state }: { state: 'active' | 'suspended' | 'closed' }): string {
  return { active: 'Resumed', suspended: 'Suspended', closed: 'Closed' }[state].concat(' the company {company}')
}
