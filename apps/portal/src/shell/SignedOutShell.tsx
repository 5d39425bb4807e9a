import { Center, Container, Paper, Stack } from '@mantine/core'
import { Outlet } from '@tanstack/react-router'
import { Brand } from './Brand.tsx'

/** The frame of the pages before a sign-in: one card, the brand above it. */
export function SignedOutShell() {
  return (
    <Container size={460} py="xl" component="main">
      <Stack gap="lg">
        <Center>
          <Brand />
        </Center>
        <Paper withBorder p="xl" radius="lg">
          <Outlet />
        </Paper>
      </Stack>
    </Container>
  )
}
