import type { Pool, QueryConfig } from 'pg'
import { withTransaction } from '../../../platform/database/pool.ts'
import { databaseErrorCode } from '../../../platform/database/unavailable.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { createPump } from '../../../platform/memory/pump.ts'

export type RecordStatistics = {
  /** Says how many records a dataset of a location had and has. Renews the statistics where it has outgrown them. Waits for nothing. */
  noteGrowth: (before: number, after: number) => void
  stop: () => Promise<void>
}

/**
 * Renews PostgreSQL's statistics of records. Where they do not know a location, it expects one record of it, and looks up keys by reading the
 * location's dataset through: an upload of a first sync takes longer the more came before it. PostgreSQL's own autovacuum comes when a tenth of the
 * whole table has changed. One renewal at a time, in a twentieth of the time.
 */
export function createRecordStatistics({ pool, log }: { pool: Pool; log: Log }): RecordStatistics {
  let isDue = false
  let restsUntil = 0
  let timer: NodeJS.Timeout | undefined
  const renew = async () => {
    isDue = false
    const begun = performance.now()
    try {
      await withTransaction(pool, async (client) => {
        await client.query(`set local statement_timeout = ${limitMs}`)
        const analyze: QueryConfig & { query_timeout: number } = {
          text: 'select analyze_records()',
          query_timeout: limitMs + 1_000,
        }
        await client.query(analyze)
      })
    } catch (error) {
      log({ event: 'task.failed', task: 'statistics of records', error: databaseErrorCode(error) })
    }
    const now = performance.now()
    restsUntil = now + (now - begun) * restsOfWork
    // Asked for meanwhile: the pump stops for the rest.
    if (isDue) start()
  }
  const pump = createPump(() => isDue && performance.now() >= restsUntil, renew)
  const start = () => {
    clearTimeout(timer)
    const restMs = restsUntil - performance.now()
    if (restMs <= 0) pump.start()
    else timer = setTimeout(start, restMs + 1).unref()
  }
  return {
    noteGrowth(before, after) {
      if (stepOf(after) === stepOf(before)) return
      isDue = true
      start()
    },
    async stop() {
      isDue = false
      clearTimeout(timer)
      await pump.idle()
    },
  }
}

/** A stop of the service waits for so long at most, as for a turn. */
const limitMs = 10_000
const restsOfWork = 20

/** 0 below 5,000 records, then one more each time that they are four times as many: so far their share of a growing table keeps its meaning. */
function stepOf(records: number): number {
  return records < 5_000 ? 0 : 1 + Math.floor(Math.log(records / 5_000) / Math.log(4))
}
