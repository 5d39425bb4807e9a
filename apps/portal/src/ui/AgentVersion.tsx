import { isEarlierRelease, releaseVersion } from '@bridgework/contract/release'
import { Badge, Group } from '@mantine/core'
import { IconArrowUp } from '@tabler/icons-react'
import { t } from '../language/t.ts'

/** The version that an agent said at its last contact, marked where it is of an earlier release than the service. */
export function AgentVersion({ version }: { version: string | null }) {
  if (version === null) return 'unknown'
  if (!isEarlierRelease(version)) return version
  return (
    <Group gap="xs">
      {version}
      <Badge variant="light" color="orange" leftSection={<IconArrowUp size={12} aria-hidden />}>
        {t('Update to {version}', { version: releaseVersion })}
      </Badge>
    </Group>
  )
}
