import type { Usage, UsageNumbers } from '@bridgework/contract/portal'
import { formatCount, locale } from '../../ui/locale.ts'

const names: Record<keyof UsageNumbers, string> = {
  requests: 'requests',
  records: 'records',
  throttled: 'rate-limited requests',
  errors: 'other errors',
}

/** A chart as text: the total, and the highest value with its time. */
export function summaryOf(usage: Usage, figure: keyof UsageNumbers): string {
  const total = usage.totals[figure]
  const text = `${formatCount(total)} ${names[figure]} in the last ${usage.range.replace('h', ' hours').replace('d', ' days')}`
  const most = usage.buckets.reduce<Usage['buckets'][number] | null>(
    (best, bucket) => (bucket[figure] > (best?.[figure] ?? 0) ? bucket : best),
    null,
  )
  if (!most) return text
  const at = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(most.at))
  return `${text}; most at ${at}: ${formatCount(most[figure])}`
}
