import type { Stamp } from '../datasets/stamp.ts'

/** Records that were modified at one stamp and start in one week (-1: without a start), and an id that none of them lies below. */
export type Place = { stamp: Stamp; startsWeek: number; records: number; lowestId: number }

/** What a turn changes of a dataset's counts: records come to places and leave places. */
export type Tally = {
  come: (record: { id: string; starts_at: Stamp | null }, stamp: Stamp) => void
  leave: (places: readonly Place[]) => void
  /** Records that are modified and start when they did. */
  restamp: (places: readonly Place[], stamp: Stamp) => void
  /** How many records came, and by how much each place's count changes: by a negative number where more left. */
  changes: () => { came: number; places: Place[] }
}

/** Starts are counted by weeks since 1970: few rows for a practice's years, and few records in one of them. */
export const weekMicros = 7 * 24 * 3_600_000_000

export function createTally(): Tally {
  const places = new Map<string, Place>()
  let came = 0
  const add = ({ stamp, startsWeek, records, lowestId }: Place) => {
    const key = `${stamp} ${startsWeek}`
    const place = places.get(key)
    if (!place) places.set(key, { stamp, startsWeek, records, lowestId })
    else {
      place.records += records
      place.lowestId = Math.min(place.lowestId, lowestId)
    }
    came += Math.max(records, 0)
  }
  const leave = (left: readonly Place[]) => {
    for (const place of left) add({ ...place, records: -place.records })
  }
  return {
    come({ id, starts_at: startsAt }, stamp) {
      const startsWeek = startsAt === null ? -1 : Math.floor(startsAt / weekMicros)
      add({ stamp, startsWeek, records: 1, lowestId: Number(id) })
    },
    leave,
    restamp(left, stamp) {
      leave(left)
      for (const place of left) add({ ...place, stamp })
    },
    changes: () => ({ came, places: [...places.values()] }),
  }
}
