import type { Action, Membership } from '@bridgework/contract/portal'
import {
  IconActivity,
  IconAddressBook,
  IconAffiliate,
  IconBuilding,
  IconBuildingHospital,
  IconCertificate,
  IconChartBar,
  IconChecklist,
  IconClipboardList,
  IconCode,
  IconDeviceDesktop,
  IconEye,
  IconGauge,
  IconHeartbeat,
  IconHistory,
  IconHome,
  IconKey,
  IconListSearch,
  IconLogin2,
  IconMapPin,
  IconPlugConnected,
  IconRocket,
  IconSearch,
  IconSettings,
  IconShieldCheck,
  IconSpeakerphone,
  IconTrash,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'

/** One item of the menu, hidden from a role that may not read its page. */
export type MenuItem = { label: string; path: string; action: Action; icon: typeof IconHome }

/** What each side is called. */
export const sideNames: Record<Membership['side'], string> = {
  company: 'Software company',
  organization: 'Practice',
  operator: 'Operator',
}

/**
 * Whose menu a page has: that of the company or practice whose page it is. The account's pages keep the menu from which they were opened; the
 * home page has none, for a person with several chooses there.
 */
export function menuOwner(
  memberships: readonly Membership[],
  path: string,
  lastHome: string | null,
): Membership | undefined {
  const here = memberships.find((membership) => `${path}/`.startsWith(`${homeOf(membership)}/`))
  if (here || path === '/') return here
  return memberships.find((membership) => homeOf(membership) === lastHome) ?? memberships[0]
}

/** The address of a membership's first page. */
export function homeOf(membership: Membership): string {
  return membership.side === 'operator' ? '/operator' : `/${membership.side}/${membership.id}`
}

/** The menu of each side, in the order of a day's work. */
export const menuOf: Record<Membership['side'], readonly MenuItem[]> = {
  company: [
    { label: 'Overview', path: '', action: 'company.read', icon: IconHome },
    { label: 'Quickstart', path: '/quickstart', action: 'company.read', icon: IconRocket },
    { label: 'API keys', path: '/keys', action: 'key_pair.read', icon: IconKey },
    { label: 'Webhooks', path: '/webhooks', action: 'webhook.read', icon: IconWebhook },
    { label: 'Agreement', path: '/agreement', action: 'agreement.read', icon: IconCertificate },
    { label: 'Connections', path: '/connections', action: 'connection.read', icon: IconPlugConnected },
    { label: 'Usage', path: '/usage', action: 'usage.read', icon: IconChartBar },
    { label: 'Logs', path: '/logs', action: 'usage.read', icon: IconListSearch },
    { label: 'Members', path: '/members', action: 'member.read', icon: IconUsers },
    { label: 'Identity provider', path: '/identity-provider', action: 'identity_provider.read', icon: IconLogin2 },
    { label: 'History', path: '/history', action: 'company.audit', icon: IconHistory },
    { label: 'Settings', path: '/settings', action: 'company.update', icon: IconSettings },
  ],
  organization: [
    { label: 'Overview', path: '', action: 'organization.read', icon: IconHome },
    { label: 'Locations', path: '/locations', action: 'location.read', icon: IconMapPin },
    { label: 'Agents', path: '/agents', action: 'agent.read', icon: IconDeviceDesktop },
    { label: 'Vendor access', path: '/vendors', action: 'grant.read', icon: IconShieldCheck },
    { label: 'Access review', path: '/access-review', action: 'grant.read', icon: IconChecklist },
    { label: 'Grants', path: '/grants', action: 'grant.read', icon: IconClipboardList },
    { label: 'Disclosures', path: '/disclosures', action: 'disclosure.read', icon: IconEye },
    { label: 'Removals', path: '/removals', action: 'removal.read', icon: IconTrash },
    { label: 'Attribution', path: '/attribution', action: 'attribution.read', icon: IconCode },
    { label: 'Members', path: '/members', action: 'member.read', icon: IconUsers },
    { label: 'Identity provider', path: '/identity-provider', action: 'identity_provider.read', icon: IconLogin2 },
    { label: 'History', path: '/history', action: 'organization.audit', icon: IconHistory },
    { label: 'Settings', path: '/settings', action: 'organization.update', icon: IconSettings },
  ],
  operator: [
    { label: 'Overview', path: '', action: 'operator.read', icon: IconGauge },
    { label: 'Find', path: '/find', action: 'operator.read', icon: IconSearch },
    { label: 'Companies', path: '/companies', action: 'operator.read', icon: IconBuilding },
    { label: 'Practices', path: '/organizations', action: 'operator.read', icon: IconBuildingHospital },
    { label: 'Agents', path: '/agents', action: 'operator.read', icon: IconAffiliate },
    { label: 'People', path: '/people', action: 'operator.read', icon: IconUsers },
    { label: 'Service', path: '/service', action: 'operator.read', icon: IconHeartbeat },
    { label: 'Incidents', path: '/incidents', action: 'operator.read', icon: IconSpeakerphone },
    { label: 'Jobs', path: '/jobs', action: 'operator.read', icon: IconActivity },
    { label: 'Limits', path: '/limits', action: 'operator.read', icon: IconChartBar },
    { label: 'Agreement', path: '/agreements', action: 'operator.read', icon: IconCertificate },
    { label: 'Operators', path: '/members', action: 'member.read', icon: IconAddressBook },
    { label: 'History', path: '/history', action: 'operator.read', icon: IconHistory },
  ],
}
