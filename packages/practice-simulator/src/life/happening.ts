import { type Practice, todayIn } from '../practice.ts'
import type { Random } from '../random.ts'
import type { Patient } from '../rows/people.ts'
import { daysBetween } from '../wall-time.ts'
import type { Desk } from './desk.ts'

/** Something that may happen: it is done at the desk, or, when it cannot happen now, nothing at all is done and the answer is false. */
export type Happening<Name extends string = string> = {
  readonly name: Name
  /** How often, beside the others. */
  readonly weight: number
  readonly happen: (desk: Desk) => boolean
}

export function anyOf<Row>(rows: ReadonlyMap<string, Row>, random: Random): Row | null {
  return rows.size === 0 ? null : random.pick([...rows.values()])
}

/** The first that suits of a few that chance picks; null when none of them does. */
export function someOf<Row>(
  rows: ReadonlyMap<string, Row> | readonly Row[],
  random: Random,
  suits: (row: Row) => boolean,
): Row | null {
  const all = Array.isArray(rows) ? rows : [...rows.values()]
  for (let n = 0; n < 25 && all.length > 0; n++) {
    const row = random.pick(all)
    if (suits(row)) return row
  }
  return null
}

export function isActive(patient: Patient): boolean {
  return patient.status === 'patient'
}

/** A patient who comes to the practice. */
export function anyPatient({ practice, random }: Desk): Patient | null {
  return someOf(practice.patients, random, isActive)
}

/**
 * Whether there are enough of something, so that no more should come: a practice grows by a patient in two days, however fast
 * things happen, and holds so many per patient.
 */
export function isGrown(practice: Practice, size: number, perPatient: number): boolean {
  const patients = practice.atFirst.patients * 1.2 + daysBetween(practice.atFirst.on, todayIn(practice)) / 2
  return size > patients * perPatient + 10
}
