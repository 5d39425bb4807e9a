import { Group, Text } from '@mantine/core'

/** The mark and the name. */
export function Brand() {
  return (
    <Group gap="xs" wrap="nowrap">
      <img src="/favicon.svg" width={28} height={28} alt="" />
      <Text fw={700} size="lg">
        Bridgework
      </Text>
    </Group>
  )
}
