import type { Moment } from '../../datasets/instant.ts'
import type { Stamp } from '../../datasets/stamp.ts'

/** Records that were modified at one stamp and start in one week, `noWeek` without a start, and an id that none of them is below. */
export type Bucket = { stamp: Stamp; startsWeek: number; records: number; lowestId: number }

/** What a turn changes of a dataset's counts: records are added to buckets and taken from buckets. */
export type Tally = {
  add: (record: { id: string; starts_at: Moment | null }, stamp: Stamp) => void
  subtract: (buckets: readonly Bucket[]) => void
  /** Records that are modified and start when they did. */
  restamp: (buckets: readonly Bucket[], stamp: Stamp) => void
  /** How many records were added, and by how much each bucket's count changes: by a negative number where more were taken. */
  changes: () => { added: number; buckets: Bucket[] }
}

/** Starts are counted by weeks since 1970, negative before: few rows for a practice's years, and few records in one of them. */
export const weekMicros = 604_800_000_000n

/** Before every week: the lowest integer. */
export const noWeek = -2_147_483_648

/** The week of a moment: weeks are counted down before 1970, where a division of bigints is rounded up. */
export function weekOf(moment: Moment): number {
  const week = moment / weekMicros
  return Number(moment < 0n && week * weekMicros !== moment ? week - 1n : week)
}

export function createTally(): Tally {
  const buckets = new Map<string, Bucket>()
  let added = 0
  const change = ({ stamp, startsWeek, records, lowestId }: Bucket) => {
    const key = `${stamp} ${startsWeek}`
    const bucket = buckets.get(key)
    if (!bucket) buckets.set(key, { stamp, startsWeek, records, lowestId })
    else {
      bucket.records += records
      bucket.lowestId = Math.min(bucket.lowestId, lowestId)
    }
    added += Math.max(records, 0)
  }
  const subtract = (left: readonly Bucket[]) => {
    for (const bucket of left) change({ ...bucket, records: -bucket.records })
  }
  return {
    add({ id, starts_at: startsAt }, stamp) {
      const startsWeek = startsAt === null ? noWeek : weekOf(startsAt)
      change({ stamp, startsWeek, records: 1, lowestId: Number(id) })
    },
    subtract,
    restamp(left, stamp) {
      subtract(left)
      for (const bucket of left) change({ ...bucket, stamp })
    },
    changes: () => ({ added, buckets: [...buckets.values()] }),
  }
}
