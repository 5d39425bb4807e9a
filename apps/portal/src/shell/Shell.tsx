import { mayDo } from '@bridgework/contract/portal'
import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconChevronDown, IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { signOut, useSession } from '../api/session.ts'
import { Brand } from './Brand.tsx'
import { homeOf, placesOf } from './places.ts'

/** The frame of every page after a sign-in: whom one acts for, where one can go, who one is. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure()
  const { memberships, user } = useSession()
  const path = useLocation({ select: (location) => location.pathname })
  const current = memberships.find((membership) => `${path}/`.startsWith(`${homeOf(membership)}/`))
  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Brand />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ColorSchemeButton />
            <Menu position="bottom-end" width={220}>
              <Menu.Target>
                <UnstyledButton aria-label={`Account of ${user.name}`}>
                  <Group gap={4} wrap="nowrap">
                    <Text size="sm" fw={500} truncate maw={160}>
                      {user.name}
                    </Text>
                    <IconChevronDown size={16} />
                  </Group>
                </UnstyledButton>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Label>{user.email}</Menu.Label>
                <Menu.Item leftSection={<IconUser size={16} />} component={Link} to="/account">
                  Account and security
                </Menu.Item>
                <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => signOut()}>
                  Sign out
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm">
        {memberships.length > 1 && (
          <AppShell.Section mb="sm">
            <Menu width="target">
              <Menu.Target>
                <UnstyledButton w="100%" p="xs">
                  <Group justify="space-between" wrap="nowrap">
                    <Text size="sm" fw={600} truncate>
                      {current?.name ?? 'Choose'}
                    </Text>
                    <IconChevronDown size={16} />
                  </Group>
                </UnstyledButton>
              </Menu.Target>
              <Menu.Dropdown>
                {memberships.map((membership) => (
                  <Menu.Item key={`${membership.side} ${membership.id}`} component={Link} to={homeOf(membership)}>
                    {membership.name}
                  </Menu.Item>
                ))}
              </Menu.Dropdown>
            </Menu>
          </AppShell.Section>
        )}
        <AppShell.Section grow component={ScrollArea}>
          {current &&
            placesOf[current.side]
              .filter((place) => mayDo(current.role, place.action))
              .map((place) => {
                const to = `${homeOf(current)}${place.path}`
                const isHere = place.path === '' ? path === to : `${path}/`.startsWith(`${to}/`)
                return (
                  <NavLink
                    key={place.path}
                    component={Link}
                    to={to}
                    label={place.label}
                    leftSection={<place.icon size={18} aria-hidden />}
                    active={isHere}
                    aria-current={isHere ? 'page' : undefined}
                    onClick={close}
                  />
                )
              })}
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}

function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const isDark =
    colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={isDark ? 'Light colours' : 'Dark colours'}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      {isDark ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  )
}
