import { Alert, Button, Group, Text } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { PortalError } from '../api/call.ts'
import { t } from '../language/t.ts'
import { When } from '../ui/When.tsx'
import { isOutdated } from './outdated.ts'

/** What is shown becomes old without an event. */
const tickMs = 5_000

/** Says that what this page shows is not updated any more: why, how old it is, and a way to try at once. The data stays. */
export function LiveData() {
  const queries = useQueryClient()
  const cache = queries.getQueryCache()
  const shown = () => cache.getAll().filter((query) => query.isActive() && isOutdated(query.state, Date.now()))
  const oldestAt = useSyncExternalStore(
    (listener) => {
      const timer = setInterval(listener, tickMs)
      const unsubscribe = cache.subscribe(listener)
      return () => {
        clearInterval(timer)
        unsubscribe()
      }
    },
    () => Math.min(...shown().map(({ state }) => state.dataUpdatedAt)),
  )
  if (!Number.isFinite(oldestAt)) return null
  return (
    <Alert color="orange" icon={<IconPlugConnectedX aria-hidden />} mb="md" role="status">
      <Group justify="space-between">
        <Text size="sm" c="bright">
          {reasonOf(shown())}{' '}
          {t('The data on this page is from {when}. It is updated when the connection works again.', {
            when: <When at={new Date(oldestAt).toISOString()} />,
          })}
        </Text>
        <Button size="xs" variant="default" onClick={() => queries.refetchQueries({ type: 'active' })}>
          {t('Try now')}
        </Button>
      </Group>
    </Alert>
  )
}

function reasonOf(stopped: readonly Query[]): string {
  if (!navigator.onLine) return t('You are offline.')
  const answered = stopped
    .map(({ state }) => state.error ?? state.fetchFailureReason)
    .find((error) => error instanceof PortalError && error.status > 0)
  return answered?.message ?? t('Bridgework cannot be reached.')
}
