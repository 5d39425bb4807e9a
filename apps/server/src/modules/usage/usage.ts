import type { Usage, UsageRange } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { sumUsage, type UsageNumbers } from './store.ts'

/** So that a chart has between a hundred and two hundred points. */
const bucketsOf = {
  '24h': { seconds: 600, count: 144 },
  '7d': { seconds: 3_600, count: 168 },
  '30d': { seconds: 14_400, count: 180 },
} as const satisfies Record<UsageRange, { seconds: number; count: number }>

/** What a company asked in the range that ends now: a bucket for each part of it, also where nothing was asked. */
export async function usageOf(db: Queryable, companyId: CompanyId, range: UsageRange, now: Date): Promise<Usage> {
  const { seconds, count } = bucketsOf[range]
  const last = Math.floor(now.getTime() / 1000 / seconds)
  const instants = Array.from({ length: count }, (_, index) => new Date((last - count + 1 + index) * seconds * 1000))
  const stored = await sumUsage(db, companyId, instants[0] ?? now, seconds)
  const byInstant = new Map(stored.map(({ at, numbers }) => [at.getTime(), numbers]))
  const buckets = instants.map((at) => ({ at: at.toISOString(), ...(byInstant.get(at.getTime()) ?? nothing) }))
  return { range, bucket_seconds: seconds, totals: buckets.reduce<UsageNumbers>(add, nothing), buckets }
}

const nothing: UsageNumbers = { requests: 0, records: 0, throttled: 0, errors: 0 }

function add(left: UsageNumbers, right: UsageNumbers): UsageNumbers {
  return {
    requests: left.requests + right.requests,
    records: left.records + right.records,
    throttled: left.throttled + right.throttled,
    errors: left.errors + right.errors,
  }
}
