import type { Pool } from 'pg'
import type { ReadPermit } from '../../consent/read-permit.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { weekMicros, weekOf } from '../write/tally.ts'
import type { Range } from './selection.ts'
import { askCount, type Count } from './selection-sql.ts'

/** How many records were modified after a stamp: whole spans from record_count, the rest of the stamp's own from record_modified, index-only. */
export function countModified(pool: Pool, permit: ReadPermit, modifiedAfter: Stamp): Promise<Count> {
  return askCount(
    pool,
    permit,
    'records.count_modified',
    [modifiedAfter],
    `with later as materialized (
       select span_from, records, lowest_id from record_count where location_id = $1 and dataset = $2 and span_from > $3
     )
     select sum(count) as count, min(lowest) as lowest
       from (select sum(records) as count, min(lowest_id) as lowest from later where records > 0
              union all
             select count(*), min(id)
               from record
              where location_id = $1 and dataset = $2
                and modified_at > $3 and modified_at < (select coalesce(min(span_from), ${stampMax}) from later)) parts`,
  )
}

/** How many records start in a range: whole weeks from record_count, the rest of those at its ends from record_starts, index-only. */
export function countStarting(pool: Pool, permit: ReadPermit, range: Range): Promise<Count> {
  const { from, to, weeks, headTo, tailFrom } = weeksOf(range)
  return askCount(
    pool,
    permit,
    'records.count_starting',
    [from, headTo, tailFrom, to, weeks.from, weeks.to],
    `select sum(count) as count, min(lowest) as lowest
       from (select sum(records) as count, min(lowest_id) as lowest
               from record_count
              where location_id = $1 and dataset = $2 and starts_week >= $7 and starts_week < $8 and $7 < $8 and records > 0
              union all
             select count(*), min(id)
               from record where location_id = $1 and dataset = $2 and starts_at >= $3 and starts_at < $4
              union all
             select count(*), min(id)
               from record where location_id = $1 and dataset = $2 and starts_at >= $5 and starts_at < $6) parts`,
  )
}

/**
 * How many records start in a range and were modified after a stamp, where both are wide: whole weeks of whole spans from record_count, the
 * rest of the stamp's own span and of the weeks at the range's ends from their indexes.
 */
export function countStartingWide(pool: Pool, permit: ReadPermit, modifiedAfter: Stamp, range: Range): Promise<Count> {
  const { from, to, weeks, headTo, tailFrom } = weeksOf(range)
  return askCount(
    pool,
    permit,
    'records.count_starting_wide',
    [modifiedAfter, from, headTo, tailFrom, to, weeks.from, weeks.to],
    `with later as materialized (
       select starts_week, span_from, records, lowest_id
         from record_count where location_id = $1 and dataset = $2 and span_from > $3
     )
     select sum(count) as count, min(lowest) as lowest
       from (select sum(records) as count, min(lowest_id) as lowest
               from later where starts_week >= $8 and starts_week < $9 and records > 0
              union all
             select count(*), min(id)
               from record
              where location_id = $1 and dataset = $2 and starts_at + 0 >= $5 and starts_at + 0 < $6
                and modified_at > $3 and modified_at < (select coalesce(min(span_from), ${stampMax}) from later)
              union all
             select count(*), min(id)
               from record
              where location_id = $1 and dataset = $2 and starts_at >= $4 and starts_at < $5 and modified_at + 0 > $3
              union all
             select count(*), min(id)
               from record
              where location_id = $1 and dataset = $2 and starts_at >= $6 and starts_at < $7 and modified_at + 0 > $3) parts`,
  )
}

/** Whole weeks of a range, and where the parts of weeks before and after them end and begin. */
function weeksOf({ from, to }: Range) {
  const first = weekOf(from)
  const weeks = { from: BigInt(first) * weekMicros === from ? first : first + 1, to: weekOf(to) }
  const hasWhole = weeks.from < weeks.to
  return {
    from,
    to,
    weeks,
    headTo: hasWhole ? BigInt(weeks.from) * weekMicros : to,
    tailFrom: hasWhole ? BigInt(weeks.to) * weekMicros : to,
  }
}

/** Later than every stamp. */
const stampMax = '9223372036854775807'
