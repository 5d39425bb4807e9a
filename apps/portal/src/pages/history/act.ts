const words: Record<string, string> = {
  'company.create': 'Created the company',
  'company.update': 'Changed the company’s settings',
  'agreement.accept': 'Accepted the agreement',
  'key_pair.generate': 'Generated a key pair',
  'key_pair.regenerate': 'Regenerated the key pair',
  'key_pair.revoke': 'Revoked the key pair',
  'company_member.invite': 'Invited a member',
  'company_member.join': 'Joined the company',
  'company_member.remove': 'Removed a member',
  'company_ownership.transfer': 'Handed over ownership',
  'organization.create': 'Created the practice',
  'organization.update': 'Changed the practice’s settings',
  'organization_member.invite': 'Invited a member',
  'organization_member.join': 'Joined the practice',
  'organization_member.remove': 'Removed a member',
  'organization_ownership.transfer': 'Handed over ownership',
  'agent.enroll': 'Made an enrolment code',
  'agent.revoke': 'Revoked an agent',
  'grant.change': 'Changed a vendor’s access',
  'grant.give': 'Granted a vendor access',
  'grant.revoke': 'Revoked a vendor’s access',
  'first_call.make': 'Made a first call',
}

/** An act of the history in words; one without words of its own is told by its name, so that none is hidden. */
export function actInWords(action: string): string {
  const known = words[action]
  if (known) return known
  const [thing = '', verb = ''] = action.replace(/^(operator|account)\./, '').split('.')
  const text = `${thing} ${verb}`.replaceAll('_', ' ').trim()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
