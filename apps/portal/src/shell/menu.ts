import { type Action, type Membership, mayDo, type PortalAnswers } from '@bridgework/contract/portal'
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
  IconFlask,
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
import { type Message, message } from '../language/t.ts'

/** One item of the menu. `waiting`: what of a practice waits for a decision on its page. `sandboxOnly`: production has no such page. */
export type MenuItem = {
  label: Message
  path: string
  action: Action
  icon: typeof IconHome
  waiting?: keyof PortalAnswers['countWaiting']
  sandboxOnly?: true
}
type MenuGroup = { heading: Message | null; items: readonly MenuItem[] }

/** What each side is called. */
export const sideNames: Record<Membership['side'], Message> = {
  company: message('Software company'),
  organization: message('Practice'),
  operator: message('Operator'),
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

/** The menu of each side: what is needed most often first, then its groups. */
const menuOf: Record<Membership['side'], readonly MenuGroup[]> = {
  company: [
    {
      heading: null,
      items: [
        { label: message('Overview'), path: '', action: 'company.read', icon: IconHome },
        { label: message('Quickstart'), path: '/quickstart', action: 'company.read', icon: IconRocket },
      ],
    },
    {
      heading: message('Integration'),
      items: [
        { label: message('API keys'), path: '/keys', action: 'key_pair.read', icon: IconKey },
        { label: message('Webhooks'), path: '/webhooks', action: 'webhook.read', icon: IconWebhook },
        { label: message('Sandbox'), path: '/sandbox', action: 'sandbox.read', icon: IconFlask, sandboxOnly: true },
        { label: message('Usage'), path: '/usage', action: 'usage.read', icon: IconChartBar },
        { label: message('Logs'), path: '/logs', action: 'usage.read', icon: IconListSearch },
      ],
    },
    {
      heading: message('Access'),
      items: [
        { label: message('Connections'), path: '/connections', action: 'connection.read', icon: IconPlugConnected },
        { label: message('Agreement'), path: '/agreement', action: 'agreement.read', icon: IconCertificate },
      ],
    },
    {
      heading: message('Company'),
      items: [
        { label: message('Members'), path: '/members', action: 'member.read', icon: IconUsers },
        {
          label: message('Identity provider'),
          path: '/identity-provider',
          action: 'identity_provider.read',
          icon: IconLogin2,
        },
        { label: message('History'), path: '/history', action: 'company.audit', icon: IconHistory },
        { label: message('Settings'), path: '/settings', action: 'company.update', icon: IconSettings },
      ],
    },
  ],
  organization: [
    {
      heading: null,
      items: [{ label: message('Overview'), path: '', action: 'organization.read', icon: IconHome }],
    },
    {
      heading: message('Data'),
      items: [
        { label: message('Locations'), path: '/locations', action: 'location.read', icon: IconMapPin },
        { label: message('Agents'), path: '/agents', action: 'agent.read', icon: IconDeviceDesktop },
        { label: message('Removals'), path: '/removals', action: 'removal.read', icon: IconTrash, waiting: 'removals' },
        { label: message('Attribution'), path: '/attribution', action: 'attribution.read', icon: IconCode },
      ],
    },
    {
      heading: message('Access'),
      items: [
        {
          label: message('Vendor access'),
          path: '/vendors',
          action: 'grant.read',
          icon: IconShieldCheck,
          waiting: 'access_requests',
        },
        { label: message('Access review'), path: '/access-review', action: 'grant.read', icon: IconChecklist },
        { label: message('Grants'), path: '/grants', action: 'grant.read', icon: IconClipboardList },
        { label: message('Disclosures'), path: '/disclosures', action: 'disclosure.read', icon: IconEye },
      ],
    },
    {
      heading: message('Practice'),
      items: [
        { label: message('Members'), path: '/members', action: 'member.read', icon: IconUsers },
        {
          label: message('Identity provider'),
          path: '/identity-provider',
          action: 'identity_provider.read',
          icon: IconLogin2,
        },
        { label: message('History'), path: '/history', action: 'organization.audit', icon: IconHistory },
        { label: message('Settings'), path: '/settings', action: 'organization.update', icon: IconSettings },
      ],
    },
  ],
  operator: [
    {
      heading: null,
      items: [
        { label: message('Overview'), path: '', action: 'operator.read', icon: IconGauge },
        { label: message('Find'), path: '/find', action: 'operator.read', icon: IconSearch },
      ],
    },
    {
      heading: message('Tenants'),
      items: [
        { label: message('Companies'), path: '/companies', action: 'operator.read', icon: IconBuilding },
        { label: message('Practices'), path: '/organizations', action: 'operator.read', icon: IconBuildingHospital },
        { label: message('Agents'), path: '/agents', action: 'operator.read', icon: IconAffiliate },
        { label: message('People'), path: '/people', action: 'operator.read', icon: IconUsers },
      ],
    },
    {
      heading: message('Operation'),
      items: [
        { label: message('Service'), path: '/service', action: 'operator.read', icon: IconHeartbeat },
        { label: message('Incidents'), path: '/incidents', action: 'operator.read', icon: IconSpeakerphone },
        { label: message('Jobs'), path: '/jobs', action: 'operator.read', icon: IconActivity },
        { label: message('Limits'), path: '/limits', action: 'operator.read', icon: IconChartBar },
      ],
    },
    {
      heading: message('Administration'),
      items: [
        { label: message('Agreement'), path: '/agreements', action: 'operator.read', icon: IconCertificate },
        { label: message('Operators'), path: '/members', action: 'member.read', icon: IconAddressBook },
        { label: message('History'), path: '/history', action: 'operator.read', icon: IconHistory },
      ],
    },
  ],
}

/** The groups of a membership's menu, without the items whose pages its role may not read or this kind of service does not have. */
export function menuFor({ side, role }: Pick<Membership, 'side' | 'role'>, isSandbox: boolean): readonly MenuGroup[] {
  const isShown = (item: MenuItem) => (isSandbox || !item.sandboxOnly) && mayDo(role, item.action, side)
  return menuOf[side]
    .map(({ heading, items }) => ({ heading, items: items.filter(isShown) }))
    .filter(({ items }) => items.length > 0)
}
