import { related } from '../indexes.ts'
import { nowIn, todayIn } from '../practice.ts'
import type { Appointment } from '../rows/care.ts'
import { addDays, addMinutes } from '../wall-time.ts'
import { openAccountOf } from './account.ts'
import type { Desk } from './desk.ts'
import { anyPatient, type Happening, isActive, isGrown, someOf } from './happening.ts'
import { planVisit } from './history.ts'
import { payOpen } from './payments.ts'
import { findSlot } from './schedule.ts'
import { providersAt, wordOf } from './staff.ts'
import {
  bookVisit,
  breakVisit,
  completeVisit,
  deleteTreatment,
  deleteVisit,
  hygieneCodes,
  minutesFor,
  planTreatment,
  repairs,
} from './visits.ts'

/** The next step of the visit that has waited longest: the patient arrives or does not, is seated, is done. False when nobody is due. */
export function takeNextVisit(desk: Desk): VisitStep | null {
  const { practice, random } = desk
  const now = nowIn(practice)
  const due = [
    ...related(practice, 'appointments', 'status', 'scheduled'),
    ...related(practice, 'appointments', 'status', 'note'),
  ]
    .filter((visit) => visit.startsAt !== null && visit.startsAt <= now)
    .sort((one, other) => ((one.startsAt ?? '') < (other.startsAt ?? '') ? -1 : 1))
  for (const visit of due) {
    const startsAt = visit.startsAt ?? now
    if (visit.status === 'note') {
      desk.change('appointments', visit, { status: 'note_complete' })
      return 'block_ended'
    }
    if (visit.arrivedAt === null) {
      if (random.chance(0.08)) {
        breakVisit(desk, visit, random.chance(0.8) ? 'missed' : null)
        return 'visit_missed'
      }
      desk.change('appointments', visit, { arrivedAt: addMinutes(startsAt, random.whole(-12, 0)) })
      return 'patient_arrived'
    }
    if (visit.seatedAt === null) {
      desk.change('appointments', visit, { seatedAt: addMinutes(startsAt, random.whole(0, 8)) })
      return 'patient_seated'
    }
    if (addMinutes(startsAt, visit.minutes) > now) continue
    finish(desk, visit)
    return 'visit_completed'
  }
  return null
}

export type VisitStep = 'patient_arrived' | 'patient_seated' | 'visit_completed' | 'visit_missed' | 'block_ended'

function finish(desk: Desk, visit: Appointment): void {
  const { practice, random } = desk
  completeVisit(desk, visit, addMinutes(visit.startsAt ?? '', visit.minutes + random.whole(0, 5)))
  const patient = practice.patients.get(visit.patientKey ?? '')
  if (patient === undefined) return
  if (random.chance(0.5)) payOpen(desk, patient, todayIn(practice))
  openAccountOf(desk, patient.key)
}

export const visitEvents = [
  { name: 'appointment_booked', weight: 6, happen: book },
  {
    name: 'appointment_confirmed',
    weight: 4,
    happen: (desk) => {
      const visit = coming(desk, (each) => !/^Confirmed/.test(wordAt(desk, each)))
      if (visit === null) return false
      const how = desk.random.pick(['Confirmed by text', 'Confirmed by phone'])
      desk.change('appointments', visit, { confirmationKey: wordOf(desk, 'confirmation', how).key })
      return true
    },
  },
  { name: 'appointment_moved', weight: 1.5, happen: move },
  {
    name: 'appointment_cancelled',
    weight: 1,
    happen: (desk) => {
      const visit = coming(desk)
      const { practice } = desk
      if (visit === null || isGrown(practice, related(practice, 'appointments', 'status', 'broken').length, 0.5))
        return false
      breakVisit(desk, visit, desk.random.chance(0.9) ? 'cancelled' : null)
      return true
    },
  },
  {
    name: 'appointment_removed',
    weight: 0.7,
    happen: (desk) => {
      const { practice, random } = desk
      const isOpen = (visit: Appointment) => visit.status !== 'complete' && visit.arrivedAt === null
      const visit = someOf(practice.appointments, random, isOpen)
      if (visit === null) return false
      deleteVisit(desk, visit)
      return true
    },
  },
  {
    name: 'appointment_noted',
    weight: 0.8,
    happen: (desk) => {
      const visit = coming(desk)
      if (visit === null) return false
      const note = desk.random.pick(['Running late.', 'Bring X-rays.', 'Call before.', 'Prefers the window chair.', ''])
      return desk.change('appointments', visit, { note }) !== visit
    },
  },
  {
    name: 'visit_planned',
    weight: 0.6,
    happen: (desk) => {
      const { practice, random } = desk
      if (isGrown(practice, related(practice, 'appointments', 'status', 'planned').length, 0.2)) return false
      const treatment = someOf(related(practice, 'treatments', 'status', 'planned'), random, isLoose)
      const patient = practice.patients.get(treatment?.patientKey ?? '')
      return treatment !== null && patient !== undefined && planVisit(desk, patient, [treatment]) !== null
    },
  },
  {
    name: 'time_blocked',
    weight: 0.3,
    happen: (desk) => {
      const { practice, random } = desk
      if (related(practice, 'appointments', 'status', 'note').length > 12) return false
      const provider = random.pick([...practice.providers.values()].filter((each) => !each.isHygienist))
      const from = addDays(todayIn(practice), random.whole(1, 20))
      const startsAt = findSlot(practice, random, {
        provider,
        patientKey: null,
        minutes: 30,
        from,
        after: nowIn(practice),
      })
      if (startsAt === null) return false
      desk.add('appointments', {
        patientKey: null,
        locationKey: provider.locationKey,
        status: 'note',
        broken: null,
        confirmationKey: null,
        operatoryKey: related(practice, 'operatories', 'provider', provider.key)[0]?.key ?? null,
        providerKey: provider.key,
        hygienistKey: null,
        isHygiene: false,
        isNewPatient: false,
        typeKey: null,
        startsAt,
        minutes: 30,
        arrivedAt: null,
        seatedAt: null,
        dismissedAt: null,
        note: random.pick(['Staff meeting', 'Delivery', 'Training']),
        createdAt: nowIn(practice),
      })
      return true
    },
  },
  {
    name: 'treatment_planned',
    weight: 3,
    happen: (desk) => {
      const { practice, random } = desk
      if (isGrown(practice, related(practice, 'treatments', 'status', 'planned').length, 4)) return false
      const patient = anyPatient(desk)
      if (patient === null) return false
      const provider = random.pick(providersAt(practice, patient.locationKey, false))
      const common = { provider, locationKey: provider.locationKey ?? patient.locationKey, on: todayIn(practice) }
      return planTreatment(desk, patient, random.pick(repairs), common) !== null
    },
  },
  {
    name: 'treatment_corrected',
    weight: 2,
    happen: (desk) => {
      const { practice, random } = desk
      const treatment = someOf(related(practice, 'treatments', 'status', 'planned'), random, () => true)
      if (treatment === null) return false
      const change = random.pick([
        { feeCents: treatment.feeCents + random.whole(1, 20) * 50 },
        { priorityKey: wordOf(desk, 'priority').key },
        { discountCents: random.pick([0, 500, 1500]) },
      ])
      return desk.change('treatments', treatment, change) !== treatment
    },
  },
  {
    name: 'treatment_removed',
    weight: 1,
    happen: (desk) => {
      const { practice, random } = desk
      if (isGrown(practice, related(practice, 'treatments', 'status', 'deleted').length, 1)) return false
      const treatment = someOf(related(practice, 'treatments', 'status', 'planned'), random, () => true)
      return treatment !== null && deleteTreatment(desk, treatment)
    },
  },
] as const satisfies readonly Happening[]

/** Treatments that wait in the plan, of one provider; without any, a cleaning. At the first free time from some day on. */
function book(desk: Desk): boolean {
  const { practice, random } = desk
  if (isGrown(practice, related(practice, 'appointments', 'status', 'scheduled').length, 0.9)) return false
  const patient = someOf(practice.patients, random, (each) => isActive(each) || each.status === 'prospective')
  if (patient === null) return false
  const waiting = related(practice, 'treatments', 'patient', patient.key).filter(isLoose)
  const first = waiting[0]
  const from = addDays(todayIn(practice), random.pick([0, 0, 1, 3, 10, 30, 90]))
  if (first !== undefined && random.chance(0.8)) {
    const treatments = waiting.filter((each) => each.providerKey === first.providerKey).slice(0, 3)
    const worker = practice.providers.get(first.providerKey)
    if (worker === undefined) return false
    const minutes = minutesFor(treatments)
    const startsAt = findSlot(practice, random, {
      provider: worker,
      patientKey: patient.key,
      minutes,
      from,
      after: nowIn(practice),
    })
    if (startsAt === null) return false
    bookVisit(desk, patient, treatments, {
      worker,
      startsAt,
      minutes,
      locationKey: worker.locationKey ?? patient.locationKey,
    })
    return true
  }
  if (isGrown(practice, related(practice, 'treatments', 'status', 'planned').length, 4)) return false
  const worker = random.pick(providersAt(practice, patient.locationKey, true))
  const startsAt = findSlot(practice, random, {
    provider: worker,
    patientKey: patient.key,
    minutes: 50,
    from,
    after: nowIn(practice),
  })
  if (startsAt === null) return false
  const isNewPatient = patient.firstVisitOn === null
  const locationKey = worker.locationKey ?? patient.locationKey
  const common = { provider: worker, locationKey, on: todayIn(practice) }
  const treatments = hygieneCodes(desk, patient, common.on, isNewPatient).flatMap(
    (code) => planTreatment(desk, patient, code, common) ?? [],
  )
  bookVisit(desk, patient, treatments, { worker, startsAt, minutes: 50, isNewPatient, locationKey })
  return true
}

/** Another time with the same people. */
function move(desk: Desk): boolean {
  const { practice, random } = desk
  const visit = coming(desk)
  const provider = practice.providers.get((visit?.isHygiene ? visit.hygienistKey : visit?.providerKey) ?? '')
  if (visit === null || provider === undefined) return false
  const from = addDays(todayIn(practice), random.whole(1, 30))
  const { patientKey, minutes } = visit
  const startsAt = findSlot(practice, random, { provider, patientKey, minutes, from, after: nowIn(practice) })
  if (startsAt === null) return false
  desk.change('appointments', visit, { startsAt })
  return true
}

/** A visit that is booked and has not begun. */
function coming(desk: Desk, suits: (visit: Appointment) => boolean = () => true): Appointment | null {
  const { practice, random } = desk
  const visits = related(practice, 'appointments', 'status', 'scheduled')
  return someOf(visits, random, (visit) => visit.arrivedAt === null && suits(visit))
}

function wordAt({ practice }: Desk, visit: Appointment): string {
  return practice.definitions.get(visit.confirmationKey ?? '')?.name ?? ''
}

function isLoose(treatment: { status: string; appointmentKey: string | null; plannedAppointmentKey: string | null }) {
  return treatment.status === 'planned' && treatment.appointmentKey === null && treatment.plannedAppointmentKey === null
}
