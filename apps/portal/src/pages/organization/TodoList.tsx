import { Box, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/**
 * Something that a person should do: what, why, a link or button, and where it is about several things, links to them. `isForIt`: the person who looks
 * after the office's computers does it.
 */
export type Todo = {
  /** Tells it from others with the same title. */
  id?: string
  icon: Icon
  title: string
  text: string
  action: ReactNode
  about?: readonly ReactNode[]
  isForIt?: boolean | undefined
}

/** What a person should do, the most urgent first; `whenEmpty` where there is nothing. */
export function TodoList({ todos, whenEmpty }: { todos: readonly Todo[]; whenEmpty: ReactNode }) {
  if (todos.length === 0) return whenEmpty
  return (
    <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
      {todos.map(({ icon: Shape, title, text, action, about, id = title }) => (
        <Group component="li" key={id} gap="md" align="flex-start">
          <ThemeIcon variant="default" size={36} radius="xl" aria-hidden>
            <Shape size={18} />
          </ThemeIcon>
          <Box flex="1 1 14rem" miw={0}>
            <Text fw={600} size="sm">
              {title}
            </Text>
            <Text size="sm" c="dimmed">
              {text}
            </Text>
            {about && (
              <Group component="ul" gap="md" p={0} m={0} mt={4} style={{ listStyle: 'none' }}>
                {about}
              </Group>
            )}
          </Box>
          {action}
        </Group>
      ))}
    </Stack>
  )
}
