import { related } from '../indexes.ts'
import { nowIn, todayIn } from '../practice.ts'
import type { Appointment, Treatment } from '../rows/care.ts'
import type { Patient } from '../rows/people.ts'
import { addDays, addMinutes, daysBetween } from '../wall-time.ts'
import { openAccount, openTreatments } from './account.ts'
import type { Desk } from './desk.ts'
import { answeredOn, receiveClaim } from './insurance.ts'
import { adjust, deletePayment, payAhead, payOpen, startPaymentPlan, transferIncome } from './payments.ts'
import { addFamily } from './people.ts'
import { referIn, referOut } from './referrals.ts'
import { findSlot } from './schedule.ts'
import { providersAt, typeOf, wordOf } from './staff.ts'
import {
  bookVisit,
  breakVisit,
  completeVisit,
  deleteTreatment,
  hygieneCodes,
  minutesFor,
  planTreatment,
  recallDay,
  repairs,
} from './visits.ts'

/** Families who joined in the last years, and everything that has happened to them until now. */
export function addHistory(desk: Desk, locationKey: string | null, patients: number, years: number): void {
  const { practice, random } = desk
  const today = todayIn(practice)
  const guarantors = new Set<string>()
  for (let left = patients; left > 0; ) {
    const joinedOn = addDays(today, -random.whole(10, Math.max(30, Math.round(years * 365))))
    const family = addFamily(desk, locationKey, joinedOn, left)
    left -= family.length
    for (const member of family) {
      if (random.chance(0.6)) referIn(desk, member, joinedOn)
      liveThrough(desk, member, joinedOn)
      guarantors.add(member.guarantorKey)
    }
  }
  for (const key of guarantors) openAccount(desk, key)
}

function liveThrough(desk: Desk, patient: Patient, joinedOn: string): void {
  const { practice, random } = desk
  const today = todayIn(practice)
  const status = random.next()
  if (status < 0.03) {
    desk.change('patients', patient, { status: random.pick(['non_patient', 'prospective'] as const) })
    return
  }
  let [day, isNew] = [addDays(joinedOn, random.whole(0, 20)), true]
  for (;;) {
    const visit = bookHygiene(desk, patient, day, isNew)
    if (visit === null || visit.startsAt === null) break
    const on = visit.startsAt.slice(0, 10)
    if (on >= today) break
    if (random.chance(0.07)) {
      breakVisit(desk, visit, random.pick(['missed', 'cancelled', null] as const))
      forget(desk, patient)
      day = addDays(on, random.whole(7, 40))
      continue
    }
    keepVisit(desk, visit, patient)
    if (isNew) chartWhatIsThere(desk, patient, visit)
    isNew = false
    if (random.chance(0.4)) repair(desk, patient, visit)
    if (random.chance(0.07)) break
    day = recallDay(desk, on)
  }
  leave(desk, patient, status)
  settle(desk, patient)
}

/** A hygiene visit, one in ten at another location than the patient's own. None more than half a year ahead. */
function bookHygiene(desk: Desk, patient: Patient, from: string, isNew: boolean): Appointment | null {
  const { practice, random } = desk
  const today = todayIn(practice)
  if (daysBetween(today, from) > 180) return null
  const elsewhere = random.chance(0.1) ? random.pick([...practice.locations.keys(), null]) : patient.locationKey
  const worker = random.pick(providersAt(practice, elsewhere ?? patient.locationKey, true))
  const minutes = isNew ? 60 : random.pick([40, 50, 60])
  const startsAt = findSlot(practice, random, {
    provider: worker,
    patientKey: patient.key,
    minutes,
    from,
    after: from > today ? '' : from === today ? nowIn(practice) : '',
  })
  if (startsAt === null) return null
  const on = startsAt.slice(0, 10)
  // Between a past wish and a slot in the future lies a time in which nobody could book: such a visit begins from now on.
  if (on === today && startsAt <= nowIn(practice)) return null
  const plannedOn = on > today ? addDays(today, -random.whole(0, 30)) : addDays(on, -random.whole(0, 5))
  const codes = hygieneCodes(desk, patient, plannedOn, isNew)
  const treatments = codes.flatMap(
    (code) =>
      planTreatment(desk, patient, code, {
        provider: worker,
        locationKey: worker.locationKey ?? patient.locationKey,
        on: plannedOn,
      }) ?? [],
  )
  return bookVisit(desk, patient, treatments, {
    worker,
    startsAt,
    minutes,
    isNewPatient: isNew,
    locationKey: worker.locationKey ?? patient.locationKey,
    note: random.chance(0.08) ? 'Asked to be reminded the day before.' : '',
  })
}

/** The recall's treatments were for that visit alone: with it they go out of the plan. */
function forget(desk: Desk, patient: Patient): void {
  for (const treatment of related(desk.practice, 'treatments', 'patient', patient.key)) {
    if (treatment.status === 'planned' && treatment.appointmentKey === null) deleteTreatment(desk, treatment)
  }
}

function keepVisit(desk: Desk, visit: Appointment, patient: Patient): void {
  const { random, practice } = desk
  const today = todayIn(practice)
  const on = (visit.startsAt ?? '').slice(0, 10)
  completeVisit(desk, visit, addMinutes(visit.startsAt ?? '', visit.minutes + random.whole(-5, 10)))
  if (random.chance(0.6)) payOpen(desk, patient, on)
  for (const claim of related(practice, 'claims', 'patient', patient.key)) {
    const answered = answeredOn(desk, claim)
    if (claim.status === 'sent' && answered <= today) receiveClaim(desk, claim, answered)
  }
  const statementOn = addDays(on, random.whole(30, 70))
  if (statementOn > today || openTreatments(practice, patient.key).length === 0) return
  const next = random.next()
  if (next < 0.12) payInstalments(desk, patient, startPaymentPlan(desk, patient, statementOn), today)
  else if (next < 0.8) payOpen(desk, patient, statementOn)
  else if (next < 0.88) adjust(desk, patient, statementOn)
}

function payInstalments(desk: Desk, patient: Patient, plan: string | null, today: string): void {
  if (plan === null) return
  const billing = wordOf(desk, 'billing_type', 'Payment plan').key
  const guarantor = desk.practice.patients.get(patient.guarantorKey)
  if (guarantor) desk.change('patients', guarantor, { billingTypeKey: billing })
  for (const charge of related(desk.practice, 'planCharges', 'paymentPlan', plan)) {
    if (charge.kind !== 'debit' || charge.chargeOn > today || desk.random.chance(0.1)) continue
    const payer = desk.practice.patients.get(charge.guarantorKey) ?? patient
    payAhead(desk, payer, charge.chargeOn, charge.principalCents + charge.interestCents, { paymentPlanKey: plan })
  }
}

/** What a first examination finds: earlier work, conditions, now and then something for a specialist. */
function chartWhatIsThere(desk: Desk, patient: Patient, visit: Appointment): void {
  const { practice, random } = desk
  const provider = practice.providers.get(visit.providerKey)
  if (provider === undefined) return
  const common = { provider, locationKey: visit.locationKey, on: (visit.startsAt ?? '').slice(0, 10) }
  if (random.chance(0.3)) planTreatment(desk, patient, random.pick(repairs), { ...common, status: 'existing_other' })
  if (random.chance(0.05)) planTreatment(desk, patient, random.pick(repairs), { ...common, status: 'existing_current' })
  if (random.chance(0.06)) planTreatment(desk, patient, 'D0140', { ...common, status: 'condition' })
  if (random.chance(0.05)) planTreatment(desk, patient, random.pick(repairs), { ...common, status: 'planned_inactive' })
  if (random.chance(0.1)) {
    const sent = planTreatment(desk, patient, 'D7210', { ...common, status: 'referred_out' })
    referOut(desk, patient, common.on, sent?.key ?? null)
  }
}

/** Something was found: it is planned, and mostly done soon after, by the dentist of the place. */
function repair(desk: Desk, patient: Patient, found: Appointment): void {
  const { practice, random } = desk
  const on = (found.startsAt ?? '').slice(0, 10)
  const provider = random.pick(providersAt(practice, found.locationKey, false))
  const locationKey = provider.locationKey ?? found.locationKey
  const treatments = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }).flatMap(
    () => planTreatment(desk, patient, random.pick(repairs), { provider, locationKey, on }) ?? [],
  )
  const next = random.next()
  if (next < 0.25) return
  if (next < 0.3) {
    planVisit(desk, patient, treatments)
    return
  }
  const today = todayIn(practice)
  const minutes = minutesFor(treatments)
  const from = addDays(on, random.whole(3, 50))
  const after = from >= today ? nowIn(practice) : ''
  const startsAt = findSlot(practice, random, { provider, patientKey: patient.key, minutes, from, after })
  if (startsAt === null || (startsAt.slice(0, 10) === today && startsAt <= nowIn(practice))) return
  const visit = bookVisit(desk, patient, treatments, { worker: provider, startsAt, minutes, locationKey })
  if (startsAt.slice(0, 10) >= today) return
  if (random.chance(0.06)) breakVisit(desk, visit, random.pick(['missed', 'cancelled'] as const))
  else keepVisit(desk, visit, patient)
}

/** A visit without a date: `planned` to be booked, or waiting on the list of those whose date fell through. */
export function planVisit(desk: Desk, patient: Patient, treatments: readonly Treatment[]): Appointment | null {
  const { random } = desk
  const first = treatments[0]
  if (first === undefined) return null
  const isPlanned = random.chance(0.6)
  const visit = desk.add('appointments', {
    patientKey: patient.key,
    locationKey: first.locationKey,
    status: isPlanned ? 'planned' : 'unscheduled',
    broken: null,
    confirmationKey: null,
    operatoryKey: null,
    providerKey: first.providerKey,
    hygienistKey: null,
    isHygiene: false,
    isNewPatient: false,
    typeKey: typeOf(desk.practice, 2),
    startsAt: null,
    minutes: minutesFor(treatments),
    arrivedAt: null,
    seatedAt: null,
    dismissedAt: null,
    note: '',
    createdAt: nowIn(desk.practice),
  })
  for (const treatment of treatments) {
    desk.change(
      'treatments',
      treatment,
      isPlanned ? { plannedAppointmentKey: visit.key } : { appointmentKey: visit.key },
    )
  }
  return visit
}

/** Some move away or die; none of them has a visit to come. */
function leave(desk: Desk, patient: Patient, status: number): void {
  const { practice, random } = desk
  const hasVisit = related(practice, 'appointments', 'patient', patient.key).some(
    (visit) => visit.status === 'scheduled',
  )
  if (hasVisit || status > 0.2) return
  desk.change('patients', patient, { status: random.pick(['inactive', 'inactive', 'archived', 'deceased'] as const) })
}

/** Loose ends that every practice has: money paid too much and common back, prepaid, moved, entered twice. */
function settle(desk: Desk, patient: Patient): void {
  const { practice, random } = desk
  const today = todayIn(practice)
  const on = addDays(today, -random.whole(1, 120))
  const chance = random.next()
  if (chance < 0.02) {
    payAhead(desk, patient, on, 4000)
    payAhead(desk, patient, addDays(on, 1), -4000)
  } else if (chance < 0.04) payAhead(desk, patient, on, random.whole(20, 150) * 100, { isPrepayment: true })
  else if (chance < 0.05) payAhead(desk, patient, on, random.whole(20, 150) * 100, { isHidden: true })
  else if (chance < 0.06) payAhead(desk, patient, on, 0)
  else if (chance < 0.08) transferIncome(desk, patient, on)
  else if (chance < 0.1) {
    const payment = payOpen(desk, patient, on)
    if (payment !== null) deletePayment(desk, payment)
  }
  if (random.chance(0.05)) adjust(desk, patient, on)
}
