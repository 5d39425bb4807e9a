import { Box, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { usePageTitle } from '../../ui/state/page-title.ts'

/** A page before the sign-in: its heading, a line of text, and what there is to do. */
export function SignedOutPage({
  title,
  description,
  children,
}: {
  title: string
  description?: ReactNode
  children?: ReactNode
}) {
  const heading = usePageTitle(title)
  return (
    <Stack>
      <Box>
        <Title order={1} size="h2" ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
          {title}
        </Title>
        {description && (
          <Text c="dimmed" size="sm" mt={4} component="div">
            {description}
          </Text>
        )}
      </Box>
      {children}
    </Stack>
  )
}
