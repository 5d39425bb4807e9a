import { t } from '../../language/t.ts'
import { bytesInWords } from './bytes.ts'
import { locale } from './locale.ts'

/** What a plot's values are. */
export type PlotUnit = 'count' | 'ms' | 'seconds' | 'percent' | 'bytes'

/** Steps of a scale that read as round numbers in the unit; beyond the last one it goes on in powers of ten. */
const stepsOf: Record<PlotUnit, readonly number[]> = {
  count: [1, 2, 5],
  ms: [1, 2, 5],
  percent: [0.1, 0.2, 0.5, 1, 2, 5, 10, 25],
  seconds: [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 432_000],
  bytes: Array.from({ length: 5 }, (_, power) =>
    [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * 1024 ** power),
  ).flat(),
}

const intervalsMax = 5

/** The values at which a scale from 0 that shows `max` has its lines: at most six, round, the last one not below `max`. */
export function roundTicks(max: number, unit: PlotUnit): number[] {
  const step = stepFor(Math.max(max, 0) / intervalsMax, unit)
  const count = Math.max(1, Math.ceil(max / step - 1e-9))
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step)
  return unit === 'percent' ? ticks.filter((tick) => tick <= 100).map((tick) => Math.round(tick * 10) / 10) : ticks
}

function stepFor(least: number, unit: PlotUnit): number {
  const steps = stepsOf[unit]
  for (let factor = 1; factor < 1e15; factor *= 10) {
    const step = steps.find((each) => each * factor >= least)
    if (step !== undefined) return step * factor
  }
  return least
}

/** A value of a plot with its unit: "1,200", "1.5 s", "2 h", "12.5%", "3 GiB". */
export function valueInWords(value: number, unit: PlotUnit): string {
  const number = (of: number, digits = 1) => of.toLocaleString(locale, { maximumFractionDigits: digits })
  if (unit === 'count') return number(value, 0)
  if (unit === 'percent') return `${number(value)}%`
  if (unit === 'bytes') return bytesInWords(value)
  if (unit === 'ms') return value < 1000 ? `${number(value, value < 10 ? 1 : 0)} ms` : `${number(value / 1000)} s`
  if (value < 60) return `${number(value, 0)} s`
  if (value < 3_600) return `${number(value / 60)} min`
  return value < 172_800 ? `${number(value / 3_600)} h` : t('{count} days', { count: number(value / 86_400) })
}

const hour = 3_600_000
const timeSteps = [
  5 * 60_000,
  15 * 60_000,
  hour,
  2 * hour,
  4 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
  48 * hour,
  120 * hour,
]

/**
 * Of the instants of a plot's buckets the first one in each round part of the viewer's day, at most nine: buckets begin at round instants of
 * UTC, which are none in every zone.
 */
export function roundInstants(instants: readonly string[], offsetMs = zoneOffsetMs): string[] {
  const [first, last] = [instants[0], instants.at(-1)]
  if (first === undefined || last === undefined) return []
  const span = Date.parse(last) - Date.parse(first)
  const step = timeSteps.find((each) => span / each <= 8) ?? 240 * hour
  const partOf = (instant: string) => (Date.parse(instant) + offsetMs(new Date(instant))) / step
  return instants.filter((instant, index) => {
    const before = instants[index - 1]
    return before === undefined
      ? Number.isInteger(partOf(instant))
      : Math.floor(partOf(instant)) > Math.floor(partOf(before))
  })
}

function zoneOffsetMs(at: Date): number {
  return -at.getTimezoneOffset() * 60_000
}
