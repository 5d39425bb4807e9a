import { Alert, Button, Group, Text } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { PortalError } from '../api/call.ts'
import { When } from '../ui/When.tsx'

/** Says that what this page shows is not updated any more: why, how old it is, and a way to try at once. The data stays. */
export function LiveData() {
  const queries = useQueryClient()
  const cache = queries.getQueryCache()
  const shown = () => cache.getAll().filter((query) => query.isActive() && isStopped(query))
  const oldestAt = useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () => Math.min(...shown().map(({ state }) => state.dataUpdatedAt)),
  )
  if (!Number.isFinite(oldestAt)) return null
  return (
    <Alert color="orange" icon={<IconPlugConnectedX aria-hidden />} mb="md" role="status">
      <Group justify="space-between">
        <Text size="sm" c="bright">
          {reasonOf(shown())} The data on this page is from <When at={new Date(oldestAt).toISOString()} />. It is
          updated when the connection works again.
        </Text>
        <Button size="xs" variant="default" onClick={() => queries.refetchQueries({ type: 'active' })}>
          Try now
        </Button>
      </Group>
    </Alert>
  )
}

/** There is data, and the last try to read it again failed or waits for a network. */
function isStopped({ state }: Query): boolean {
  return (
    state.data !== undefined && (state.fetchFailureCount > 0 || state.error !== null || state.fetchStatus === 'paused')
  )
}

function reasonOf(stopped: readonly Query[]): string {
  if (!navigator.onLine) return 'You are offline.'
  const answered = stopped
    .map(({ state }) => state.error ?? state.fetchFailureReason)
    .find((error) => error instanceof PortalError && error.status > 0)
  return answered?.message ?? 'Bridgework cannot be reached.'
}
