import { Badge, useComputedColorScheme } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconHelpCircle,
  IconMail,
  IconPlayerPause,
} from '@tabler/icons-react'
import { t } from '../language/t.ts'

const good = { icon: IconCircleCheck, color: 'teal' }
const waiting = { icon: IconClock, color: 'blue' }
const warning = { icon: IconAlertTriangle, color: 'orange' }
const bad = { icon: IconCircleX, color: 'red' }
const neutral = { icon: IconCircleX, color: 'gray' }

// Freshness, agents, companies, members, key pairs, grants and requests: a word that two of them share means the same in both.
const states = {
  current: { ...good, label: t('Current') },
  stale: { ...warning, label: t('Stale') },
  disconnected: { ...bad, label: t('Disconnected') },
  pending: { ...waiting, label: t('First sync pending') },
  not_provided: { ...neutral, label: t('Not provided') },
  connected: { ...good, label: t('Connected') },
  office_closed: { ...neutral, label: t('Office closed') },
  silent: { ...warning, label: t('Not reporting') },
  never_heard: { icon: IconHelpCircle, color: 'gray', label: t('Never connected') },
  revoked: { ...neutral, label: t('Revoked') },
  active: { ...good, label: t('Active') },
  suspended: { icon: IconPlayerPause, color: 'orange', label: t('Suspended') },
  closed: { ...neutral, label: t('Closed') },
  invited: { icon: IconMail, color: 'blue', label: t('Invited') },
  expired: { ...warning, label: t('Invitation expired') },
  live: { ...good, label: t('Live') },
  granted: { ...good, label: t('Granted') },
  installed: { ...good, label: t('Installed') },
  not_installed: { ...neutral, label: t('Not installed') },
  held: { ...warning, label: t('Needs review') },
  in_force: { ...good, label: t('In force') },
  open: { ...waiting, label: t('Requested') },
  declined: { ...bad, label: t('Declined') },
  withdrawn: { ...neutral, label: t('Withdrawn') },
  verified: { ...good, label: t('Verified') },
  not_verified: { ...warning, label: t('Not verified') },
  failing: { ...warning, label: t('Failing') },
  stopped: { icon: IconPlayerPause, color: 'orange', label: t('Stopped') },
  not_accepted: { ...warning, label: t('Not accepted') },
} as const

export type State = keyof typeof states

/** A state by symbol and word; the colour only helps. */
export function StateBadge({ state, label = states[state].label }: { state: State; label?: string }) {
  const scheme = useComputedColorScheme('light')
  const { icon: Shape, color } = states[state]
  return (
    <Badge
      variant="default"
      radius="sm"
      tt="none"
      fw={500}
      style={{ flexShrink: 0, minWidth: 'max-content' }}
      leftSection={<Shape size={14} aria-hidden color={`var(--mantine-color-${color}-${scheme === 'dark' ? 4 : 8})`} />}
    >
      {label}
    </Badge>
  )
}
