import type { UsageRange } from '@bridgework/contract/portal'
import { SegmentedControl, SimpleGrid, Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../../api/query.ts'
import { formatCount } from '../../../ui/format/locale.ts'
import { type PlotUnit, valueInWords } from '../../../ui/format/plot-scale.ts'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { StatCard } from '../../../ui/StatCard.tsx'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { useCompanyParams } from '../company.ts'
import { UsageCharts } from './UsageCharts.tsx'
import type { UsageSearch } from './usage-search.ts'
import { errorRateOf } from './usage-summary.ts'

const ranges: { value: UsageRange; label: string }[] = [
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
]

/** How many requests the company sends and how many records it receives. */
export function UsagePage() {
  const params = useCompanyParams()
  const [{ range = '24h' }, change] = useUrlState<UsageSearch>()
  const usage = useSuspenseQuery(read('getUsage', { params, query: { range } }, { everyMs: 60_000 })).data
  const { totals } = usage
  return (
    <>
      <PageHeader
        title="Usage"
        description="Requests that your software sent and records that it received. This page contains no patient data. It updates automatically."
        actions={
          <SegmentedControl
            aria-label="Range"
            value={range}
            onChange={(value) => change({ range: value === '24h' ? undefined : value })}
            data={ranges}
          />
        }
      />
      <Stack>
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
          <StatCard label="Requests" value={formatCount(totals.requests)} />
          <StatCard label="Records" value={formatCount(totals.records)} />
          <StatCard label="Rate limited (429)" value={formatCount(totals.throttled)} />
          <StatCard label="Other errors" value={formatCount(totals.errors)} />
          <StatCard label="Error rate" value={inWords(errorRateOf(totals), 'percent')} />
          <StatCard
            label="Response time (p95)"
            value={inWords(totals.p95_ms, 'ms')}
            hint={`p50 ${inWords(totals.p50_ms, 'ms')}, p99 ${inWords(totals.p99_ms, 'ms')}`}
          />
        </SimpleGrid>
        <UsageCharts usage={usage} />
      </Stack>
    </>
  )
}

function inWords(value: number | null, unit: PlotUnit): string {
  return value === null ? '–' : valueInWords(value, unit)
}
