import { Box, Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { usePageTitle } from './state/page-title.ts'

/** The head of a page: what it is, in one line what it is for, and what one most often does here. Names the document and takes the focus. */
export function PageHeader({
  title,
  description,
  actions,
  documentTitle = title,
}: {
  title: string
  description?: ReactNode
  actions?: ReactNode
  documentTitle?: string
}) {
  const heading = usePageTitle(documentTitle)
  return (
    <Group justify="space-between" align="flex-start" gap="md" mb="lg">
      <Box flex="1 1 18rem" miw={0}>
        <Title order={1} size="h2" ref={heading} tabIndex={-1} style={{ overflowWrap: 'anywhere', outline: 'none' }}>
          <bdi>{title}</bdi>
        </Title>
        {description && (
          <Text c="dimmed" mt={4} maw={720}>
            {description}
          </Text>
        )}
      </Box>
      {actions && <Group gap="sm">{actions}</Group>}
    </Group>
  )
}
