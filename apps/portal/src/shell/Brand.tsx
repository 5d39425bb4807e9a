import { Badge, Group, Text } from '@mantine/core'
import { t } from '../language/t.ts'
import { isSandbox } from './environment.ts'

/** The mark and the name. With `isShortOnPhone` a phone shows the mark alone. */
export function Brand({ isShortOnPhone = false }: { isShortOnPhone?: boolean }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <img src="/favicon.svg" width={28} height={28} alt="" />
      <Text fw={700} size="lg" {...(isShortOnPhone && { visibleFrom: 'xs' })}>
        Bridgework
      </Text>
    </Group>
  )
}

/** Says on every page of a sandbox that it is one. Renders nothing in production. */
export function SandboxBadge() {
  if (!isSandbox) return null
  return (
    <Badge variant="default" tt="none" flex="none">
      {t('Sandbox')}
    </Badge>
  )
}
