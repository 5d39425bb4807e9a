import type { ActivityPlot } from '@bridgework/contract/portal'
import { SimpleGrid } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { type PlotUnit, valueInWords } from '../../ui/format/plot-scale.ts'
import { Section } from '../../ui/Section.tsx'
import { TimePlot } from '../../ui/TimePlot.tsx'

type Figure = Exclude<keyof ActivityPlot['buckets'][number], 'at'>
type Line = { name: Figure; label: string; color: string }

const plots: { title: string; unit: PlotUnit; description: string; lines: Line[] }[] = [
  {
    title: 'Ingest',
    unit: 'count',
    description: 'Records that agents added, changed or removed.',
    lines: [{ name: 'records_changed', label: 'Records', color: 'teal.6' }],
  },
  {
    title: 'Reads',
    unit: 'count',
    description: 'Requests of vendors.',
    lines: [{ name: 'reads', label: 'Reads', color: 'indigo.6' }],
  },
  {
    title: 'Lag',
    unit: 'seconds',
    description: 'Age of the copy of the dataset that is furthest behind. It grows while an office is closed.',
    lines: [{ name: 'lag_seconds', label: 'Lag', color: 'orange.6' }],
  },
  {
    title: 'Errors',
    unit: 'count',
    description: 'Requests that were answered with 400 or more.',
    lines: [
      { name: 'read_errors', label: 'Of vendors', color: 'red.6' },
      { name: 'upload_errors', label: 'Of agents', color: 'orange.6' },
    ],
  },
]

/** Ingest, reads, lag and errors of one or several locations over the range. Each plot has a text for screen readers. */
export function ActivityPlots({ activity: { buckets } }: { activity: ActivityPlot }) {
  if (!buckets.some((each) => each.lag_seconds !== null || each.reads + each.uploads + each.records_changed > 0)) {
    return (
      <Section title="Over time">
        <EmptyState icon={IconChartBar} title="Nothing happened in this period">
          Uploads and reads appear here within a minute.
        </EmptyState>
      </Section>
    )
  }
  const instants = buckets.map(({ at }) => at)
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      {plots.map(({ title, unit, description, lines }) => (
        <Section key={title} title={title} description={description}>
          <TimePlot
            instants={instants}
            unit={unit}
            series={lines.map((line) => ({ ...line, values: buckets.map((bucket) => bucket[line.name]) }))}
            text={`${title}: ${lines.map((line) => highestOf(line, buckets, unit)).join('; ')}`}
          />
        </Section>
      ))}
    </SimpleGrid>
  )
}

/** "Reads, at most 12 in an hour": what a screen reader says of a line. */
function highestOf({ name, label }: Line, buckets: ActivityPlot['buckets'], unit: PlotUnit): string {
  return `${label}, at most ${valueInWords(Math.max(0, ...buckets.map((bucket) => bucket[name] ?? 0)), unit)} at one time`
}
