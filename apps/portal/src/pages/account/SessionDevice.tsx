import { Badge, Group, Text } from '@mantine/core'
import { deviceOf } from './device.ts'

/** The device of a session, in words, and whether it is the reader's own. */
export function SessionDevice({ user_agent, is_current }: { user_agent: string | null; is_current: boolean }) {
  return (
    <Group gap="xs">
      <Text size="sm" title={user_agent ?? undefined}>
        {deviceOf(user_agent)}
      </Text>
      {is_current && (
        <Badge variant="default" size="sm" tt="none">
          this session
        </Badge>
      )}
    </Group>
  )
}
