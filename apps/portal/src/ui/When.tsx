import { Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { exactInstant, shortInstant } from './instant.ts'

const tickMs = 15_000

/** An instant in the viewer's zone: relative while it is recent (and it stays true while one looks), exact on hover. `never`: said for null. */
export function When({ at, never = 'never' }: { at: string | null | undefined; never?: string }) {
  const now = useSyncExternalStore(onTick, () => Math.floor(Date.now() / tickMs))
  if (!at)
    return (
      <Text span inherit c="dimmed">
        {never}
      </Text>
    )
  return (
    <time dateTime={at} title={exactInstant(at)} style={{ whiteSpace: 'nowrap' }}>
      {shortInstant(at, Math.max(Date.now(), now * tickMs))}
    </time>
  )
}

function onTick(listener: () => void): () => void {
  const timer = setInterval(listener, tickMs)
  return () => clearInterval(timer)
}
