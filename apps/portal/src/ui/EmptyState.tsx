import { Stack, Text, ThemeIcon } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** Shown in place of an empty list: what is missing and what to do. */
export function EmptyState({
  icon: Shape,
  title,
  children,
  action,
}: {
  icon: Icon
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <ThemeIcon variant="default" size={48} radius="xl" aria-hidden>
        <Shape size={24} />
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" c="dimmed" maw={460} component="div">
          {children}
        </Text>
      )}
      {action}
    </Stack>
  )
}
