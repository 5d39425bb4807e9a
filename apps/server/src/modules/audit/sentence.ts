import type { AuditKind } from '@bridgework/contract/portal'
import { capital, decided, inLine, placesOf, records, withoutIds, withTitles } from './phrases.ts'
import { readSubject } from './subject.ts'

/** What a kind of act is called when its details are of no known form, and the forms of its details with the sentence of each. */
type Words = { kind: AuditKind; general: string; forms: readonly Form[] }
type Form = readonly [pattern: RegExp, sentence: (...parts: string[]) => string]

/**
 * Of both acts on access: as recorded today, with what was granted and what was removed, and as earlier releases recorded it. Those marked no name and
 * no purpose: where "Before" stands there twice, nobody can tell whose it is, and no form fits.
 */
const accessForms: readonly Form[] = [
  [
    /^(?!.*Before: .*Before: )(.*)\. Before: (.*?)\. After: (.*?)\. Granted: (.*)\. Removed: (.*?)\.(?: Purpose: (.*?)\.)?(?: Ends: (\S+)\.)?(?: Decided by (.*)\.)?$/s,
    (vendor, _before, _after, granted, removed, _purpose, _ends, by) => {
      if (granted === 'nothing' && removed === 'nothing')
        return `Set the purpose and the end of ${vendor}’s access${decided(by)}`
      const parts = [
        granted !== 'nothing' && `granted ${vendor} access to ${granted}`,
        removed !== 'nothing' && `removed ${granted === 'nothing' ? `${vendor}’s` : 'its'} access to ${removed}`,
      ]
      return `${capital(parts.filter(Boolean).join(', and '))}${decided(by)}`
    },
  ],
  [
    /^(?!.*Before: .*Before: )(.*)\. Before: (.*?)\. After: (.*?)\.(?: Decided by (.*)\.)?$/s,
    (vendor, before, after, by) => {
      if (before === 'nothing') return `Granted ${vendor} access to ${withTitles(after)}${decided(by)}`
      if (after === 'nothing') return `Removed ${vendor}’s access to ${withTitles(before)}${decided(by)}`
      return `Changed ${vendor}’s access from ${withTitles(before)} to ${withTitles(after)}${decided(by)}`
    },
  ],
  [
    /^(.*): (.*?) of (all locations|\d+ locations|locations .*)$/s,
    (vendor, datasets, where) => `Removed ${vendor}’s access to ${withTitles(datasets)} at ${placesOf(where)}`,
  ],
]

/**
 * Every act that is put on record, with its sentence. The only list of them: an act that is not here does not compile where it is recorded.
 * A subject has the form that its act is recorded with today, or had in an earlier release. What others wrote is a place in it, as `readSubject` says, so
 * no name, purpose or note meets a pattern.
 */
export const acts = {
  'member.manage': words('people', 'Changed members', [/^((?:Invited|Made|Removed) .*)$/s, (what) => what]),
  'ownership.transfer': words('people', 'Transferred ownership', [
    /^From (.*) to (.*)$/s,
    (from, to) => `Transferred ownership from ${from} to ${to}`,
  ]),
  'identity_provider.change': words(
    'people',
    'Changed the identity provider',
    [/^Removed (.*) \(.*\)$/s, (name) => `Removed the identity provider ${name}`],
    [
      /^(.*) \(.*?, client .*?\), (.*?), (.*?)$/s,
      (name, signIn, factor) => `Set up the identity provider ${name}: ${signIn}, and it ${factor}`,
    ],
  ),
  'member_session.end': words('people', 'Ended sessions of a member', [
    /^(\d+ sessions? of .*)$/s,
    (what) => `Ended ${what}`,
  ]),
  'sign_in_rule.change': words(
    'people',
    'Changed how members sign in',
    [/^A second factor is required/, () => 'Required a second factor of all members'],
    [/^A second factor is not required/, () => 'Stopped requiring a second factor of members'],
  ),
  'company.update': words('settings', 'Changed the settings of the company', [
    /^Name: (.*)$/s,
    (name) => `Named the company ${name}`,
  ]),
  'organization.update': words(
    'settings',
    'Changed the settings of the practice',
    [/^(?:.*\. )?Name: (.*), time zone: none$/s, (name) => `Named the practice ${name} and removed its time zone`],
    [
      /^(?:.*\. )?Name: (.*), time zone: (\S+)$/s,
      (name, zone) => `Named the practice ${name} and set its time zone to ${zone}`,
    ],
    [/^Name: (.*)$/s, (name) => `Named the practice ${name}`],
  ),
  'seal.mail': words(
    'settings',
    'Changed whether seals are mailed',
    [/^On$/, () => 'Turned on mails of seals to the owner'],
    [/^Off$/, () => 'Turned off mails of seals to the owner'],
  ),
  'attribution.update': words('settings', 'Changed the website script', [
    /^(.+)$/s,
    (location) => `Changed the website script of ${location}`,
  ]),
  'agreement.accept': words(
    'keys',
    'Accepted the developer API agreement',
    [/^Developer API agreement, version (\d+)$/, (version) => `Accepted version ${version} of the agreement`],
    [
      /^(.*): developer API agreement, version (\d+), for (.*)$/s,
      (company, version, owner) => `Recorded that ${owner} accepted version ${version} of the agreement for ${company}`,
    ],
  ),
  'key_pair.generate': words(
    'keys',
    'Generated a key pair',
    [/^New key pair \S+, which ended /, () => 'Generated a key pair in place of the one before'],
    [/^New key pair \S+ of (.*)$/s, (company) => `Generated a key pair for ${company}`],
    [/^New key pair \S+$/, () => 'Generated a key pair'],
    [/^Refused: /, () => 'Tried to replace a key pair that had ended already'],
  ),
  'key_pair.revoke': words(
    'keys',
    'Revoked the key pair',
    [/^Key pair \S+$/, () => 'Revoked the key pair'],
    [/^The key pair of (.*)$/s, (company) => `Revoked the key pair of ${company}`],
  ),
  'grant.change': words('access', 'Changed a vendor’s access', ...accessForms),
  'grant.revoke': words('access', 'Ended a vendor’s access', ...accessForms),
  'grant.end': words('access', 'Ended an access at its end date', [
    /^(.*?): (.*)$/s,
    (other, what) => `Ended an access at its end date, ${other}: ${withTitles(what)}`,
  ]),
  'access_request.make': words('access', 'Asked for access', [
    /^(?:(.*): )?([a-z_]+(?:, [a-z_]+)*) at (.*?)\. Purpose: (.*)$/s,
    (practice, datasets, where, purpose) =>
      `Asked ${practice ? `${practice} ` : ''}for access to ${withTitles(datasets)} at ${where}, for: ${purpose}`,
  ]),
  'access_request.withdraw': words('access', 'Withdrew the request for access'),
  'access_request.grant': words('access', 'Granted a request for access', [
    /^(.+)$/s,
    (what) => `Granted a request for access, ${withTitles(what)}`,
  ]),
  'access_request.decline': words('access', 'Declined a request for access'),
  'access_request.invite': words('access', 'Let a vendor ask for access again'),
  'location.update': words(
    'locations',
    'Changed the settings of a location',
    [/^(.*): time zone none$/s, (name) => `Removed the time zone of ${name}`],
    [/^(.*): time zone (\S+)$/s, (name, zone) => `Set the time zone of ${name} to ${zone}`],
  ),
  'agent.enroll': words('locations', 'Generated an enrollment code for an agent', [
    /^A code /,
    () => 'Generated an enrollment code for an agent',
  ]),
  'agent.take_over': words('locations', 'Chose the agent of a location', [
    /^(.*) at (.*)$/s,
    (agent, location) => `Chose the agent ${agent} for ${location}`,
  ]),
  'agent_updates.change': words(
    'locations',
    'Changed whether agents update themselves',
    [/^(?:.*: )?on$/s, () => 'Turned on updates of agents'],
    [/^(?:.*: )?off$/s, () => 'Turned off updates of agents'],
  ),
  'agent.revoke': words('locations', 'Revoked an agent', [/^(.+)$/s, (agent) => `Revoked the agent ${agent}`]),
  'removal.decide': words(
    'removals',
    'Decided about a removal',
    [
      /^Confirmed: (?:removal of )?(.*?) at (.*), (\d+) hidden(?:, (\d+) to hide)?$/s,
      (dataset, location, hidden, more) =>
        `Confirmed the removal of ${inLine(dataset)} at ${location}: ${records(hidden)} hidden${more ? `, ${more} more to hide` : ''}`,
    ],
    [
      /^Rejected: removal of (.*?) at (.*), (\d+) kept$/s,
      (dataset, location, kept) =>
        `Rejected the removal of ${inLine(dataset)} at ${location}: ${records(kept)} stay visible`,
    ],
    [
      /^Rejected: removal of (.*?) at (.*)$/s,
      (dataset, location) => `Rejected the removal of ${inLine(dataset)} at ${location}`,
    ],
    [
      /^To be reviewed again: removal of (.*?) at (.*)$/s,
      (dataset, location) => `Put the removal of ${inLine(dataset)} at ${location} back for review`,
    ],
  ),
  'disclosure.account': words('disclosures', 'Listed the disclosures of one patient', [
    /^One patient(?: of (.*))?$/s,
    (practice) => `Listed the disclosures of one patient${practice ? ` of ${practice}` : ''}`,
  ]),
  'disclosure.identify': words('disclosures', 'Looked up the patients of a read', [
    /^Read of (.*), (\d+) records?$/s,
    (what, count) => `Looked up the patients of a read of ${what}: ${records(count)}`,
  ]),
  'patient.search': words('disclosures', 'Searched for a patient by name', [
    /^(\d+) found$/,
    (count) => `Searched for a patient by name: ${count} found`,
  ]),
  'disclosure.drop_month': words('disclosures', 'Dropped a month of disclosures', [
    /^(\d{4}-\d\d): (\d+) disclosures/,
    (month, count) => `Dropped the ${Number(count).toLocaleString('en-US')} disclosures of ${month}`,
  ]),
  'operator.company_create': words('tenants', 'Created a company', [
    /^(.*?)(?:, owner (.*))?$/s,
    (name, owner) => `Created the company ${name}${owner ? ` with ${owner} as its owner` : ''}`,
  ]),
  'operator.organization_create': words('tenants', 'Created a practice', [
    /^(.*?)(?:, owner (.*))?$/s,
    (name, owner) => `Created the practice ${name}${owner ? ` with ${owner} as its owner` : ''}`,
  ]),
  'operator.company_suspend': words(
    'tenants',
    'Suspended or resumed a company',
    [/^(.*): suspended$/s, (name) => `Suspended the company ${name}`],
    [/^(.*): active$/s, (name) => `Resumed the company ${name}`],
  ),
  'operator.company_verify': words(
    'tenants',
    'Changed the verification of a company',
    [/^(.*): verified$/s, (name) => `Verified the company ${name}`],
    [/^(.*): no longer verified$/s, (name) => `Took back the verification of the company ${name}`],
  ),
  'operator.company_close': words('tenants', 'Closed a company', [
    /^(.*): closed$/s,
    (name) => `Closed the company ${name}`,
  ]),
  'operator.second_factor_reset': words('people', 'Reset a second factor', [
    /^(.+)$/s,
    (person) => `Reset the second factor of ${person}`,
  ]),
  'operator.agreement_publish': words(
    'keys',
    'Published the agreement',
    [
      /^Version (\d+), binds all in 0 days$/,
      (version) => `Published version ${version} of the agreement, in force at once`,
    ],
    [
      /^Version (\d+), binds all in (\d+) days$/,
      (version, days) => `Published version ${version} of the agreement, required after ${days} days`,
    ],
  ),
  'company.domain_check': words('tenants', 'Checked the proof of the website', [
    /^(.*): (.*)$/s,
    (domain, outcome) => `Checked the proof of the website ${domain}: ${outcome}`,
  ]),
  'company.domain_lost': words('tenants', 'Took back the proof of the website', [
    /^(.*): (.*)$/s,
    (domain, why) => `Took back the proof of the website ${domain}: ${why}`,
  ]),
  'company.rename': words('tenants', 'Changed the name of a vendor', [
    /^(.*) is now (.*)$/s,
    (former, name) => `Changed its name from ${former} to ${name}`,
  ]),
  'company.erase': words('tenants', 'Erased a company', [/^(.+)$/s, (name) => `Erased the company ${name}`]),
  'organization.erase': words('tenants', 'Erased a practice', [/^(.+)$/s, (name) => `Erased the practice ${name}`]),
  'organization.export': words('tenants', 'Exported all data of a practice', [
    /^(.+)$/s,
    (name) => `Exported all data of ${name}`,
  ]),
  'sandbox.populate': words('service', 'Created demo data', [/^(.+)$/s, (name) => `Created demo data for ${name}`]),
  'agent_release.publish': words('service', 'Published a release of the agent', [
    /^Version ([^,\s]+)/,
    (version) => `Published version ${version} of the agent`,
  ]),
  'agent_release.withdraw': words('service', 'Withdrew a release of the agent', [
    /^Version (\S+)$/,
    (version) => `Withdrew version ${version} of the agent`,
  ]),
  'signing_key.rotate': words('service', 'Rotated the key that signs tokens', [
    /^/,
    () => 'Rotated the key that signs tokens',
  ]),
  'signing_key.withdraw': words('service', 'Withdrew a key that signed tokens', [
    /^/,
    () => 'Withdrew a key that signed tokens',
  ]),
  'secret_key.rotate': words('service', 'Replaced the secret key', [/^/, () => 'Replaced the secret key']),
  'secret_key.drop': words('service', 'Dropped earlier secret keys', [/^/, () => 'Dropped earlier secret keys']),
  'backup.create': words('service', 'Created a backup', [/^(.+)$/s, (file) => `Created a backup in ${file}`]),
  'backup.restore': words('service', 'Restored a backup', [
    /^(.*)\. A new epoch: \S+$/s,
    (file) => `Restored the backup ${file}`,
  ]),
  'database.migrate': words('service', 'Migrated the database', [
    /^Migration (\d+), (.*)$/s,
    (number) => `Migrated the database to version ${number}`,
  ]),
  'database.restore': words('service', 'Marked the database as restored', [
    /^A new epoch/,
    () => 'Marked the database as restored',
  ]),
  'account.sign_up': words('people', 'Signed up', [/^(.+)$/s, (name) => `Signed up ${name}`]),
  'account.invitation_accept': words('people', 'Accepted an invitation', [
    /^(.+)$/s,
    (name) => `Accepted the invitation to ${name}`,
  ]),
  'account.sign_in': words('account', 'Signed in', [/^Through (.*)$/s, (provider) => `Signed in through ${provider}`]),
  'account.sign_out': words('account', 'Signed out'),
  'account.sign_out_everywhere': words('account', 'Signed out everywhere'),
  'account.session_end': words('account', 'Ended a session', [
    /^(\d+ sessions?), by (.*)$/s,
    (sessions, tenant) => `Ended ${sessions} of yours for ${tenant}`,
  ]),
  'account.update': words('account', 'Changed the name', [/^(.+)$/s, (name) => `Changed the name to ${name}`]),
  'account.email_change': words('account', 'Changed the e-mail address', [
    /^From (\S+) to (\S+)$/,
    (from, to) => `Changed the e-mail address from ${from} to ${to}`,
  ]),
  'account.email_undo': words('account', 'Undid a change of the e-mail address', [
    /^From (\S+) to (\S+)$/,
    (from, to) => `Undid a change of the e-mail address: from ${from} back to ${to}`,
  ]),
  'account.password_change': words('account', 'Changed the password'),
  'account.password_reset': words('account', 'Set a new password with a link from a mail'),
  'account.two_factor_enable': words('account', 'Turned on two-factor sign-in'),
  'account.two_factor_disable': words('account', 'Turned off two-factor sign-in'),
  'account.recovery_code_use': words('account', 'Signed in with a recovery code'),
  'account.recovery_codes_renew': words('account', 'Generated new recovery codes'),
  'account.identity_link': words('account', 'Linked an identity provider', [
    /^(.*), for (.*)$/s,
    (provider, tenant) => `Linked the identity provider ${provider} for ${tenant}`,
  ]),
  'account.passkey_add': words('account', 'Added a passkey', [/^(.+)$/s, (name) => `Added the passkey ${name}`]),
  'account.passkey_delete': words('account', 'Removed a passkey', [/^(.+)$/s, (name) => `Removed the passkey ${name}`]),
} as const satisfies Record<string, Words>

/** An act that is put on record: `<thing>.<verb>`, an action of the contract's table among them. */
export type AuditAction = keyof typeof acts

/** Acts that earlier releases recorded under another name. */
const earlier: Readonly<Record<string, Words>> = {
  'company_member.manage': acts['member.manage'],
  'organization_member.manage': acts['member.manage'],
  'operator.member_manage': acts['member.manage'],
  'company_ownership.transfer': acts['ownership.transfer'],
  'organization_ownership.transfer': acts['ownership.transfer'],
  'grant.give': words('access', 'Granted a vendor access', [
    /^(.*): (.*?) of (all locations|\d+ locations|locations .*)$/s,
    (vendor, datasets, where) => `Granted ${vendor} access to ${withTitles(datasets)} at ${placesOf(where)}`,
  ]),
}

const beforeAndAfter = /Before: .*?\. After: .*?\.(?= Granted: | Purpose: | Ends: | Decided by |$)/s
/** The part of a subject that a person may want to see beside the sentence. */
const details: ReadonlyMap<string, RegExp> = new Map<AuditAction, RegExp>([
  ['grant.change', beforeAndAfter],
  ['grant.revoke', beforeAndAfter],
  ['identity_provider.change', /.*/s],
])

/**
 * An act in words, without codes and ids: `what` is a sentence without its subject, who is in the entry. An act of a later release, which a
 * database has after a return to an earlier one, has its name and its details.
 */
export function actInWords({ action, subject }: { action: string; subject: string | null }): {
  what: string
  details: string | null
} {
  const { words: ofUs, fill } = readSubject(subject ?? '')
  const text = subject === null ? null : withoutIds(ofUs)
  const detail = details.get(action)?.exec(text ?? '')?.[0]
  return { what: fill(sentence(action, text)), details: detail ? fill(withTitles(detail)) : null }
}

/** The names of the acts of a kind, earlier ones among them. */
export function actionsOf(kind: AuditKind): string[] {
  return all.filter(([, words]) => words.kind === kind).map(([action]) => action)
}

/** The names of the acts whose sentence always has this text in it, in any case. */
export function actionsSaying(search: string): string[] {
  const wanted = search.toLowerCase()
  return all.filter(([, { general }]) => general.toLowerCase().includes(wanted)).map(([action]) => action)
}

const all: readonly [string, Words][] = [...Object.entries(acts), ...Object.entries(earlier)]
const byName: ReadonlyMap<string, Words> = new Map(all)

function sentence(action: string, text: string | null): string {
  const general = byName.get(action)?.general ?? nameInWords(action)
  if (text === null) return general
  for (const [pattern, say] of byName.get(action)?.forms ?? []) {
    const found = pattern.exec(text)
    if (found) return say(...found.slice(1))
  }
  return `${general}: ${text}`
}

function words(kind: AuditKind, general: string, ...forms: Form[]): Words {
  return { kind, general, forms }
}

/** `records.move` is "Records move". */
function nameInWords(action: string): string {
  return capital(action.replaceAll(/[._]/g, ' '))
}
