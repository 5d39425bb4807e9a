import type { Usage, UsageNumbers, UsageRange } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { addDurations, percentileMs } from './durations.ts'
import { sumUsage, type UsageSum } from './store.ts'

/** So that a chart has at most two hundred points. */
const bucketsOf = {
  '1h': { seconds: 300, count: 12 },
  '24h': { seconds: 600, count: 144 },
  '7d': { seconds: 3_600, count: 168 },
  '30d': { seconds: 14_400, count: 180 },
} as const satisfies Record<UsageRange, { seconds: number; count: number }>

/** What a company asked in the range that ends now: a bucket for each part of it, also where nothing was asked. */
export async function usageOf(db: Queryable, companyId: CompanyId, range: UsageRange, now: Date): Promise<Usage> {
  const { seconds, count } = bucketsOf[range]
  const begin = beginOfRange(range, now)
  const instants = Array.from({ length: count }, (_, index) => new Date(begin.getTime() + index * seconds * 1000))
  const stored = await sumUsage(db, companyId, begin, seconds)
  const byInstant = new Map(stored.map(({ at, numbers }) => [at.getTime(), numbers]))
  const buckets = instants.map((at) => ({
    at: at.toISOString(),
    ...toNumbers(byInstant.get(at.getTime()) ?? nothing),
  }))
  const totals = toNumbers(stored.map(({ numbers }) => numbers).reduce(add, nothing))
  return { range, bucket_seconds: seconds, totals, buckets }
}

/** The beginning of the range that ends now. */
export function beginOfRange(range: UsageRange, now: Date): Date {
  const { seconds, count } = bucketsOf[range]
  return new Date((Math.floor(now.getTime() / 1000 / seconds) - count + 1) * seconds * 1000)
}

const nothing: UsageSum = { requests: 0, records: 0, throttled: 0, errors: 0, durations: [] }

function add(left: UsageSum, right: UsageSum): UsageSum {
  return {
    requests: left.requests + right.requests,
    records: left.records + right.records,
    throttled: left.throttled + right.throttled,
    errors: left.errors + right.errors,
    durations: addDurations(left.durations, right.durations),
  }
}

function toNumbers({ durations, ...counts }: UsageSum): UsageNumbers {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentileMs(durations, share))
  return { ...counts, p50_ms: rounded(p50), p95_ms: rounded(p95), p99_ms: rounded(p99) }
}

function rounded(ms: number | null | undefined): number | null {
  return ms == null ? null : Math.round(ms * 10) / 10
}
