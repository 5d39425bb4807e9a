import type { DisclosureDay } from '@bridgework/contract/portal'

/** One bar of the chart: a day with the records that were read of each dataset. */
export type DayBar = { day: string } & Record<string, number | string>

const dayMs = 86_400_000

/** A bar for each day from the first to the last, also where nothing was read, and the datasets that were read at all. */
export function barsOf(days: readonly DisclosureDay[]): { bars: DayBar[]; datasets: string[] } {
  const [first, last] = [days[0]?.day, days.at(-1)?.day]
  if (first === undefined || last === undefined) return { bars: [], datasets: [] }
  const byDay = new Map<string, DayBar>()
  // Days have no zone: counted in UTC, each is as long as the others.
  for (let at = Date.parse(first); at <= Date.parse(last); at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10)
    byDay.set(day, { day })
  }
  for (const { day, dataset, records } of days) {
    const bar = byDay.get(day)
    if (bar) bar[dataset] = Number(bar[dataset] ?? 0) + records
  }
  return { bars: [...byDay.values()], datasets: [...new Set(days.map(({ dataset }) => dataset))] }
}
