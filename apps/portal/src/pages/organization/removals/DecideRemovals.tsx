import type { RemovalEntry } from '@bridgework/contract/portal'
import { Button, Checkbox, Group, List, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { formatCount } from '../../../ui/format/locale.ts'

/** Decides about several held removals, one after the other: a list that has changed since ends it, and the others stay as they are. */
export function DecideRemovals({
  chosen,
  total,
  organizationId,
  onMarkAll,
}: {
  chosen: readonly RemovalEntry[]
  total: number
  organizationId: string
  onMarkAll: (isMarked: boolean) => void
}) {
  const confirm = useAct('confirmRemoval')
  const reject = useAct('rejectRemoval')
  const [asked, setAsked] = useState<'confirm' | 'reject' | null>(null)
  const count = chosen.reduce((sum, { remaining }) => sum + remaining, 0)
  const records = formatCount(count)
  const removals = chosen.length === 1 ? '1 removal' : `${chosen.length} removals`
  const decide = async (act: (input: Parameters<typeof confirm.mutateAsync>[0]) => Promise<unknown>, done: string) => {
    for (const { location_id, dataset, list_hash } of chosen) {
      const params = { organization_id: organizationId, location_id, dataset }
      await act({ params, body: { list_hash } })
    }
    onMarkAll(false)
    notifications.show({ message: done })
  }
  const names = (
    <List size="sm" my="xs">
      {chosen.map(({ location_id, location_name, dataset, title, remaining }) => (
        <List.Item key={`${location_id} ${dataset}`}>
          {title} of {location_name}: {formatCount(remaining)} records
        </List.Item>
      ))}
    </List>
  )
  return (
    <Group justify="space-between">
      <Checkbox
        label={`Select all ${total}`}
        checked={chosen.length === total}
        indeterminate={chosen.length > 0 && chosen.length < total}
        onChange={(event) => onMarkAll(event.currentTarget.checked)}
      />
      <Group gap="sm">
        <Text size="sm" c="dimmed">
          {chosen.length === 0 ? 'Select removals to decide about several at once.' : `${removals} selected`}
        </Text>
        <Button variant="default" disabled={chosen.length === 0} onClick={() => setAsked('reject')}>
          Keep records…
        </Button>
        <Button color="red.9" disabled={chosen.length === 0} onClick={() => setAsked('confirm')}>
          Hide records…
        </Button>
      </Group>
      <ConfirmDialog
        opened={asked === 'confirm'}
        onClose={() => setAsked(null)}
        title={`Hide ${records} records?`}
        typed={String(count)}
        confirm="Hide records"
        onConfirm={() => decide(confirm.mutateAsync, `${removals} confirmed: ${records} records.`)}
      >
        At their next read, vendors see these records as removed. A record that returns to your system is shown again.
        {names}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'reject'}
        onClose={() => setAsked(null)}
        title={`Keep ${records} records?`}
        confirm="Keep records"
        color="indigo"
        onConfirm={() => decide(reject.mutateAsync, `${records} records stay visible.`)}
      >
        Nothing is hidden, and you are not asked about these records again while they are missing.
        {names}
      </ConfirmDialog>
    </Group>
  )
}
