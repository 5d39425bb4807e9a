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
  const locations = createHours<LocationCounts>(waitingMax)
  const agents = createHours<AgentCounts>(waitingMax)
  return {
    observe(event, at) {
      if (event.event === 'records.ingested') {
        locations.add(event.locationId, at, { ...nothing, records_changed: event.changed + event.hidden })
      }
      if (event.event !== 'request.answered') return
      const failed = event.status >= 400 ? 1 : 0
      if (event.agentId !== undefined) agents.add(event.agentId, at, { requests: 1, errors: failed })
      // Before the permit an id in a path is whatever the caller wrote there.
      if (event.locationId === undefined || event.status === 401 || event.code === 'location_unknown') return
      if (event.agentId !== undefined) {
        locations.add(event.locationId, at, { ...nothing, uploads: 1, upload_errors: failed })
      } else if (event.companyId !== undefined) {
        locations.add(event.locationId, at, {
          ...nothing,
          reads: 1,
          records_read: event.records ?? 0,
          read_errors: failed,
        })
      }
    },
    async write(db) {
      await locations.write((rows) => addLocationHours(db, rows))
      await agents.write((rows) => addAgentHours(db, rows))
    },
  }
}

const nothing: LocationCounts = {
  reads: 0,
  records_read: 0,
  read_errors: 0,
  uploads: 0,
  records_changed: 0,
  upload_errors: 0,
}

/** Sums by id and hour that wait to be written. */
function createHours<Counts extends Record<string, number>>(waitingMax: number) {
  const waiting = new Map<string, { id: string; hour_at: Date } & Counts>()
  const add = (id: string, at: Date, more: Counts) => {
    const hourMs = Math.floor(at.getTime() / 3_600_000) * 3_600_000
    const key = `${id} ${hourMs}`
    const sum = waiting.get(key) as Record<string, number> | undefined
    if (sum) {
      for (const name in more) sum[name] = (sum[name] ?? 0) + (more[name] ?? 0)
    } else if (waiting.size < waitingMax) waiting.set(key, { ...more, id, hour_at: new Date(hourMs) })
  }
  return {
    add,
    async write(insert: (rows: ({ id: string; hour_at: Date } & Counts)[]) => Promise<void>) {
      const rows = [...waiting.values()]
      if (rows.length === 0) return
      waiting.clear()
      try {
        await insert(rows)
      } catch (error) {
        for (const { id, hour_at, ...counts } of rows) add(id, hour_at, counts as unknown as Counts)
        throw error
      }
    },
  }
}
