import { locale } from './format/locale.ts'
import '@mantine/charts/styles.css'
import { BarChart, LineChart } from '@mantine/charts'
import { type PlotUnit, roundInstants, roundTicks, valueInWords } from './format/plot-scale.ts'

/** One line or one row of bars: where it has no value, the plot has a gap. */
export type PlotSeries = { name: string; label: string; color: string; values: readonly (number | null)[] }

/**
 * Values over time, with round lines in their unit. Sums are bars. Measures are lines; where no two neighbours have a value there is nothing
 * to join, and they are bars, too. `text`: what the plot shows, for screen readers.
 */
export function TimePlot({
  instants,
  series,
  unit,
  text,
  kind = unit === 'count' ? 'sum' : 'measure',
}: {
  instants: readonly string[]
  series: readonly PlotSeries[]
  unit: PlotUnit
  text: string
  /** A sum over each bucket is bars; a measure is a line, also one that counts what there is at a moment. */
  kind?: 'sum' | 'measure'
}) {
  const labelOf = new Map(instants.map((at) => [at, exactLabel(at)]))
  const tickOf = new Map(roundInstants(instants).map((at) => [labelOf.get(at), shortLabel(at, instants)]))
  const data = instants.map((at, index) => ({
    label: labelOf.get(at),
    ...Object.fromEntries(series.map(({ name, values }) => [name, values[index] ?? null])),
  }))
  const ticks = roundTicks(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))), unit)
  const common = {
    h: 220,
    data,
    dataKey: 'label',
    series: series.map(({ name, label, color }) => ({ name, label, color })),
    valueFormatter: (value: number) => valueInWords(value, unit),
    tickLine: 'none' as const,
    gridAxis: 'x' as const,
    withLegend: series.length > 1,
    legendProps: { verticalAlign: 'bottom' as const },
    role: 'img',
    'aria-label': text,
    yAxisProps: { domain: [0, ticks.at(-1) ?? 1], ticks, width: 72, interval: 0 as const },
    xAxisProps: {
      ticks: [...tickOf.keys()].filter((tick) => tick !== undefined),
      tickFormatter: (label: string) => tickOf.get(label) ?? '',
      interval: 'equidistantPreserveStart' as const,
      minTickGap: 12,
    },
  }
  if (kind === 'sum' || !series.some(({ values }) => hasNeighbours(values))) {
    return <BarChart {...common} maxBarWidth={32} barProps={{ isAnimationActive: false }} />
  }
  return (
    <LineChart
      {...common}
      curveType="linear"
      connectNulls={false}
      withDots={instants.length <= 60 || series.some(({ values }) => values.some(isAlone))}
      dotProps={{ r: 2 }}
      lineProps={{ isAnimationActive: false }}
    />
  )
}

function hasNeighbours(values: readonly (number | null)[]): boolean {
  return values.some((value, index) => index > 0 && value !== null && values[index - 1] != null)
}

/** A line has no length there: only a dot shows it. */
function isAlone(value: number | null, index: number, values: readonly (number | null)[]): boolean {
  return value !== null && values[index - 1] == null && values[index + 1] == null
}

function exactLabel(at: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at))
}

/** The day where a plot has several, else the time of day. */
function shortLabel(at: string, instants: readonly string[]): string {
  const span = Date.parse(instants.at(-1) ?? at) - Date.parse(instants[0] ?? at)
  return new Intl.DateTimeFormat(
    locale,
    span > 2 * 86_400_000 ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' },
  ).format(new Date(at))
}
