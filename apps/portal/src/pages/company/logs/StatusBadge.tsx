import { Badge, useComputedColorScheme } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconClock } from '@tabler/icons-react'

/** A status of HTTP by colour and symbol: success, rate limit, an error of the request, an error of the service. */
export function StatusBadge({ status }: { status: number }) {
  const scheme = useComputedColorScheme('light')
  const { icon: Shape, color } = lookOf(status)
  const ink = `var(--mantine-color-${color}-${scheme === 'dark' ? 4 : 9})`
  return (
    <Badge
      variant="default"
      radius="sm"
      size="md"
      style={{ flexShrink: 0, color: ink, borderColor: ink, fontVariantNumeric: 'tabular-nums' }}
      leftSection={<Shape size={13} aria-hidden />}
    >
      {status}
    </Badge>
  )
}

function lookOf(status: number) {
  if (status === 429) return { icon: IconClock, color: 'orange' }
  if (status >= 500) return { icon: IconCircleX, color: 'grape' }
  return status >= 400 ? { icon: IconAlertTriangle, color: 'red' } : { icon: IconCircleCheck, color: 'teal' }
}
