import type { Stamp } from '../datasets/stamp.ts'

/** Which records of a dataset a list asks for. Null: whatever the value. */
export type Selection = {
  readonly modifiedAfter: Stamp | null
  /** Our id of a patient. */
  readonly patientId: string | null
  /** The first moment included, and the first one after it that is not. */
  readonly startsFrom: Stamp | null
  readonly startsTo: Stamp | null
}

export const wholeDataset: Selection = { modifiedAfter: null, patientId: null, startsFrom: null, startsTo: null }

export function isWhole(selection: Selection): boolean {
  return Object.values(selection).every((value) => value === null)
}

/** Whether the moment of change alone is asked for. */
export function isDelta({ patientId, startsFrom, startsTo }: Selection): boolean {
  return patientId === null && startsFrom === null && startsTo === null
}

/** The range of moments asked for, open ends closed by the first and last that a column holds; null when none is asked for. */
export function startsRange({ startsFrom, startsTo }: Selection): { from: Stamp; to: Stamp } | null {
  if (startsFrom === null && startsTo === null) return null
  return { from: startsFrom ?? 0, to: startsTo ?? Number.MAX_SAFE_INTEGER }
}
