import { Box, Card, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

/** A part of a page in a card, with its own heading. */
export function Section({
  title,
  description,
  actions,
  children,
}: {
  title: string
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const id = useId()
  return (
    <Card withBorder component="section" aria-labelledby={id} padding="lg">
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Box flex="1 1 16rem" miw={0}>
            <Title order={2} size="h4" id={id}>
              {title}
            </Title>
            {description && (
              <Text size="sm" c="dimmed" mt={2}>
                {description}
              </Text>
            )}
          </Box>
          {actions && <Group gap="sm">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Card>
  )
}
