import { Box, Container, Group, Paper, Stack } from '@mantine/core'
import { Outlet } from '@tanstack/react-router'
import { LanguageSwitch } from '../language/LanguageSwitch.tsx'
import { Brand, SandboxBadge } from './Brand.tsx'

/** The frame of the pages before a sign-in: one card, the brand above it. */
export function SignedOutShell() {
  return (
    <Box mih="100vh" bg="light-dark(var(--mantine-color-gray-0), var(--mantine-color-dark-8))">
      <Container size={460} py="xl" component="main">
        <Stack gap="lg">
          <Group justify="center" gap="sm">
            <Brand />
            <SandboxBadge />
          </Group>
          <Paper withBorder p="xl" radius="lg">
            <Outlet />
          </Paper>
          <LanguageSwitch />
        </Stack>
      </Container>
    </Box>
  )
}
