import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuditAction, actInWords, actionsOf, actionsSaying, acts } from './sentence.ts'
import { about, ours, quoted } from './subject.ts'

const ana = 'Ana <ana@example.com>'
const id = '9b2a1c4e-6d0f-4a7b-8c1d-2e3f4a5b6c7d'
const number = '112233445566778'
const was = 'Before: patients, treatments at Main Street; fee_schedules at 12 locations. After: nothing.'

/** Of each act what was recorded, also by earlier releases, and the sentence. */
const sentences = {
  'member.manage': [
    [`Invited ${ana} as admin`, `Invited ${ana} as admin`],
    [`Invited ${ana} again`, `Invited ${ana} again`],
    [`Made ${ana} admin`, `Made ${ana} admin`],
    [`Removed ${ana}`, `Removed ${ana}`],
    [null, 'Changed members'],
  ],
  'ownership.transfer': [
    [`From ${ana} to Ben <b@example.com>`, `Transferred ownership from ${ana} to Ben <b@example.com>`],
  ],
  'identity_provider.change': [
    ['Removed Entra (https://login.example.com)', 'Removed the identity provider Entra'],
    [
      'Entra (https://login.example.com, client abc), members sign in only through it, counts as a second factor',
      'Set up the identity provider Entra: members sign in only through it, and it counts as a second factor',
    ],
  ],
  'member_session.end': [[`2 sessions of ${ana}`, `Ended 2 sessions of ${ana}`]],
  'sign_in_rule.change': [
    ['A second factor is required of all members', 'Required a second factor of all members'],
    ['A second factor is not required', 'Stopped requiring a second factor of members'],
  ],
  'operator.company_verify': [
    [`Acme (${id}): verified`, 'Verified the company Acme'],
    ['Acme: no longer verified', 'Took back the verification of the company Acme'],
  ],
  'company.domain_check': [
    ['acme.example: proved by DNS', 'Checked the proof of the website acme.example: proved by DNS'],
  ],
  'company.domain_lost': [
    [
      'acme.example: the proof was not found in 3 checks',
      'Took back the proof of the website acme.example: the proof was not found in 3 checks',
    ],
  ],
  'company.rename': [['Acme is now Zenith', 'Changed its name from Acme to Zenith']],
  'company.update': [['Name: Acme', 'Named the company Acme']],
  'organization.update': [
    ['Name: Smiles, time zone: America/Denver', 'Named the practice Smiles and set its time zone to America/Denver'],
    [`Smile Group (${number}). Name: Smiles, time zone: none`, 'Named the practice Smiles and removed its time zone'],
    ['Name: Smiles', 'Named the practice Smiles'],
  ],
  'seal.mail': [
    ['On', 'Turned on mails of seals to the owner'],
    ['Off', 'Turned off mails of seals to the owner'],
  ],
  'attribution.update': [['Main Street', 'Changed the website script of Main Street']],
  'agreement.accept': [
    ['Developer API agreement, version 3', 'Accepted version 3 of the agreement'],
    [
      `Acme (${id}): developer API agreement, version 3, for ${ana}`,
      `Recorded that ${ana} accepted version 3 of the agreement for Acme`,
    ],
  ],
  'key_pair.generate': [
    ['New key pair bwc_one', 'Generated a key pair'],
    ['New key pair bwc_two, which ended bwc_one', 'Generated a key pair in place of the one before'],
    [`New key pair bwc_one of Acme (${id})`, 'Generated a key pair for Acme'],
    ['Refused: bwc_one had ended already', 'Tried to replace a key pair that had ended already'],
  ],
  'key_pair.revoke': [
    ['Key pair bwc_one', 'Revoked the key pair'],
    [`The key pair of Acme (${id})`, 'Revoked the key pair of Acme'],
  ],
  'grant.change': [
    [
      `Acme. ${was} Granted: nothing. Removed: Patients at 3 locations.`,
      'Removed Acme’s access to Patients at 3 locations',
    ],
    [
      `Acme. ${was} Granted: notes of Treatments at Main Street. Removed: Patients at 3 locations. Decided by Ana.`,
      'Granted Acme access to notes of Treatments at Main Street, and removed its access to Patients at 3 locations, as Ana decided',
    ],
    ['Acme. Before: nothing. After: patients at all locations.', 'Granted Acme access to Patients at all locations'],
    [
      'Acme. Before: patients at Elm. After: patients with notes at Elm.',
      'Changed Acme’s access from Patients at Elm to Patients with notes at Elm',
    ],
    [
      'Acme. Before: patients at Elm. After: patients at Elm. Granted: nothing. Removed: nothing. Purpose: Recall. Ends: 2027-01-01T05:00Z.',
      'Set the purpose and the end of Acme’s access',
    ],
    [
      'Acme. Before: nothing. After: patients at Elm. Granted: Patients at Elm. Removed: nothing. Purpose: Recall.',
      'Granted Acme access to Patients at Elm',
    ],
    [
      'Evil. Granted: nothing. Removed: all. Before: a. After: b.. Before: nothing. After: patients at Elm. Granted: Patients at Elm. Removed: nothing.',
      'Changed a vendor’s access: Evil. Granted: nothing. Removed: all. Before: a. After: b.. Before: nothing. After: patients at Elm. Granted: Patients at Elm. Removed: nothing.',
    ],
  ],
  'grant.end': [['Acme: patients at Elm', 'Ended an access at its end date, Acme: Patients at Elm']],
  'access_request.make': [
    [
      'Smiles: patients, fee_schedules at Elm. Purpose: Recall',
      'Asked Smiles for access to Patients, Fee schedules at Elm, for: Recall',
    ],
    ['patients at all locations. Purpose: a. b', 'Asked for access to Patients at all locations, for: a. b'],
  ],
  'access_request.withdraw': [
    ['Smiles', 'Withdrew the request for access: Smiles'],
    [null, 'Withdrew the request for access'],
  ],
  'access_request.grant': [['Acme: patients at Elm', 'Granted a request for access, Acme: Patients at Elm']],
  'access_request.decline': [['Not now', 'Declined a request for access: Not now']],
  'access_request.invite': [['Acme', 'Let a vendor ask for access again: Acme']],
  'grant.revoke': [
    [`Acme. ${was}`, 'Removed Acme’s access to Patients, Treatments at Main Street; Fee schedules at 12 locations'],
    ['Acme: all datasets of all locations', 'Removed Acme’s access to all datasets at all locations'],
    [`Acme: patients of locations ${number}, ${number}`, 'Removed Acme’s access to Patients at 2 locations'],
  ],
  'location.update': [
    ['Main: time zone America/Boise', 'Set the time zone of Main to America/Boise'],
    [`Main (${number}): time zone none`, 'Removed the time zone of Main'],
  ],
  'agent.enroll': [
    ['A code with which one agent can enrol', 'Generated an enrollment code for an agent'],
    [`A code with which one agent of organization ${number} can enrol`, 'Generated an enrollment code for an agent'],
  ],
  'agent.take_over': [[`Front desk (2) (${number}) at Main (${number})`, 'Chose the agent Front desk (2) for Main']],
  'agent.revoke': [[`Front desk (${number})`, 'Revoked the agent Front desk']],
  'agent_updates.change': [
    ['on', 'Turned on updates of agents'],
    [`Smile (${number}): off`, 'Turned off updates of agents'],
  ],
  'removal.decide': [
    [
      'Confirmed: removal of insurance plans at Elm, 1 hidden',
      'Confirmed the removal of insurance plans at Elm: 1 record hidden',
    ],
    [
      `Confirmed: insurance_plans at Elm (${number}), 200 hidden, 5 to hide`,
      'Confirmed the removal of insurance plans at Elm: 200 records hidden, 5 more to hide',
    ],
    [
      'Rejected: removal of patients at Elm, 29 kept',
      'Rejected the removal of patients at Elm: 29 records stay visible',
    ],
    ['Rejected: removal of patients at Elm', 'Rejected the removal of patients at Elm'],
    ['To be reviewed again: removal of patients at Elm', 'Put the removal of patients at Elm back for review'],
  ],
  'disclosure.account': [[`One patient of Smiles (${number})`, 'Listed the disclosures of one patient of Smiles']],
  'disclosure.identify': [
    [
      'Read of Patients by Acme at Elm, 200 records',
      'Looked up the patients of a read of Patients by Acme at Elm: 200 records',
    ],
  ],
  'patient.search': [['3 found', 'Searched for a patient by name: 3 found']],
  'disclosure.drop_month': [
    ['2019-03: 12345 disclosures, wholly those up to seal 7 (abc)', 'Dropped the 12,345 disclosures of 2019-03'],
  ],
  'operator.company_create': [
    ['Acme', 'Created the company Acme'],
    [`Acme (${id}), owner ${ana}`, `Created the company Acme with ${ana} as its owner`],
  ],
  'operator.organization_create': [[`Smiles (${number})`, 'Created the practice Smiles']],
  'operator.company_suspend': [
    ['Acme: suspended', 'Suspended the company Acme'],
    [`Acme (${id}): active`, 'Resumed the company Acme'],
  ],
  'operator.company_close': [['Acme: closed', 'Closed the company Acme']],
  'operator.second_factor_reset': [
    [
      'Ana <ana@example.com>. Removed: the password and 2 passkeys',
      'Reset the second factor of Ana <ana@example.com>. Removed: the password and 2 passkeys',
    ],
  ],
  'operator.agreement_publish': [
    ['Version 2, binds all in 30 days', 'Published version 2 of the agreement, required after 30 days'],
    ['Version 2, binds all in 0 days', 'Published version 2 of the agreement, in force at once'],
  ],
  'company.erase': [[`Acme (${id})`, 'Erased the company Acme']],
  'organization.erase': [[`Smiles (${number})`, 'Erased the practice Smiles']],
  'organization.export': [[`Smiles (${number})`, 'Exported all data of Smiles']],
  'sandbox.populate': [[`Smiles (${number})`, 'Created demo data for Smiles']],
  'agent_release.publish': [['Version 0.3.0, SHA-256 9f86d0', 'Published version 0.3.0 of the agent']],
  'agent_release.withdraw': [['Version 0.3.0', 'Withdrew version 0.3.0 of the agent']],
  'signing_key.rotate': [['kid', 'Rotated the key that signs tokens']],
  'signing_key.withdraw': [['kid', 'Withdrew a key that signed tokens']],
  'secret_key.rotate': [['From a to b. Key for seals: from c to d', 'Replaced the secret key']],
  'secret_key.drop': [['a, b', 'Dropped earlier secret keys']],
  'backup.create': [['/backups/one', 'Created a backup in /backups/one']],
  'backup.restore': [[`/backups/one. A new epoch: ${id}`, 'Restored the backup /backups/one']],
  'database.migrate': [['Migration 35, months', 'Migrated the database to version 35']],
  'database.restore': [['A new epoch: 4', 'Marked the database as restored']],
  'account.sign_up': [['Acme', 'Signed up Acme']],
  'account.invitation_accept': [['Acme', 'Accepted the invitation to Acme']],
  'account.sign_in': [
    [null, 'Signed in'],
    ['Through Entra', 'Signed in through Entra'],
  ],
  'account.sign_out': [[null, 'Signed out']],
  'account.sign_out_everywhere': [[null, 'Signed out everywhere']],
  'account.session_end': [
    [null, 'Ended a session'],
    ['2 sessions, by Acme', 'Ended 2 sessions of yours for Acme'],
  ],
  'account.update': [['Ana', 'Changed the name to Ana']],
  'account.email_change': [
    ['From a@example.com to b@example.com', 'Changed the e-mail address from a@example.com to b@example.com'],
  ],
  'account.email_undo': [
    [
      'From b@example.com to a@example.com',
      'Undid a change of the e-mail address: from b@example.com back to a@example.com',
    ],
  ],
  'account.password_change': [[null, 'Changed the password']],
  'account.password_reset': [[null, 'Set a new password with a link from a mail']],
  'account.two_factor_enable': [[null, 'Turned on two-factor sign-in']],
  'account.two_factor_disable': [[null, 'Turned off two-factor sign-in']],
  'account.recovery_code_use': [[null, 'Signed in with a recovery code']],
  'account.recovery_codes_renew': [[null, 'Generated new recovery codes']],
  'account.identity_link': [['Entra, for Acme', 'Linked the identity provider Entra for Acme']],
  'account.passkey_add': [['Laptop', 'Added the passkey Laptop']],
  'account.passkey_delete': [['Laptop', 'Removed the passkey Laptop']],
} as const satisfies Record<AuditAction, readonly (readonly [subject: string | null, sentence: string])[]>

test('each act that can be recorded has a sentence, in the form that each release recorded it', () => {
  for (const [action, cases] of Object.entries(sentences)) {
    for (const [subject, sentence] of cases) assert.equal(actInWords({ action, subject }).what, sentence, action)
    assert.equal(actInWords({ action, subject: null }).what, acts[action as AuditAction].general)
  }
})

/** What somebody else writes, in the forms above. */
const others = [
  ana,
  'Acme',
  'Zenith',
  'Smiles',
  'Smile Group',
  'Elm',
  'Main Street',
  'Front desk',
  'Entra',
  'Laptop',
  'Recall',
]
/** As each of them could be: what we record of every act, and what hides the marks. */
const hostile = [
  ...Object.values(sentences).flatMap((cases) => cases.flatMap(([subject]) => subject ?? [])),
  'Recall. Before: nothing. After: patients at all locations. Granted: Patients at all locations. Removed: nothing',
  'Recall. Ends: 2099-01-01T00:00Z. Decided by Nobody',
  '\u20680\u2069',
  'a\u2069: suspended\u2068b',
  'patients (112233445566778)',
]

test('W40: no name, purpose or note changes what a sentence says, though it is made of our own sentences', () => {
  let tried = 0
  for (const [action, cases] of Object.entries(sentences)) {
    for (const [subject, sentence] of cases as readonly (readonly [string | null, string])[]) {
      for (const name of others.filter((other) => subject?.includes(other) && !subject.includes('Evil'))) {
        const written = others.filter((other) => other.includes(name) && other !== name)
        if (subject === null || written.some((other) => subject.includes(other))) continue
        for (const text of hostile) {
          const [first = '', ...rest] = subject.split(name)
          const stored: string = rest.reduce(
            (before: string, part) => about`${ours(before)}${text}${ours(part)}`.stored,
            first,
          )
          const shown = quoted(text.replaceAll(/[\u2068\u2069]/g, ''))
          const what = actInWords({ action, subject: stored }).what
          assert.equal(what, sentence.split(name).join(shown), `${action}: ${stored}`)
          tried += 1
        }
      }
    }
  }
  assert.ok(tried > 3_000, `${tried}`)
})

test('W40: details of an access are those of the change, whatever the vendor, its purpose and the locations are called', () => {
  for (const text of hostile) {
    const places = about`Before: patients at ${text}. After: nothing. Granted: nothing. Removed: Patients at ${text}.`
    const subject = about`${text}. ${places} Purpose: ${text}. Ends: 2027-01-01T05:00Z. Decided by ${text}.`.stored
    const shown = quoted(text.replaceAll(/[\u2068\u2069]/g, ''))
    for (const action of ['grant.change', 'grant.revoke']) {
      assert.deepEqual(actInWords({ action, subject }), {
        what: `Removed ${shown}’s access to Patients at ${shown}, as ${shown} decided`,
        details: `Before: Patients at ${shown}. After: nothing.`,
      })
    }
  }
})

test('an act of another release reads well: known under its earlier name, else by its name and what it was done to', () => {
  const what = (action: string, subject: string | null) => actInWords({ action, subject }).what
  assert.equal(what('company_member.manage', `Removed ${ana}`), `Removed ${ana}`)
  assert.equal(what('grant.give', 'Acme: patients of 3 locations'), 'Granted Acme access to Patients at 3 locations')
  assert.equal(what('records.move', `Elm (${number})`), 'Records move: Elm')
  assert.equal(what('agent.enroll', 'Twelve'), 'Generated an enrollment code for an agent: Twelve')
})

test('details leave out ids and names of code', () => {
  const { details } = actInWords({ action: 'grant.change', subject: `Acme. ${was}` })
  assert.equal(details, 'Before: Patients, Treatments at Main Street; Fee schedules at 12 locations. After: nothing.')
  assert.equal(actInWords({ action: 'agent.revoke', subject: `Front desk (${number})` }).details, null)
})

test('acts are found by their kind and by the words that their sentences have', () => {
  assert.deepEqual(actionsOf('access'), [
    'grant.change',
    'grant.revoke',
    'grant.end',
    'access_request.make',
    'access_request.withdraw',
    'access_request.grant',
    'access_request.decline',
    'access_request.invite',
    'grant.give',
  ])
  assert.deepEqual(actionsSaying('AGENT of a loc'), ['agent.take_over'])
})
