import type { Membership } from '@bridgework/contract/portal'
import { ActionIcon, Indicator, Tooltip } from '@mantine/core'
import { IconBell } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../language/t.ts'
import { unreadQuery } from '../pages/notices/notices.ts'
import { homeOf } from './menu.ts'

/** The way to the notices, with how many of them are not read. */
export function NoticeBell({ membership }: { membership: Membership }) {
  const unread = useQuery(unreadQuery(membership.id)).data?.unread ?? 0
  const label = unread === 0 ? t('Notices') : t('Notices, {unread} not read', { unread })
  return (
    <Tooltip label={label}>
      <Indicator label={unread > 99 ? '99+' : unread} disabled={unread === 0} size={16} offset={4} color="red.8">
        <ActionIcon
          variant="subtle"
          color="gray"
          component={Link}
          to={`${homeOf(membership)}/notices` as string}
          aria-label={label}
        >
          <IconBell size={18} aria-hidden />
        </ActionIcon>
      </Indicator>
    </Tooltip>
  )
}
