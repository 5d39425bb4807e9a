import type { DisclosureSummary } from '@bridgework/contract/portal'

/** One bar of the chart: a day with the records that each vendor read, by its series' name. */
export type DayBar = { day: string } & Record<string, number | string>

const dayMs = 86_400_000
/** So many vendors have a colour of their own; what the others read is one part. */
const vendorsShown = 6
export const otherVendors = 'other'

/** A bar for each day from the first to the last, also where nothing was read, and the vendors that read most. */
export function barsOf({ days, vendors }: Pick<DisclosureSummary, 'days' | 'vendors'>): {
  bars: DayBar[]
  series: { name: string; label: string }[]
} {
  const [first, last] = [days[0]?.day, days.at(-1)?.day]
  if (first === undefined || last === undefined) return { bars: [], series: [] }
  const most = vendors.toSorted((one, other) => other.records - one.records)
  const shown = most.slice(0, vendorsShown).map(({ company_id, name }) => ({ name: company_id, label: name }))
  const nameOf = (companyId: string) => (shown.some(({ name }) => name === companyId) ? companyId : otherVendors)
  const byDay = new Map<string, DayBar>()
  // Days have no zone: counted in UTC, each is as long as the others.
  for (let at = Date.parse(first); at <= Date.parse(last); at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10)
    byDay.set(day, { day })
  }
  for (const { day, company_id, records } of days) {
    const bar = byDay.get(day)
    const name = nameOf(company_id)
    if (bar) bar[name] = Number(bar[name] ?? 0) + records
  }
  const others = most.length > vendorsShown ? [{ name: otherVendors, label: 'Other vendors' }] : []
  return { bars: [...byDay.values()], series: [...shown, ...others] }
}
