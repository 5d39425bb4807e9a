import type { Membership } from '@bridgework/contract/portal'
import {
  AppShell,
  Box,
  Burger,
  Button,
  Group,
  Menu,
  ScrollArea,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCheck, IconChevronDown, IconLogout, IconSelector, IconUser } from '@tabler/icons-react'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { endSession, useSession } from '../api/session.ts'
import { t } from '../language/t.ts'
import { Brand, SandboxBadge } from './Brand.tsx'
import { ColorSchemeButton } from './ColorSchemeButton.tsx'
import { FreshSignIn } from './FreshSignIn.tsx'
import { LiveData } from './LiveData.tsx'
import { MainMenu } from './MainMenu.tsx'
import { homeOf, menuOwner, sideNames } from './menu.ts'
import { NoticeBell } from './NoticeBell.tsx'
import { SecondFactorGate } from './SecondFactorGate.tsx'
import { SessionWatch } from './SessionWatch.tsx'
import classes from './Shell.module.css'
import { SupportBanner } from './SupportBanner.tsx'
import { SearchButton } from './search/SearchButton.tsx'

/** In this tab's storage: the first page of the company or practice that was shown last. */
const lastHomeKey = 'bridgework.last-home'

/** The frame of every page after a sign-in: the company or practice, its menu, the account. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure()
  const { memberships } = useSession()
  const main = useRef<HTMLElement>(null)
  const path = useLocation({ select: (location) => location.pathname })
  const current = menuOwner(memberships, path, sessionStorage.getItem(lastHomeKey))
  const home = current && homeOf(current)
  const isItsPage = home !== undefined && `${path}/`.startsWith(`${home}/`)
  useEffect(() => {
    if (home) sessionStorage.setItem(lastHomeKey, home)
  }, [home])
  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', sm: 'lg' }}
      // Else the page slides into its place when it is first shown.
      transitionDuration={0}
    >
      <Button className={classes.skip} onClick={() => main.current?.focus()}>
        {t('Skip to content')}
      </Button>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('Menu')}
              aria-expanded={isOpen}
            />
            <UnstyledButton component={Link} to="/" aria-label={t('Bridgework home page')}>
              <Brand isShortOnPhone />
            </UnstyledButton>
            <SandboxBadge />
          </Group>
          <Group gap="xs" wrap="nowrap">
            {current && isItsPage && current.support_until === null && <NoticeBell membership={current} />}
            <SearchButton membership={current} />
            <ColorSchemeButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" className={classes.navbar} data-collapsed={!isOpen || undefined} aria-label={t('Menu')}>
        <AppShell.Section mb="sm">
          <TenantSwitcher memberships={memberships} current={current} />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea}>
          {current && <MainMenu membership={current} isShown={isItsPage} onChosen={close} />}
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1} className={classes.main}>
        <Box maw={1200} mx="auto">
          <LiveData />
          {current && isItsPage && <SupportBanner membership={current} />}
          {current && isItsPage ? (
            <SecondFactorGate key={current.id} membership={current}>
              <Outlet />
            </SecondFactorGate>
          ) : (
            <Outlet />
          )}
        </Box>
      </AppShell.Main>
      <SessionWatch />
      <FreshSignIn />
    </AppShell>
  )
}

/** The company or practice whose pages are shown; a menu for a person with several. */
function TenantSwitcher({
  memberships,
  current,
}: {
  memberships: readonly Membership[]
  current: Membership | undefined
}) {
  const label = (
    <Box miw={0}>
      <Text size="sm" fw={600} truncate>
        {current?.name ?? t('Choose a company or practice')}
      </Text>
      {current && (
        <Text size="xs" c="dimmed">
          {t(sideNames[current.side])}
          {` · ${t(current.role)}`}
        </Text>
      )}
    </Box>
  )
  if (memberships.length === 0) return null
  if (memberships.length === 1 && current) return <Box p="xs">{label}</Box>
  return (
    <Menu width="target">
      <Menu.Target>
        <UnstyledButton className={classes.switcher}>
          {label}
          <VisuallyHidden>{t('Change')}</VisuallyHidden>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {memberships.map((membership) => (
          <Menu.Item
            key={`${membership.side} ${membership.id}`}
            component={Link}
            to={homeOf(membership)}
            rightSection={membership === current ? <IconCheck size={16} aria-label={t('current')} /> : undefined}
          >
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {membership.name}
            </Text>
            <Text size="xs" c="dimmed">
              {t(sideNames[membership.side])}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function AccountMenu() {
  const { user, through_provider } = useSession()
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton p={4} aria-label={t('Account of {name}', { name: user.name })}>
          <Group gap={4} wrap="nowrap">
            <IconUser size={18} aria-hidden />
            <Text size="sm" fw={500} truncate maw={180} visibleFrom="xs">
              {user.name}
            </Text>
            <IconChevronDown size={16} aria-hidden />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label style={{ overflowWrap: 'anywhere' }}>{user.email}</Menu.Label>
        {/* A session that a provider began changes nothing of the account. */}
        {!through_provider && (
          <Menu.Item leftSection={<IconUser size={16} aria-hidden />} component={Link} to="/account">
            {t('Account and security')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => endSession('choice')}>
          {t('Sign out')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
