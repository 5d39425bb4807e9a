import { isAttemptDue, nextAttemptAt } from '../../../platform/database/attempts.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { databaseErrorCode } from '../../../platform/database/unavailable.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { createLoop, type Loop } from '../../../platform/loop/loop.ts'

export type Worker = Pick<Loop, 'start' | 'stop'>

/** Does one slice of the work of the next location after this one. Returns that location; null when no work is due anywhere. */
export type WorkSlice = (after: LocationId) => Promise<LocationId | null>

/** Before every location. */
export const noLocation = '0' as LocationId

/**
 * Does slices of work, a location after the other, until none is due, and looks again every `pollMs`. A location with much work so gets as
 * many slices as one with little. The work's rows say what is left: a crash only delays it, and several processes may look at once.
 */
export function createWorker(deps: { task: string; slice: WorkSlice; log: Log; pollMs?: number }): Worker {
  const { task, slice, log, pollMs = 1000 } = deps
  let last = noLocation
  const work = async (stopping: AbortSignal) => {
    while (!stopping.aborted) {
      const done = await slice(last)
      if (done === null) return
      last = done
    }
  }
  return createLoop({ steps: { [task]: work }, everyMs: pollMs, firstAfterMs: 0, log })
}

/** The tables whose rows are work, with the columns that name a row. Each has `created_at`, `attempts`, `next_attempt_at`, `last_error`. */
const workTables = {
  note_removal: ['location_id', 'dataset'],
  removal: ['location_id', 'dataset', 'id'],
  rerender_work: ['location_id', 'target_dataset', 'target_source_id', 'dataset'],
} as const

const pauses = { first: '1 second', longest: '10 minutes' }

/** SQL for rows of these tables that are due. */
export const isWorkDue = isAttemptDue('now()', pauses)

/**
 * The oldest row that is due, of the first location after this one that has any; after the last location come the first ones again. Goes
 * along the primary key, which `location_id` leads.
 */
export async function findDue<Row extends object>(
  db: Queryable,
  table: keyof typeof workTables,
  columns: string,
  condition: string,
  after: LocationId,
): Promise<Row | null> {
  for (const from of new Set([after, noLocation])) {
    const { rows } = await db.query<Row>(
      `select ${columns}
         from ${table}
        where location_id > $1 and ${isWorkDue} ${condition}
        order by location_id, created_at
        limit 1`,
      [from],
    )
    if (rows[0]) return rows[0]
  }
  return null
}

/**
 * Tries a slice of the work of rows, of which the columns that differ are lists. When it fails, they wait: 1 s, then twice as long each time, at
 * most 10 minutes, while the work of other rows goes on. Operators see the error's name and how often it came.
 */
export async function attemptWork(
  deps: { db: Queryable; log: Log; task: string },
  table: keyof typeof workTables,
  key: readonly (string | readonly string[])[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    deps.log({ event: 'task.failed', task: deps.task, error: databaseErrorCode(error) })
    const columns = workTables[table]
    const names = columns.map((column, index) =>
      typeof key[index] === 'string' ? `${column} = $${index + 2}` : `${column} = any($${index + 2})`,
    )
    const keyOf = (row: string) => columns.map((column) => `${row}.${column}`).join(', ')
    await deps.db.query(
      `with failed as (
         select ${columns.join(', ')}, ${nextAttemptAt('now()', pauses)} as next_attempt_at
           from ${table}
          where ${names.join(' and ')}
            for update)
       update ${table} work
          set attempts = attempts + 1, last_error = $1, next_attempt_at = failed.next_attempt_at
         from failed
        where (${keyOf('work')}) = (${keyOf('failed')})`,
      [databaseErrorCode(error), ...key],
    )
  }
}
