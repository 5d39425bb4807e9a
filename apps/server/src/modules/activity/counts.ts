import type { Queryable } from '../../platform/database/queryable.ts'
import type { LogEvent } from '../../platform/log/log-event.ts'
import { type AgentCounts, addAgentHours, addLocationHours, type LocationCounts } from './store.ts'

export type ActivityCounter = {
  /** Takes note of an event of the log. Costs less than a microsecond, waits for nothing and never throws. */
  observe: (event: LogEvent, at: Date) => void
  /** Writes all that was noted so far. What cannot be written waits for the next time. */
  write: (db: Queryable) => Promise<void>
}

/** Counts by the hour what happens at locations and what agents ask, from the log's own events. `waitingMax`: hours that may wait. */
export function createActivityCounter(waitingMax = 10_000): ActivityCounter {
  const locations = createHours<LocationCounts>(noReads, waitingMax)
  const agents = createHours<AgentCounts>({ requests: 0, errors: 0 }, waitingMax)
  return {
    observe(event, at) {
      if (event.event === 'records.ingested') {
        const sum = locations.of(event.locationId, at)
        if (sum) sum.records_changed += event.changed + event.hidden
      }
      if (event.event !== 'request.answered') return
      const failed = event.status >= 400 ? 1 : 0
      if (event.agentId !== undefined) {
        const sum = agents.of(event.agentId, at)
        if (sum) {
          sum.requests += 1
          sum.errors += failed
        }
      }
      // Before the permit an id in a path is whatever the caller wrote there.
      if (event.locationId === undefined || event.status === 401 || event.code === 'location_unknown') return
      if (event.agentId === undefined && event.companyId === undefined) return
      const sum = locations.of(event.locationId, at)
      if (!sum) return
      if (event.agentId !== undefined) {
        sum.uploads += 1
        sum.upload_errors += failed
      } else {
        sum.reads += 1
        sum.records_read += event.records ?? 0
        sum.read_errors += failed
      }
    },
    async write(db) {
      await locations.write((rows) => addLocationHours(db, rows))
      await agents.write((rows) => addAgentHours(db, rows))
    },
  }
}

const noReads: LocationCounts = {
  reads: 0,
  records_read: 0,
  read_errors: 0,
  uploads: 0,
  records_changed: 0,
  upload_errors: 0,
}

/** Sums by id and hour that wait to be written. */
function createHours<Counts extends Record<string, number>>(none: Counts, waitingMax: number) {
  type Sum = { id: string; hour_at: Date } & Counts
  // By the hour's number and then by id: a key made of both would be a new text for each request.
  const hours = new Map<number, Map<string, Sum>>()
  let waiting = 0
  /** The sum to add to; null: as many wait as may. */
  const of = (id: string, at: Date): Sum | null => {
    const hour = Math.floor(at.getTime() / hourMs)
    const sums = hours.get(hour) ?? new Map<string, Sum>()
    const known = sums.get(id)
    if (known) return known
    if (waiting >= waitingMax) return null
    const sum = { ...none, id, hour_at: new Date(hour * hourMs) }
    hours.set(hour, sums.set(id, sum))
    waiting += 1
    return sum
  }
  return {
    of,
    async write(insert: (rows: Sum[]) => Promise<void>) {
      const rows = [...hours.values()].flatMap((sums) => [...sums.values()])
      if (rows.length === 0) return
      hours.clear()
      waiting = 0
      try {
        await insert(rows)
      } catch (error) {
        for (const row of rows) {
          const sum: Record<string, unknown> | null = of(row.id, row.hour_at)
          if (sum) for (const name in none) sum[name] = Number(sum[name]) + Number(row[name])
        }
        throw error
      }
    },
  }
}

const hourMs = 3_600_000
