import type { ActivityPlot, AgentPlot, PlotRange } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import { listLags } from '../datasets/sync-activity.ts'
import { sumAgentHours, sumLocationHours } from './store.ts'

/** Whole hours, so that a plot has at most two hundred points. */
const bucketsOf = {
  '24h': { seconds: 3_600, count: 24 },
  '7d': { seconds: 3_600, count: 168 },
  '30d': { seconds: 14_400, count: 180 },
} as const satisfies Record<PlotRange, { seconds: number; count: number }>

/** What happened at these locations in the range that ends now: a bucket for each part of it, also where nothing did. */
export async function activityOf(
  db: Queryable,
  locationIds: readonly LocationId[],
  range: PlotRange,
  now: Date,
): Promise<ActivityPlot> {
  const { instants, begin, seconds } = bucketsIn(range, now)
  const [stored, lags] = await Promise.all([
    sumLocationHours(db, locationIds, begin, seconds),
    listLags(db, locationIds, { beginsAt: instants, seconds }, now),
  ])
  const buckets = fill(instants, stored, nothing)
  return { range, buckets: buckets.map((each, index) => ({ ...each, lag_seconds: lags[index] ?? null })) }
}

/** What an agent asked in the range that ends now. */
export async function agentActivityOf(
  db: Queryable,
  agentId: AgentId,
  range: PlotRange,
  now: Date,
): Promise<AgentPlot> {
  const { instants, begin, seconds } = bucketsIn(range, now)
  return {
    range,
    buckets: fill(instants, await sumAgentHours(db, agentId, begin, seconds), { requests: 0, errors: 0 }),
  }
}

const nothing = { reads: 0, records_read: 0, read_errors: 0, uploads: 0, records_changed: 0, upload_errors: 0 }

function bucketsIn(range: PlotRange, now: Date): { instants: Date[]; begin: Date; seconds: number } {
  const { seconds, count } = bucketsOf[range]
  const last = Math.floor(now.getTime() / 1000 / seconds)
  const instants = Array.from({ length: count }, (_, index) => new Date((last - count + 1 + index) * seconds * 1000))
  return { instants, begin: instants[0] ?? now, seconds }
}

function fill<Values extends object>(
  instants: readonly Date[],
  stored: readonly ({ at: Date } & Values)[],
  empty: Values,
): (Values & { at: string })[] {
  const byInstant = new Map(stored.map((each) => [each.at.getTime(), each]))
  return instants.map((at) => ({ ...(byInstant.get(at.getTime()) ?? empty), at: at.toISOString() }))
}
