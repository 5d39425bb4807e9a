import { Anchor, Container, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** An address that leads nowhere. */
export function NotFoundPage() {
  return (
    <Container size="sm" py="xl">
      <Stack gap="xs">
        <Title order={1} size="h3">
          There is no such page
        </Title>
        <Text>The address may be mistyped, or what it showed is gone.</Text>
        <Anchor component={Link} to="/">
          To the start
        </Anchor>
      </Stack>
    </Container>
  )
}
