import { Tabs } from '@mantine/core'
import { IconBell, IconDevices, IconHistory, IconShieldLock, IconUser } from '@tabler/icons-react'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { useUrlState } from '../../ui/state/url-state.ts'
import { NoticeSettings } from '../notices/NoticeSettings.tsx'
import { Activity } from './Activity.tsx'
import type { AccountSearch } from './account-tab.ts'
import { OpenSessions } from './OpenSessions.tsx'
import { Profile } from './Profile.tsx'
import { Security } from './Security.tsx'

const tabs = [
  { value: 'profile', label: 'Profile', icon: IconUser, panel: Profile },
  { value: 'security', label: 'Security', icon: IconShieldLock, panel: Security },
  { value: 'notices', label: 'Notices', icon: IconBell, panel: NoticeSettings },
  { value: 'sessions', label: 'Sessions', icon: IconDevices, panel: OpenSessions },
  { value: 'activity', label: 'Activity', icon: IconHistory, panel: Activity },
] as const

/** A person's own account: who they are and how they sign in. */
export function AccountPage() {
  const [{ tab = 'profile' }, change] = useUrlState<AccountSearch>()
  return (
    <>
      <PageHeader
        title="Your account"
        description="Your name, how you sign in, which mails you get, and where you are signed in."
      />
      <Tabs
        value={tab}
        onChange={(value) => change({ tab: value === 'profile' ? undefined : value, search: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          {tabs.map(({ value, label, icon: Shape }) => (
            <Tabs.Tab key={value} value={value} leftSection={<Shape size={16} aria-hidden />}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ value, panel: Panel }) => (
          <Tabs.Panel key={value} value={value}>
            <Panel />
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  )
}
