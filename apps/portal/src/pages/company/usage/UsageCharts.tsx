import type { Usage } from '@bridgework/contract/portal'
import { SimpleGrid } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Section } from '../../../ui/Section.tsx'
import { TimePlot } from '../../../ui/TimePlot.tsx'
import { durationSummary, errorRateOf, errorRateSummary, summaryOf } from './usage-summary.ts'

const counts = {
  requests: { label: 'Requests', color: 'indigo.6' },
  records: { label: 'Records', color: 'teal.6' },
  throttled: { label: 'Rate limited (429)', color: 'orange.6' },
  errors: { label: 'Other errors', color: 'red.6' },
} as const

const percentiles = [
  { name: 'p50_ms', label: 'Half within (p50)', color: 'teal.6' },
  { name: 'p95_ms', label: '95% within (p95)', color: 'indigo.6' },
  { name: 'p99_ms', label: '99% within (p99)', color: 'orange.6' },
] as const

/** Requests, response times, records and refusals over the range. Each plot has a text for screen readers. */
export function UsageCharts({ usage }: { usage: Usage }) {
  const { buckets, totals } = usage
  if (totals.requests === 0) {
    return (
      <Section title="Over time">
        <EmptyState icon={IconChartBar} title="No requests in this period">
          A request appears here within a minute.
        </EmptyState>
      </Section>
    )
  }
  const instants = buckets.map(({ at }) => at)
  const plotOf = (figure: keyof typeof counts) => (
    <Section title={counts[figure].label}>
      <TimePlot
        instants={instants}
        unit="count"
        series={[{ name: figure, ...counts[figure], values: buckets.map((bucket) => bucket[figure]) }]}
        text={summaryOf(usage, figure)}
      />
    </Section>
  )
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      {plotOf('requests')}
      <Section title="Response time">
        <TimePlot
          instants={instants}
          unit="ms"
          series={percentiles.map((each) => ({ ...each, values: buckets.map((bucket) => bucket[each.name]) }))}
          text={durationSummary(usage)}
        />
      </Section>
      <Section title="Error rate">
        <TimePlot
          instants={instants}
          unit="percent"
          series={[{ name: 'rate', label: 'Error rate', color: 'red.6', values: buckets.map(errorRateOf) }]}
          text={errorRateSummary(usage)}
        />
      </Section>
      {plotOf('errors')}
      {plotOf('throttled')}
      {plotOf('records')}
    </SimpleGrid>
  )
}
