import type { DisclosureGroup } from '@bridgework/contract/portal'
import { formatCount, locale } from '../../../ui/format/locale.ts'

const lists = new Intl.ListFormat(locale, { type: 'conjunction' })

/** "read 1,200 treatments and 1 patient at South, 14 times, today": what follows the vendor's name. */
export function readInWords({ datasets, locations, reads, day }: DisclosureGroup, today: string): string {
  const sent = datasets.filter(({ records }) => records > 0).map(({ dataset, records }) => amountOf(dataset, records))
  const only = datasets.filter(({ records }) => records === 0).map(({ dataset }) => nounOf(dataset, 2))
  const what = [
    ...(sent.length > 0 ? [`read ${lists.format(sent)}`] : []),
    ...(only.length > 0 ? [`counted or compared ${lists.format(only)}`] : []),
  ].join(', and ')
  const more = locations.count - locations.names.length
  const where = lists.format([...locations.names, ...(more > 0 ? [`${formatCount(more)} more`] : [])])
  return `${what} at ${where}, ${reads === 1 ? 'once' : `${formatCount(reads)} times`}, ${dayInWords(day, today)}`
}

/** "today", "yesterday" or "on November 21, 2026": days of the practice, without any zone. */
export function dayInWords(day: string, today: string): string {
  const daysAgo = (Date.parse(today) - Date.parse(day)) / 86_400_000
  if (daysAgo === 0) return 'today'
  if (daysAgo === 1) return 'yesterday'
  return `on ${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day))}`
}

function amountOf(dataset: string, records: number): string {
  return `${formatCount(records)} ${nounOf(dataset, records)}`
}

/** `fee_schedules` → "fee schedules", or "fee schedule" for one: the names of all datasets are plurals in s. */
function nounOf(dataset: string, count: number): string {
  const plural = dataset.replaceAll('_', ' ')
  return count === 1 ? plural.replace(/s$/, '') : plural
}
