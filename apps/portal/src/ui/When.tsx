import { Text, UnstyledButton } from '@mantine/core'
import { useState, useSyncExternalStore } from 'react'
import { t } from '../language/t.ts'
import { exactInstant, shortInstant } from './format/instant.ts'
import classes from './When.module.css'

const tickMs = 15_000

/**
 * An instant in the viewer's zone: relative while it is recent, and it stays true while one looks. A click, a touch or the Enter key shows it to the
 * second with its zone, and once more the short form. `never`: shown for null.
 */
export function When({ at, never = t('never') }: { at: string | null | undefined; never?: string }) {
  const now = useSyncExternalStore(onTick, () => Math.floor(Date.now() / tickMs))
  const [isExact, setIsExact] = useState(false)
  if (!at)
    return (
      <Text span inherit c="dimmed">
        {never}
      </Text>
    )
  const exact = exactInstant(at)
  return (
    <UnstyledButton
      component="button"
      type="button"
      title={isExact ? undefined : exact}
      className={classes.when}
      onClick={() => setIsExact(!isExact)}
    >
      <time dateTime={at} style={isExact ? undefined : { whiteSpace: 'nowrap' }}>
        {isExact ? exact : shortInstant(at, Math.max(Date.now(), now * tickMs))}
      </time>
    </UnstyledButton>
  )
}

function onTick(listener: () => void): () => void {
  const timer = setInterval(listener, tickMs)
  return () => clearInterval(timer)
}
