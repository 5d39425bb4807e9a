import { related } from '../indexes.ts'
import { nowIn, type Practice } from '../practice.ts'
import { procedures } from '../procedure-codes.ts'
import type { Appointment, Treatment } from '../rows/care.ts'
import type { Patient, Provider } from '../rows/people.ts'
import { addDays, addMinutes } from '../wall-time.ts'
import { chargeOf } from './account.ts'
import type { Desk } from './desk.ts'
import { estimate, sendClaims } from './insurance.ts'
import { ageOf } from './people.ts'
import { typeOf, wordOf } from './staff.ts'

/** What is often found and put right. */
export const repairs = [
  'D2391',
  'D2392',
  'D2330',
  'D2331',
  'D2140',
  'D2740',
  'D2950',
  'D3330',
  'D4341',
  'D7140',
  'D9944',
  'D6010',
]

export function hygieneCodes(desk: Desk, patient: Patient, on: string, isNew: boolean): string[] {
  const { random } = desk
  const cleaning = ageOf(patient, on) < 14 ? 'D1120' : 'D1110'
  const pictures = isNew ? ['D0210'] : random.chance(0.4) ? ['D0274'] : []
  return [isNew ? 'D0150' : 'D0120', cleaning, ...pictures, ...(random.chance(0.25) ? ['D1206'] : [])]
}

/** Writes a treatment into the patient's plan, with what insurance would pay. */
export function planTreatment(
  desk: Desk,
  patient: Patient,
  code: string,
  details: { provider: Provider; locationKey: string | null; on: string; status?: Treatment['status'] },
): Treatment | null {
  const { practice, random } = desk
  const row = [...practice.procedureCodes.values()].find((each) => each.code === code)
  const usual = procedures.find((each) => each.code === code)?.usualCents ?? 10_000
  if (row === undefined) return null
  const status = details.status ?? 'planned'
  const isPlanned = status === 'planned' || status === 'planned_inactive'
  const treatment = desk.add('treatments', {
    patientKey: patient.key,
    locationKey: details.locationKey,
    providerKey: details.provider.key,
    appointmentKey: null,
    plannedAppointmentKey: null,
    codeKey: row.key,
    status,
    ...placeOf(desk, row.area),
    quantity: code === 'D0220' || code === 'D4341' ? random.whole(1, 2) : 1,
    feeCents: status === 'condition' ? 0 : usual + random.pick([0, 0, 0, 500, 1234, -250]),
    discountCents: isPlanned && random.chance(0.05) ? random.whole(5, 40) * 100 : 0,
    priorityKey: isPlanned && random.chance(0.6) ? wordOf(desk, 'priority').key : null,
    plannedOn: isPlanned ? details.on : null,
    completedOn: null,
  })
  if (isPlanned) estimate(desk, treatment, details.on)
  return treatment
}

function placeOf({ random }: Desk, area: string): { teeth: string[]; surfaces: string } {
  const tooth = String(random.whole(2, 31))
  switch (area) {
    case 'surface':
      return { teeth: [tooth], surfaces: random.pick(['O', 'MO', 'DO', 'MOD', 'B', 'L']) }
    case 'tooth':
      return { teeth: [tooth], surfaces: '' }
    case 'quadrant':
      return { teeth: [], surfaces: random.pick(['UR', 'UL', 'LR', 'LL']) }
    case 'arch':
      return { teeth: [], surfaces: random.pick(['U', 'L']) }
    case 'range':
      return { teeth: ['6', '7', '8', '9'], surfaces: '' }
    default:
      return { teeth: [], surfaces: '' }
  }
}

export function minutesFor(treatments: readonly Treatment[]): number {
  const cents = treatments.reduce((sum, treatment) => sum + chargeOf(treatment), 0)
  return Math.min(120, Math.max(30, Math.round(cents / 10_000) * 10))
}

/** Puts treatments into a visit at that time, which is free. */
export function bookVisit(
  desk: Desk,
  patient: Patient,
  treatments: readonly Treatment[],
  details: {
    worker: Provider
    startsAt: string
    minutes: number
    isNewPatient?: boolean
    locationKey: string | null
    note?: string
  },
): Appointment {
  const { practice, random } = desk
  const { worker, isNewPatient = false } = details
  const dentist = worker.isHygienist ? dentistBeside(practice, worker) : worker
  const visit = desk.add('appointments', {
    patientKey: patient.key,
    locationKey: details.locationKey,
    status: 'scheduled',
    broken: null,
    confirmationKey: wordOf(desk, 'confirmation', random.chance(0.5) ? 'Unconfirmed' : 'Not called').key,
    operatoryKey: related(practice, 'operatories', 'provider', worker.key)[0]?.key ?? null,
    providerKey: dentist.key,
    hygienistKey: worker.isHygienist ? worker.key : null,
    isHygiene: worker.isHygienist,
    isNewPatient,
    typeKey: random.chance(0.9) ? typeOf(practice, isNewPatient ? 1 : worker.isHygienist ? 0 : 2) : null,
    startsAt: details.startsAt,
    minutes: details.minutes,
    arrivedAt: null,
    seatedAt: null,
    dismissedAt: null,
    note: details.note ?? '',
    createdAt: bookedAt(practice, details.startsAt),
  })
  for (const treatment of treatments) {
    desk.change('treatments', treatment, { appointmentKey: visit.key, plannedAppointmentKey: null })
  }
  return visit
}

/** Now; of a visit in the past, two weeks before it. */
function bookedAt(practice: Practice, startsAt: string): string {
  const now = nowIn(practice)
  return startsAt > now ? now : addMinutes(startsAt, -14 * 24 * 60)
}

function dentistBeside(practice: Practice, hygienist: Provider): Provider {
  const dentists = [...practice.providers.values()].filter((provider) => !provider.isHygienist)
  const found = dentists.find((provider) => provider.locationKey === hygienist.locationKey) ?? dentists[0]
  if (found === undefined) throw new Error('a practice without a dentist')
  return found
}

/** The patient has been treated: everything of the visit is done, charged, and sent to insurance. */
export function completeVisit(desk: Desk, visit: Appointment, dismissedAt: string): Treatment[] {
  const { practice } = desk
  const on = (visit.startsAt ?? dismissedAt).slice(0, 10)
  const start = visit.startsAt ?? dismissedAt
  desk.change('appointments', visit, {
    status: 'complete',
    arrivedAt: visit.arrivedAt ?? addMinutes(start, -5),
    seatedAt: visit.seatedAt ?? addMinutes(start, 2),
    dismissedAt,
  })
  const done = related(practice, 'treatments', 'appointment', visit.key).map((treatment) => {
    const complete = desk.change('treatments', treatment, {
      status: 'complete',
      locationKey: visit.locationKey,
      completedOn: on,
      discountCents: 0,
    })
    if (treatment.discountCents > 0) {
      desk.add('adjustments', {
        patientKey: treatment.patientKey,
        locationKey: visit.locationKey,
        providerKey: treatment.providerKey,
        treatmentKey: treatment.key,
        typeKey: wordOf(desk, 'adjustment_type', 'Courtesy discount').key,
        amountCents: -treatment.discountCents,
        adjustedOn: on,
      })
    }
    return complete
  })
  const patient = practice.patients.get(visit.patientKey ?? '')
  if (patient !== undefined && patient.firstVisitOn === null) {
    desk.change('patients', patient, {
      firstVisitOn: on,
      status: patient.status === 'prospective' ? 'patient' : patient.status,
    })
  }
  sendClaims(desk, done, on)
  return done
}

/** The visit does not take place, and its treatments wait for another. */
export function breakVisit(desk: Desk, visit: Appointment, why: Appointment['broken']): void {
  for (const treatment of related(desk.practice, 'treatments', 'appointment', visit.key)) {
    desk.change('treatments', treatment, { appointmentKey: null })
  }
  desk.change('appointments', visit, { status: 'broken', broken: why })
}

/** Removed for good, as workstations do; its treatments stay in the plan. */
export function deleteVisit(desk: Desk, visit: Appointment): void {
  for (const treatment of related(desk.practice, 'treatments', 'appointment', visit.key)) {
    desk.change('treatments', treatment, { appointmentKey: null })
  }
  for (const treatment of related(desk.practice, 'treatments', 'plannedAppointment', visit.key)) {
    desk.change('treatments', treatment, { plannedAppointmentKey: null })
  }
  desk.remove('appointments', visit)
}

/** A treatment leaves its row behind; what hangs on it dies with it. Only one that no money was paid for. */
export function deleteTreatment(desk: Desk, treatment: Treatment): boolean {
  const { practice } = desk
  const lines = related(practice, 'claimLines', 'treatment', treatment.key)
  const isPaidFor =
    related(practice, 'splits', 'treatment', treatment.key).length > 0 ||
    related(practice, 'planCharges', 'treatment', treatment.key).length > 0 ||
    lines.some((line) => line.status !== 'estimate')
  if (isPaidFor) return false
  for (const line of lines) desk.remove('claimLines', line)
  for (const row of related(practice, 'adjustments', 'treatment', treatment.key)) desk.remove('adjustments', row)
  desk.change('treatments', treatment, { status: 'deleted', appointmentKey: null, plannedAppointmentKey: null })
  return true
}

export function recallDay({ random }: Desk, from: string): string {
  return addDays(from, random.whole(165, 230))
}
