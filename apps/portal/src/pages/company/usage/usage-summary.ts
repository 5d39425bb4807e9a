import type { Usage, UsageNumbers } from '@bridgework/contract/portal'
import { formatCount, locale } from '../../../ui/format/locale.ts'
import { valueInWords } from '../../../ui/format/plot-scale.ts'

const names = {
  requests: 'requests',
  records: 'records',
  throttled: 'rate-limited requests',
  errors: 'other errors',
} as const

/** A chart as text: the total, and the highest value with its time. */
export function summaryOf(usage: Usage, figure: keyof typeof names): string {
  const total = usage.totals[figure]
  const text = `${formatCount(total)} ${names[figure]} ${inTheLast(usage)}`
  const most = usage.buckets.reduce<Usage['buckets'][number] | null>(
    (best, bucket) => (bucket[figure] > (best?.[figure] ?? 0) ? bucket : best),
    null,
  )
  if (!most) return text
  const at = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(most.at))
  return `${text}; most at ${at}: ${formatCount(most[figure])}`
}

/** How long requests took, as text. */
export function durationSummary(usage: Usage): string {
  const { p50_ms, p95_ms, p99_ms } = usage.totals
  if (p50_ms === null || p95_ms === null || p99_ms === null) return `No response times ${inTheLast(usage)}`
  const [half, most, nearlyAll] = [p50_ms, p95_ms, p99_ms].map((ms) => valueInWords(ms, 'ms'))
  return `Response times ${inTheLast(usage)}: half of the requests within ${half}, 95% within ${most}, 99% within ${nearlyAll}`
}

/** The share of failed requests, as text. */
export function errorRateSummary(usage: Usage): string {
  return `${valueInWords(errorRateOf(usage.totals) ?? 0, 'percent')} of the requests failed ${inTheLast(usage)}`
}

/** Percent of the requests that failed, rate-limited ones aside; null when there were none. */
export function errorRateOf({ requests, errors }: Pick<UsageNumbers, 'requests' | 'errors'>): number | null {
  return requests === 0 ? null : (errors / requests) * 100
}

function inTheLast({ range }: Usage): string {
  return `in the last ${range === '1h' ? 'hour' : range.replace('h', ' hours').replace('d', ' days')}`
}
