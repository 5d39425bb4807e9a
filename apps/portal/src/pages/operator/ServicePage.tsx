import type { ServicePlot } from '@bridgework/contract/portal'
import { SimpleGrid } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { type PlotUnit, valueInWords } from '../../ui/format/plot-scale.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { TimePlot } from '../../ui/TimePlot.tsx'
import { RangeControl } from './RangeControl.tsx'

const route = getRouteApi('/signed-in/operator/service')

type Figure = Exclude<keyof ServicePlot['buckets'][number], 'at'>
type Line = readonly [name: Figure, label: string, color: string]

const plots: readonly { title: string; unit: PlotUnit; lines: readonly Line[] }[] = [
  { title: 'Event loop lag', unit: 'ms', lines: [['event_loop_lag_ms', 'Highest lag', 'orange.6']] },
  {
    title: 'Database connections',
    unit: 'count',
    lines: [
      ['connections_busy', 'Busy', 'indigo.6'],
      ['connections_waited_for', 'Waited for', 'orange.6'],
      ['connections_max', 'Pool size', 'gray.6'],
    ],
  },
  { title: 'Sync slots in use', unit: 'count', lines: [['slots_in_use', 'Slots', 'indigo.6']] },
  {
    title: 'Backlog',
    unit: 'count',
    lines: [
      ['rerender_waiting', 'Records to render again', 'indigo.6'],
      ['mails_waiting', 'Mails', 'orange.6'],
    ],
  },
  {
    title: 'Disk',
    unit: 'bytes',
    lines: [
      ['disk_free_bytes', 'Free', 'teal.6'],
      ['database_bytes', 'Database', 'indigo.6'],
    ],
  },
  { title: 'Memory', unit: 'bytes', lines: [['memory_bytes', 'Memory', 'indigo.6']] },
]

/** How the processes of the service do: each minute the sum of all processes, and the highest lag. */
export function ServicePage() {
  const { range = '1h' } = route.useSearch()
  const { data } = useSuspenseQuery(read('getServicePlot', { query: { range } }, { everyMs: 30_000 }))
  const { buckets } = data
  const running = Math.max(0, ...buckets.slice(-3).map(({ processes }) => processes))
  return (
    <>
      <PageHeader
        title="Service"
        description={`${running === 1 ? '1 process is' : `${running} processes are`} running. Each writes its measures every minute; they are kept for 14 days. This page updates automatically.`}
        actions={<RangeControl ranges={['1h', '24h', '7d']} />}
      />
      {buckets.every(({ processes }) => processes === 0) ? (
        <EmptyState icon={IconChartBar} title="No measures in this period">
          A running service writes its first measures after a minute.
        </EmptyState>
      ) : (
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          {plots.map(({ title, unit, lines }) => (
            <Section key={title} title={title}>
              <TimePlot
                kind="measure"
                instants={buckets.map(({ at }) => at)}
                unit={unit}
                series={lines.map(([name, label, color]) => ({
                  name,
                  label,
                  color,
                  values: buckets.map((bucket) => bucket[name]),
                }))}
                text={`${title}: ${lines.map((line) => textOf(line, buckets, unit)).join('; ')}`}
              />
            </Section>
          ))}
        </SimpleGrid>
      )}
    </>
  )
}

/** "Busy, last 2, at most 5": what a screen reader says of a line. */
function textOf([name, label]: Line, buckets: ServicePlot['buckets'], unit: PlotUnit): string {
  const values = buckets.flatMap((bucket) => bucket[name] ?? [])
  return `${label}, last ${valueInWords(values.at(-1) ?? 0, unit)}, at most ${valueInWords(Math.max(0, ...values), unit)}`
}
