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

const good = { icon: IconCircleCheck, color: 'teal' }
const waiting = { icon: IconClock, color: 'blue' }
const warning = { icon: IconAlertTriangle, color: 'orange' }
const bad = { icon: IconCircleX, color: 'red' }
const neutral = { icon: IconCircleX, color: 'gray' }

// Freshness, agents, companies, members, key pairs, grants and requests: a word that two of them share means the same in both.
const states = {
  current: { ...good, label: 'Current' },
  stale: { ...warning, label: 'Stale' },
  disconnected: { ...bad, label: 'Disconnected' },
  pending: { ...waiting, label: 'First sync pending' },
  not_provided: { ...neutral, label: 'Not provided' },
  connected: { ...good, label: 'Connected' },
  office_closed: { ...neutral, label: 'Office closed' },
  silent: { ...warning, label: 'Not reporting' },
  never_heard: { icon: IconHelpCircle, color: 'gray', label: 'Never connected' },
  revoked: { ...neutral, label: 'Revoked' },
  active: { ...good, label: 'Active' },
  suspended: { icon: IconPlayerPause, color: 'orange', label: 'Suspended' },
  closed: { ...neutral, label: 'Closed' },
  invited: { icon: IconMail, color: 'blue', label: 'Invited' },
  expired: { ...warning, label: 'Invitation expired' },
  live: { ...good, label: 'Live' },
  granted: { ...good, label: 'Granted' },
  installed: { ...good, label: 'Installed' },
  not_installed: { ...neutral, label: 'Not installed' },
  held: { ...warning, label: 'Needs review' },
  in_force: { ...good, label: 'In force' },
  open: { ...waiting, label: 'Requested' },
  declined: { ...bad, label: 'Declined' },
  withdrawn: { ...neutral, label: 'Withdrawn' },
  verified: { ...good, label: 'Verified' },
  not_verified: { ...warning, label: 'Not verified' },
  failing: { ...warning, label: 'Failing' },
  stopped: { icon: IconPlayerPause, color: 'orange', label: 'Stopped' },
  not_accepted: { ...warning, label: 'Not accepted' },
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
