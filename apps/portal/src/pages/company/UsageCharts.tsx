import '@mantine/charts/styles.css'
import type { Usage } from '@bridgework/contract/portal'
import { AreaChart, BarChart } from '@mantine/charts'
import { SimpleGrid } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { formatCount, locale } from '../../ui/locale.ts'
import { Section } from '../../ui/Section.tsx'
import { summaryOf } from './usage-summary.ts'

/** Requests, records and refusals over the range. Each chart has a text for screen readers. */
export function UsageCharts({ usage }: { usage: Usage }) {
  const { range, buckets, totals } = usage
  const format = new Intl.DateTimeFormat(
    locale,
    range === '24h'
      ? { hour: '2-digit', minute: '2-digit' }
      : { day: 'numeric', month: 'short', hour: range === '7d' ? '2-digit' : undefined },
  )
  const data = buckets.map((bucket) => ({ ...bucket, label: format.format(new Date(bucket.at)) }))
  if (totals.requests === 0) {
    return (
      <Section title="Over time">
        <EmptyState icon={IconChartBar} title="No requests in this period">
          A request appears here within a minute.
        </EmptyState>
      </Section>
    )
  }
  const common = {
    h: 220,
    data,
    dataKey: 'label',
    valueFormatter: formatCount,
    tickLine: 'none' as const,
    gridAxis: 'x' as const,
    role: 'img',
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Section title="Requests">
        <BarChart
          {...common}
          series={[{ name: 'requests', label: 'Requests', color: 'indigo.6' }]}
          aria-label={summaryOf(usage, 'requests')}
        />
      </Section>
      <Section title="Records">
        <AreaChart
          {...common}
          curveType="monotone"
          withDots={false}
          series={[{ name: 'records', label: 'Records', color: 'teal.6' }]}
          aria-label={summaryOf(usage, 'records')}
        />
      </Section>
      <Section title="Rate limited (429)">
        <BarChart
          {...common}
          series={[{ name: 'throttled', label: 'Rate limited', color: 'orange.6' }]}
          aria-label={summaryOf(usage, 'throttled')}
        />
      </Section>
      <Section title="Other errors">
        <BarChart
          {...common}
          series={[{ name: 'errors', label: 'Errors', color: 'red.6' }]}
          aria-label={summaryOf(usage, 'errors')}
        />
      </Section>
    </SimpleGrid>
  )
}
