export type AppointmentType = { readonly key: string; readonly name: string }

/** Statuses of an appointment with Open Dental's numbers. */
export const appointmentStatuses = {
  scheduled: 1,
  complete: 2,
  unscheduled: 3,
  broken: 5,
  planned: 6,
  note: 7,
  note_complete: 8,
} as const
export type AppointmentStatus = keyof typeof appointmentStatuses

export type Appointment = {
  readonly key: string
  /** Null for a block of time. */
  readonly patientKey: string | null
  readonly locationKey: string | null
  readonly status: AppointmentStatus
  /** Why a broken one did not take place, where somebody wrote it down. */
  readonly broken: 'missed' | 'cancelled' | null
  readonly confirmationKey: string | null
  readonly operatoryKey: string | null
  readonly providerKey: string
  readonly hygienistKey: string | null
  readonly isHygiene: boolean
  readonly isNewPatient: boolean
  readonly typeKey: string | null
  /** Wall time of the location, `2026-11-20T09:00:00`; null without a date. */
  readonly startsAt: string | null
  readonly minutes: number
  readonly arrivedAt: string | null
  readonly seatedAt: string | null
  readonly dismissedAt: string | null
  readonly note: string
  /** Wall time of the location at which it was entered. */
  readonly createdAt: string
}

/** Statuses of a treatment with Open Dental's numbers and letters. */
export const treatmentStatuses = {
  planned: { number: 1, letters: 'TP' },
  complete: { number: 2, letters: 'C' },
  existing_current: { number: 3, letters: 'EC' },
  existing_other: { number: 4, letters: 'EO' },
  referred_out: { number: 5, letters: 'R' },
  deleted: { number: 6, letters: 'D' },
  condition: { number: 7, letters: 'Cn' },
  planned_inactive: { number: 8, letters: 'TPi' },
} as const
export type TreatmentStatus = keyof typeof treatmentStatuses

/** Areas in the order of Open Dental's numbers, from 1. */
export const areas = ['surface', 'tooth', 'mouth', 'quadrant', 'sextant', 'arch', 'range'] as const
export type Area = (typeof areas)[number]

export type ProcedureCode = {
  readonly key: string
  readonly code: string
  readonly description: string
  readonly area: Area
}

export type Treatment = {
  readonly key: string
  readonly patientKey: string
  readonly locationKey: string | null
  readonly providerKey: string
  readonly appointmentKey: string | null
  /** The appointment of status `planned` that it would be done in. */
  readonly plannedAppointmentKey: string | null
  readonly codeKey: string
  readonly status: TreatmentStatus
  readonly teeth: readonly string[]
  readonly surfaces: string
  readonly quantity: number
  /** For one unit. */
  readonly feeCents: number
  readonly discountCents: number
  readonly priorityKey: string | null
  readonly plannedOn: string | null
  readonly completedOn: string | null
}
