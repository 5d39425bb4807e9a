import type { Membership } from '@bridgework/contract/portal'
import { Alert, Button, Group, Text } from '@mantine/core'
import { IconEye } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useAct } from '../api/query.ts'
import { t } from '../language/t.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { exactInstant } from '../ui/format/instant.ts'

/** Says to an operator that these are the pages of others, until when, and ends it. */
export function SupportBanner({ membership: { id, side, name, support_until } }: { membership: Membership }) {
  const end = useAct('endSupportView')
  const navigate = useNavigate()
  if (support_until === null) return null
  const leave = async () => {
    // Away from the pages first: they could not be read again.
    await navigate({ to: `/operator/${side === 'company' ? 'companies' : 'organizations'}/${id}` as string })
    await end.mutateAsync({}).catch(() => {})
  }
  return (
    <Alert color="orange" icon={<IconEye aria-hidden />} mb="md">
      <Group justify="space-between">
        <Text size="sm" c="bright">
          {t('You look at {name} as support, read-only, until {support_until}.', {
            name,
            support_until: exactInstant(support_until),
          })}
        </Text>
        <Button size="xs" variant="default" onClick={leave} loading={end.isPending}>
          {t('End')}
        </Button>
      </Group>
      <ErrorNote error={end.error} />
    </Alert>
  )
}
