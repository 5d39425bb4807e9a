import { Anchor, Container, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** The page of an address that has none. */
export function NotFoundPage() {
  return (
    <Container size="sm" py="xl">
      <Stack gap="xs">
        <Title order={1} size="h3">
          Page not found
        </Title>
        <Text>Check the address. What the page showed may also have been deleted.</Text>
        <Anchor component={Link} to="/">
          Go to the home page
        </Anchor>
      </Stack>
    </Container>
  )
}
