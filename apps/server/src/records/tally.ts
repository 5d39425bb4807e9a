import type { Stamp } from './stamp.ts'

/** Where a record stands among the counts: by the stamp of its last change and by when it starts. */
export type Place = { modifiedAt: Stamp; startsAt: Stamp | null }

/** The place of a stored row. */
export function toPlace(row: { modified_at: string; starts_at: string | null }): Place {
  return { modifiedAt: Number(row.modified_at), startsAt: row.starts_at === null ? null : Number(row.starts_at) }
}

/** What a turn changes of a dataset's counts: records come to a place and leave one. */
export type Tally = {
  come: (id: string, place: Place) => void
  leave: (place: Place) => void
  /** A record that is modified and starts when it did. */
  restamp: (id: string, place: Place, stamp: Stamp) => void
  /** How many records came, and by how much each place's count changes. */
  changes: () => { came: number; rows: TallyRow[] }
}

/** `records` is negative where more left than came, and `lowest_id` null where none came. */
export type TallyRow = { starts_week: number; stamp: Stamp; records: number; lowest_id: number | null }

/** Starts are counted by weeks since 1970: few rows for a practice's years, and few records in one of them. */
export const weekMicros = 7 * 24 * 3_600_000_000

export function createTally(): Tally {
  const rows = new Map<string, TallyRow>()
  let came = 0
  const rowOf = ({ modifiedAt, startsAt }: Place) => {
    const week = startsAt === null ? -1 : Math.floor(startsAt / weekMicros)
    const key = `${week} ${modifiedAt}`
    const row = rows.get(key) ?? { starts_week: week, stamp: modifiedAt, records: 0, lowest_id: null }
    rows.set(key, row)
    return row
  }
  const come = (id: string, place: Place) => {
    const row = rowOf(place)
    came += 1
    row.records += 1
    row.lowest_id = Math.min(row.lowest_id ?? Number.MAX_SAFE_INTEGER, Number(id))
  }
  const leave = (place: Place) => {
    rowOf(place).records -= 1
  }
  return {
    come,
    leave,
    restamp(id, place, stamp) {
      leave(place)
      come(id, { ...place, modifiedAt: stamp })
    },
    changes: () => ({ came, rows: [...rows.values()] }),
  }
}
