import type { Member } from '@bridgework/contract/portal'
import { Badge, Group, Text } from '@mantine/core'
import { IconShieldLock } from '@tabler/icons-react'

/** Who a member is. */
export function MemberName({ member }: { member: Member }) {
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={500}>
          {member.name}
        </Text>
        {member.is_you && (
          <Badge variant="default" size="sm" tt="none">
            you
          </Badge>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {member.email}
      </Text>
    </>
  )
}

/** Whether a member has a second factor; nothing for one who has not joined yet. */
export function SecondFactor({ member }: { member: Member }) {
  if (member.state !== 'active') return <>–</>
  if (!member.has_second_factor) return <>None</>
  return (
    <Group gap={4} wrap="nowrap">
      <IconShieldLock size={16} aria-hidden />
      Yes
    </Group>
  )
}
