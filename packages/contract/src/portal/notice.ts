import type { Side } from './action.ts'
import type { Instant } from './answer.ts'

/** How a person gets the mails of a kind of notice. The portal's list has every notice, whatever is chosen. */
export const deliveries = ['at_once', 'daily', 'off'] as const
export type Delivery = (typeof deliveries)[number]

type Kind = {
  title: string
  about: string
  sides: readonly Side[]
  /** What holds until the person chooses. */
  delivery: Delivery
  /** It cannot be changed. */
  isFixed?: true
}

/** What people choose the delivery of, in the order of the settings. */
export const noticeKinds = {
  security: {
    title: 'Security',
    about: 'Refused sign-ins of your account. Mails about changes of your account are always sent too.',
    sides: ['company', 'organization', 'operator'],
    delivery: 'at_once',
    isFixed: true,
  },
  agreement: {
    title: 'Agreement',
    about: 'A new version to accept, with reminders before your keys stop working.',
    sides: ['company'],
    delivery: 'at_once',
  },
  company: {
    title: 'Company',
    about: 'Your company is suspended, resumed or closed.',
    sides: ['company'],
    delivery: 'at_once',
  },
  keys: {
    title: 'API keys',
    about: 'A key pair is generated, replaced or revoked.',
    sides: ['company'],
    delivery: 'at_once',
  },
  access: {
    title: 'Access',
    about: 'A practice’s grants to a vendor are given, changed or ended.',
    sides: ['company', 'organization'],
    delivery: 'at_once',
  },
  requests: {
    title: 'Refused requests',
    about: 'Many of your requests are answered 401 or 429.',
    sides: ['company'],
    delivery: 'at_once',
  },
  webhooks: {
    title: 'Webhooks',
    about: 'Messages to one of your webhooks fail, or are no longer sent.',
    sides: ['company'],
    delivery: 'at_once',
  },
  readable: {
    title: 'Locations',
    about: 'A location that you may read is silent, not current or closed, or a removal is held there.',
    sides: ['company'],
    delivery: 'daily',
  },
  removals: {
    title: 'Removals',
    about: 'A removal is held until you confirm or reject it.',
    sides: ['organization'],
    delivery: 'at_once',
  },
  agents: {
    title: 'Agents',
    about: 'An agent is enrolled, is silent during office hours, reports a problem, or does not finish its first read.',
    sides: ['organization'],
    delivery: 'at_once',
  },
  datasets: {
    title: 'Stale datasets',
    about: 'An agent is connected, but cannot read a dataset.',
    sides: ['organization'],
    delivery: 'daily',
  },
  service: {
    title: 'Service',
    about: 'Work that waits too long, a full disk, disclosures that cannot be recorded, an outdated PostgreSQL.',
    sides: ['operator'],
    delivery: 'at_once',
  },
} as const satisfies Record<string, Kind>

export type NoticeKind = keyof typeof noticeKinds

/** The kinds that members of a side are notified of. */
export function noticeKindsOf(side: Side): NoticeKind[] {
  const kinds = Object.entries(noticeKinds) as [NoticeKind, Kind][]
  return kinds.filter(([, { sides }]) => sides.includes(side)).map(([kind]) => kind)
}

/** Whether nothing but `at_once` is possible. */
export function isFixedKind(kind: NoticeKind): boolean {
  const { isFixed }: Kind = noticeKinds[kind]
  return isFixed === true
}

/** Something that a member should know. `path`: the portal's page on which to act. */
export type Notice = {
  id: string
  kind: NoticeKind
  title: string
  body: string
  path: string
  created_at: Instant
  read_at: Instant | null
}

/** What a person chose for one of the companies or practices that they belong to. */
export type NoticeSettings = {
  tenant_id: string
  side: Side
  name: string
  kinds: { kind: NoticeKind; delivery: Delivery }[]
}
