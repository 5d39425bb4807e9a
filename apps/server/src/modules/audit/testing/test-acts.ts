import type { AuditAction, FactsOf } from '../in-words.ts'

const ana = { name: 'Ana', email: 'ana@example.com' }
const ben = { name: 'Ben', email: 'b@example.com' }
const named = (name: string) => ({ id: '112233445566778', name })
export const [acme, smiles, elm, desk] = [named('Acme'), named('Smiles'), named('Elm'), named('Front desk')]
export const of = (names: string[], places: 'all' | number | string[], notes: 'none' | 'with' | 'alone' = 'none') => ({
  datasets: names.map((name) => ({ name, notes })),
  places,
  future: places === 'all',
})
const patients = [of(['patients'], ['Elm'])]
export const change: FactsOf<'grant.change'> = {
  ...{ vendor: acme, before: [], after: patients, granted: patients, removed: [] },
  ...{ purpose: null, endsAt: null, isRequested: false },
}
const was = [of(['patients', 'treatments'], ['Elm', 'Main Street']), of(['fee_schedules'], 12)]
const wasInWords = 'Patients and Treatments at “Elm” and “Main Street”; Fee schedules at 12 locations'
export const provider = { name: 'Entra', issuer: 'https://login.example.com' }
const none = { legalName: null, postalAddress: null, website: null, contact: null, purpose: null }

type Case<Action extends AuditAction> = readonly [facts: FactsOf<Action>, what: string, details?: string]

/** Of each act what can be recorded, and the sentence, with its details where it has some. */
const sentences: { [Action in AuditAction]: readonly Case<Action>[] } = {
  'member.manage': [
    [{ change: 'invited', member: ana, role: 'admin' }, 'Invited “Ana <ana@example.com>” as admin'],
    [{ change: 'invited again', member: ana }, 'Invited “Ana <ana@example.com>” again'],
    [{ change: 'made', member: ana, role: 'admin' }, 'Made “Ana <ana@example.com>” admin'],
    [{ change: 'removed', member: ana }, 'Removed “Ana <ana@example.com>”'],
  ],
  'ownership.transfer': [
    [{ from: ana, to: ben }, 'Transferred ownership from “Ana <ana@example.com>” to “Ben <b@example.com>”'],
  ],
  'identity_provider.change': [
    [provider, 'Removed the identity provider “Entra”', 'Issuer: “https://login.example.com”.'],
    [
      { ...provider, settings: { clientId: 'abc', isRequired: true, countsAsSecondFactor: true } },
      'Set up the identity provider “Entra”: members sign in only through it, and it counts as a second factor',
      'Issuer: “https://login.example.com”.',
    ],
    [
      { ...provider, settings: { clientId: 'abc', isRequired: false, countsAsSecondFactor: false } },
      'Set up the identity provider “Entra”: passwords work too, and it counts as no second factor',
      'Issuer: “https://login.example.com”.',
    ],
  ],
  'webhook.change': [
    [
      { url: 'https://a.example/', change: 'added', types: ['key', 'grant'] },
      'Added the webhook “https://a.example/” for key and grant',
    ],
    [{ url: 'https://a.example/', change: 'new secret' }, 'Gave the webhook “https://a.example/” a new secret'],
    [
      { url: 'https://a.example/', change: 'types', types: ['key'] },
      'Set the types of the webhook “https://a.example/” to key',
    ],
    [{ url: 'https://a.example/', change: 'tested' }, 'Sent a test to the webhook “https://a.example/”'],
    [{ url: 'https://a.example/', change: 'paused' }, 'Paused the webhook “https://a.example/”'],
    [{ url: 'https://a.example/', change: 'resumed' }, 'Resumed the webhook “https://a.example/”'],
    [{ url: 'https://a.example/', change: 'removed' }, 'Removed the webhook “https://a.example/”'],
    [{ url: 'https://a.example/', change: 'sent again' }, 'Sent a message to the webhook “https://a.example/” again'],
  ],
  'member_session.end': [
    [{ member: ana, sessions: 2 }, 'Ended 2 sessions of “Ana <ana@example.com>”'],
    [{ member: ana, sessions: 1 }, 'Ended 1 session of “Ana <ana@example.com>”'],
  ],
  'sign_in_rule.change': [
    [{ isOn: true }, 'Required a second factor of all members'],
    [{ isOn: false }, 'Stopped requiring a second factor of members'],
  ],
  'operator.second_factor_reset': [
    [
      { person: ana, removed: ['the password', '2 passkeys'] },
      'Reset the second factor of “Ana <ana@example.com>”. Removed: the password and 2 passkeys',
    ],
  ],
  'account.sign_up': [[{ tenant: 'Acme' }, 'Signed up “Acme”']],
  'account.invitation_accept': [[{ tenant: 'Acme' }, 'Accepted the invitation to “Acme”']],
  'company.update': [
    [{ name: 'Acme' }, 'Named the company “Acme”'],
    [{ hasLogo: true }, 'Set the logo of the company'],
    [{ hasLogo: false }, 'Removed the logo of the company'],
    [
      { ...none, legalName: 'Acme, Inc.', postalAddress: '1 Main St.', purpose: 'We recall. Patients' },
      'Changed the profile of the company',
      'Legal name: “Acme, Inc.”. Postal address: “1 Main St.”. Website: none. Contact: none. Description: “We recall. Patients”.',
    ],
    [
      { ...none, website: 'https://acme.example', contact: 'a@acme.example' },
      'Changed the profile of the company',
      'Legal name: none. Postal address: none. Website: “https://acme.example”. Contact: “a@acme.example”. Description: none.',
    ],
  ],
  'organization.update': [
    [
      { name: 'Smiles', timeZone: 'America/Denver' },
      'Named the practice “Smiles” and set its time zone to America/Denver',
    ],
    [
      { name: 'Smiles', timeZone: null, organization: named('Smile Group') },
      'Named the practice “Smiles” and removed its time zone',
    ],
    [{ name: 'Smiles' }, 'Named the practice “Smiles”'],
  ],
  'seal.mail': [
    [{ isOn: true }, 'Turned on mails of seals to the owner'],
    [{ isOn: false }, 'Turned off mails of seals to the owner'],
  ],
  'attribution.update': [[{ location: elm }, 'Changed the website script of “Elm”']],
  'agreement.accept': [
    [{ version: 3 }, 'Accepted version 3 of the agreement'],
    [
      { version: 3, company: acme, owner: ana },
      'Recorded that “Ana <ana@example.com>” accepted version 3 of the agreement for “Acme”',
    ],
  ],
  'key_pair.generate': [
    [{ clientId: 'bwc_one' }, 'Generated a key pair'],
    [{ clientId: 'bwc_two', replaced: 'bwc_one' }, 'Generated a key pair in place of the one before'],
    [{ clientId: 'bwc_one', company: acme }, 'Generated a key pair for “Acme”'],
    [{ replaced: 'bwc_one' }, 'Tried to replace a key pair that had ended already'],
  ],
  'key_pair.revoke': [
    [{ clientId: 'bwc_one' }, 'Revoked the key pair'],
    [{ company: acme }, 'Revoked the key pair of “Acme”'],
  ],
  'operator.agreement_publish': [
    [{ version: 2, graceDays: 30 }, 'Published version 2 of the agreement, required after 30 days'],
    [{ version: 2, graceDays: 1 }, 'Published version 2 of the agreement, required after 1 day'],
    [{ version: 2, graceDays: 0 }, 'Published version 2 of the agreement, in force at once'],
  ],
  'grant.change': [
    [change, 'Granted “Acme” access to Patients at “Elm”', 'Before: nothing. After: Patients at “Elm”.'],
    [
      {
        ...change,
        before: [of(['patients', 'fee_schedules'], 3)],
        granted: [of(['treatments'], ['Elm'], 'alone')],
        removed: [of(['patients'], 3), { ...of(['fee_schedules'], 2), future: true }],
        purpose: 'Recall',
        endsAt: '2027-01-01T05:00Z',
        decidedBy: 'Ana',
      },
      'Granted “Acme” access to notes of Treatments at “Elm”, and removed its access to Patients at 3 locations; Fee schedules at 2 locations and locations of the future, as “Ana” decided',
      'Before: Patients and Fee schedules at 3 locations. After: Patients at “Elm”. Purpose: “Recall”. Ends: 2027-01-01T05:00Z.',
    ],
    [
      { ...change, before: patients, granted: [], purpose: 'Recall' },
      'Set the purpose and the end of the access of “Acme”',
      'Before: Patients at “Elm”. After: Patients at “Elm”. Purpose: “Recall”.',
    ],
    [
      { ...change, isRequested: true, granted: [{ ...of(['patients'], 0), future: true }] },
      'Granted “Acme” access to Patients at locations of the future, as requested',
      'Before: nothing. After: Patients at “Elm”.',
    ],
    [
      { ...change, before: patients, granted: [], isRequested: true },
      'Granted the request of “Acme”, which had the access already',
      'Before: Patients at “Elm”. After: Patients at “Elm”.',
    ],
  ],
  'grant.revoke': [
    [
      { ...change, before: was, after: [], granted: [], removed: was },
      `Removed the access of “Acme” to ${wasInWords}`,
      `Before: ${wasInWords}. After: nothing.`,
    ],
    [
      (({ vendor: _, ...own }) => ({
        ...own,
        before: [of(['treatments'], 'all', 'with')],
        after: [],
        granted: [],
        removed: [of(['treatments'], 'all', 'with')],
      }))(change),
      'Removed the access of your company to Treatments with notes at all locations',
      'Before: Treatments with notes at all locations. After: nothing.',
    ],
  ],
  'grant.end': [[{ other: acme, access: patients }, 'Ended an access at its end date, “Acme”: Patients at “Elm”']],
  'access_request.make': [
    [
      { practice: smiles, datasets: ['patients', 'fee_schedules'], locations: 'Elm Street', purpose: 'Recall' },
      'Asked “Smiles” for access to Patients and Fee schedules at “Elm Street”, for: “Recall”',
    ],
    [
      { datasets: ['patients'], locations: null, purpose: 'a. b' },
      'Asked for access to Patients at all locations, for: “a. b”',
    ],
  ],
  'access_request.withdraw': [
    [{ practice: smiles }, 'Withdrew the request for access: “Smiles”'],
    [{}, 'Withdrew the request for access'],
  ],
  'access_request.decline': [
    [{ vendor: acme, message: 'Not now' }, 'Declined a request for access of “Acme”: “Not now”'],
    [{ message: 'Not now' }, 'Declined a request for access: “Not now”'],
    [{ message: null }, 'Declined a request for access'],
  ],
  'access_request.invite': [
    [{ vendor: acme }, 'Let “Acme” ask for access again'],
    [{}, 'Let your company ask for access again'],
  ],
  'location.update': [
    [{ location: elm, timeZone: 'America/Boise' }, 'Set the time zone of “Elm” to America/Boise'],
    [{ location: elm, timeZone: null }, 'Removed the time zone of “Elm”'],
  ],
  'agent.enroll': [
    [{}, 'Generated an enrollment code for an agent'],
    [{ organization: smiles }, 'Generated an enrollment code for an agent of “Smiles”'],
  ],
  'agent.take_over': [
    [{ agent: desk, location: elm }, 'Chose the agent “Front desk” for “Elm”'],
    [{ agent: desk }, 'Let the second copy of the agent “Front desk” take over'],
  ],
  'agent_updates.change': [
    [{ isOn: true }, 'Turned on updates of agents'],
    [{ isOn: false, organization: smiles }, 'Turned off updates of agents of “Smiles”'],
  ],
  'agent.revoke': [[{ agent: desk }, 'Revoked the agent “Front desk”']],
  'removal.decide': [
    [
      { decision: 'confirmed', dataset: 'insurance_plans', location: elm, records: 1, remaining: 0 },
      'Confirmed the removal of Insurance plans at “Elm”: 1 record hidden',
    ],
    [
      { decision: 'confirmed', dataset: 'insurance_plans', location: elm, records: 2000, remaining: 5 },
      'Confirmed the removal of Insurance plans at “Elm”: 2,000 records hidden, 5 more to hide',
    ],
    [
      { decision: 'rejected', dataset: 'patients', location: elm, records: 29 },
      'Rejected the removal of Patients at “Elm”: 29 records stay visible',
    ],
    [
      { decision: 'to be reviewed again', dataset: 'patients', location: elm },
      'Put the removal of Patients at “Elm” back for review',
    ],
  ],
  'disclosure.account': [
    [{ organization: smiles }, 'Listed the disclosures of one patient of “Smiles”'],
    [{}, 'Listed the disclosures of one patient'],
  ],
  'disclosure.identify': [
    [
      { dataset: 'patients', vendor: acme, location: elm, records: 200 },
      'Looked up the patients of a read of Patients by “Acme” at “Elm”: 200 records',
    ],
  ],
  'patient.search': [[{ found: 3 }, 'Searched for a patient by name: 3 found']],
  'disclosure.drop_month': [
    [
      { month: '2019-03', disclosures: 12345, sealNumber: 7, sealSha256: 'abc' },
      'Dropped the 12,345 disclosures of 2019-03',
    ],
  ],
  'operator.company_create': [
    [{ made: acme }, 'Created the company “Acme”'],
    [{ made: acme, owner: ana }, 'Created the company “Acme” with “Ana <ana@example.com>” as its owner'],
  ],
  'operator.organization_create': [
    [{ made: smiles }, 'Created the practice “Smiles”'],
    [{ made: smiles, owner: ana }, 'Created the practice “Smiles” with “Ana <ana@example.com>” as its owner'],
  ],
  'operator.company_suspend': [
    [{ company: acme, state: 'suspended' }, 'Suspended the company “Acme”'],
    [{ company: acme, state: 'active' }, 'Resumed the company “Acme”'],
  ],
  'operator.company_close': [[{ company: acme, state: 'closed' }, 'Closed the company “Acme”']],
  'operator.company_verify': [
    [{ company: acme, isVerified: true }, 'Verified the company “Acme”'],
    [{ company: acme, isVerified: false }, 'Took back the verification of the company “Acme”'],
  ],
  'operator.support_view': [
    [
      { viewed: acme, minutes: 60 },
      'Began to look at the pages of “Acme” as support, read-only, for at most 60 minutes',
    ],
  ],
  'operator.incident_post': [
    [{ incident: named('Slow reads'), state: 'monitoring' }, 'Posted about the incident “Slow reads”: monitoring'],
  ],
  'company.domain_check': [
    [{ domain: 'acme.example', method: 'dns' }, 'Checked the proof of the website acme.example: proved by DNS'],
    [{ domain: 'acme.example', method: 'file' }, 'Checked the proof of the website acme.example: proved by a file'],
    [{ domain: 'acme.example', method: null }, 'Checked the proof of the website acme.example: no proof was found'],
  ],
  'company.domain_lost': [
    [
      { domain: 'acme.example', checks: 3 },
      'Took back the proof of the website acme.example: the proof was not found in 3 checks',
    ],
  ],
  'company.rename': [[{ former: 'Acme', name: 'Zenith' }, 'Changed its name from “Acme” to “Zenith”']],
  'company.erase': [[{ erased: acme }, 'Erased the company “Acme”']],
  'organization.erase': [[{ erased: smiles }, 'Erased the practice “Smiles”']],
  'organization.export': [[{ organization: smiles }, 'Exported all data of “Smiles”']],
  'sandbox.populate': [[{ organization: smiles }, 'Created demo data for “Smiles”']],
  'agent_release.publish': [[{ version: '0.3.0', sha256: '9f86d0' }, 'Published version 0.3.0 of the agent']],
  'agent_release.withdraw': [[{ version: '0.3.0' }, 'Withdrew version 0.3.0 of the agent']],
  'signing_key.rotate': [[{ kid: 'kid' }, 'Rotated the key that signs tokens']],
  'signing_key.withdraw': [[{ kid: 'kid' }, 'Withdrew a key that signed tokens']],
  'secret_key.rotate': [[{ from: 'a', to: 'b', sealKeyFrom: 'c', sealKeyTo: 'd' }, 'Replaced the secret key']],
  'secret_key.drop': [[{ ids: ['a', 'b'] }, 'Dropped earlier secret keys']],
  'database.migrate': [[{ number: 35, name: 'months' }, 'Migrated the database to version 35']],
  'database.restore': [[{ epoch: '4' }, 'Marked the database as restored']],
  'account.sign_in': [
    [{}, 'Signed in'],
    [{ provider: 'Entra' }, 'Signed in through “Entra”'],
  ],
  'account.sign_out': [[{}, 'Signed out']],
  'account.sign_out_everywhere': [[{}, 'Signed out everywhere']],
  'account.session_end': [
    [{}, 'Ended a session'],
    [{ sessions: 2, tenant: 'Acme' }, 'Ended 2 sessions of yours for “Acme”'],
  ],
  'account.update': [[{ name: 'Ana' }, 'Changed the name to “Ana”']],
  'account.email_change': [
    [
      { from: 'a@example.com', to: 'b@example.com' },
      'Changed the e-mail address from “a@example.com” to “b@example.com”',
    ],
  ],
  'account.email_undo': [
    [
      { from: 'b@example.com', to: 'a@example.com' },
      'Undid a change of the e-mail address: from “b@example.com” back to “a@example.com”',
    ],
  ],
  'account.password_change': [[{}, 'Changed the password']],
  'account.password_reset': [[{}, 'Set a new password with a link from a mail']],
  'account.two_factor_enable': [[{}, 'Turned on two-factor sign-in']],
  'account.two_factor_disable': [[{}, 'Turned off two-factor sign-in']],
  'account.recovery_code_use': [[{}, 'Signed in with a recovery code']],
  'account.recovery_codes_renew': [[{}, 'Generated new recovery codes']],
  'account.identity_link': [[{ provider: 'Entra', tenant: 'Acme' }, 'Linked the identity provider “Entra” for “Acme”']],
  'account.passkey_add': [[{ name: 'Laptop' }, 'Added the passkey “Laptop”']],
  'account.passkey_delete': [[{ name: 'Laptop' }, 'Removed the passkey “Laptop”']],
}

/** All of them. */
export const cases = Object.entries(sentences).flatMap(([action, all]) =>
  (all as readonly Case<never>[]).map(([facts, what, details]) => ({ action, facts, what, details: details ?? null })),
)
