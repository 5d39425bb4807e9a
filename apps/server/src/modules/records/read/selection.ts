import type { Moment } from '../../datasets/instant.ts'
import type { Stamp } from '../../datasets/stamp.ts'

/** Which records of a dataset a list asks for. Null: whatever the value. */
export type Selection = {
  readonly modifiedAfter: Stamp | null
  /** Our id of a patient. */
  readonly patientId: string | null
  /** The first moment included, and the first one after it that is not. */
  readonly startsFrom: Moment | null
  readonly startsTo: Moment | null
}

export const wholeDataset: Selection = { modifiedAfter: null, patientId: null, startsFrom: null, startsTo: null }

export function isWhole(selection: Selection): boolean {
  return Object.values(selection).every((value) => value === null)
}

/** Whether the moment of change alone is asked for. */
export function isDelta({ patientId, startsFrom, startsTo }: Selection): boolean {
  return patientId === null && startsFrom === null && startsTo === null
}

/** From the first moment to just before the last. */
export type Range = { from: Moment; to: Moment }

/** The range of moments asked for, open ends closed by the first and last that a date-time can name; null when none is asked for. */
export function startsRange({ startsFrom, startsTo }: Selection): Range | null {
  if (startsFrom === null && startsTo === null) return null
  return { from: startsFrom ?? earliest, to: startsTo ?? latest }
}

/** A day before the year 0000 and after the year 9999: offsets reach so far. */
const earliest = BigInt(Date.UTC(-1, 11, 31)) * 1000n
const latest = BigInt(Date.UTC(10_000, 0, 2)) * 1000n
