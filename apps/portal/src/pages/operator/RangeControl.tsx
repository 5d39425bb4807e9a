import { SegmentedControl } from '@mantine/core'
import { useUrlState } from '../../ui/state/url-state.ts'

const labels = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' }
type Range = keyof typeof labels

/** Chooses the range of a page's plots; kept in the address. The first one needs none. */
export function RangeControl({ ranges }: { ranges: readonly [Range, ...Range[]] }) {
  const [{ range = ranges[0] }, change] = useUrlState<{ range?: Range }>()
  return (
    <SegmentedControl
      aria-label="Range"
      value={range}
      onChange={(value) => change({ range: value === ranges[0] ? undefined : value })}
      data={ranges.map((value) => ({ value, label: labels[value] }))}
    />
  )
}
