const words: Record<string, string> = {
  'member.manage': 'Changed members',
  'identity_provider.change': 'Changed the identity provider',
  'member_session.end': 'Ended sessions of a member',
  'sign_in_rule.change': 'Changed how members sign in',
  'ownership.transfer': 'Transferred ownership',
  'company.create': 'Created the company',
  'company.update': 'Changed the company’s settings',
  'company.domain_check': 'Checked the proof of the website',
  'company.domain_lost': 'The proof of the website was lost',
  'company.rename': 'A vendor changed its name',
  'company.erase': 'Erased the company',
  'agreement.accept': 'Accepted the agreement',
  'key_pair.generate': 'Generated a key pair',
  'key_pair.regenerate': 'Regenerated the key pair',
  'key_pair.revoke': 'Revoked the key pair',
  'organization.create': 'Created the practice',
  'organization.update': 'Changed the practice’s settings',
  'organization.export': 'Exported all data of the practice',
  'organization.erase': 'Erased the practice',
  'location.update': 'Changed a location’s settings',
  'agent.enroll': 'Generated an enrollment code',
  'agent.take_over': 'Chose the agent of a location',
  'agent.revoke': 'Revoked an agent',
  'grant.change': 'Changed a vendor’s access',
  'grant.give': 'Granted a vendor access',
  'grant.end': 'A vendor’s access reached its end date',
  'grant.revoke': 'Revoked a vendor’s access',
  'access_request.make': 'Asked for access',
  'access_request.withdraw': 'Withdrew the request for access',
  'access_request.grant': 'Granted a request for access',
  'access_request.decline': 'Declined a request for access',
  'access_request.invite': 'Let a vendor ask for access again',
  'disclosure.account': 'Listed the disclosures of a patient',
  'operator.company_create': 'Created the company',
  'operator.company_suspend': 'Suspended or resumed the company',
  'operator.company_close': 'Closed the company',
  'operator.company_verify': 'Changed the verification of the company',
  'operator.organization_create': 'Created the practice',
  'operator.agreement_publish': 'Published the agreement',
  'signing_key.rotate': 'Rotated the signing key',
  'signing_key.withdraw': 'Withdrew a signing key',
  'backup.create': 'Created a backup',
  'backup.restore': 'Restored a backup',
  'database.migrate': 'Migrated the database',
  'database.restore': 'Began a new epoch after a restore',
  'sandbox.populate': 'Created demo data',
  'disclosure.drop_month': 'Dropped a month of disclosures',
  'seal.mail': 'Switched seals by mail',
  'first_call.make': 'Made a first call',
}

/** An act of the history in words; one without words of its own is shown by its name, so that none is hidden. */
export function actInWords(action: string): string {
  // Members had an action for each side once, and the history keeps what was written.
  const known = words[action.replace(/^(company|organization)_(?=member|ownership)/, '')]
  if (known) return known
  const [thing = '', verb = ''] = action.replace(/^(operator|account)\./, '').split('.')
  const text = `${thing} ${verb}`.replaceAll('_', ' ').trim()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
