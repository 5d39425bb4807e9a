import { Anchor, Container, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { t } from '../language/t.ts'

/** The page of an address that has none. */
export function NotFoundPage() {
  return (
    <Container size="sm" py="xl">
      <Stack gap="xs">
        <Title order={1} size="h3">
          {t('Page not found')}
        </Title>
        <Text>{t('Check the address. What the page showed may also have been deleted.')}</Text>
        <Anchor component={Link} to="/">
          {t('Go to the home page')}
        </Anchor>
      </Stack>
    </Container>
  )
}
