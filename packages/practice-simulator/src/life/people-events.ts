import { related } from '../indexes.ts'
import { inventedName } from '../names.ts'
import { type Practice, todayIn } from '../practice.ts'
import { type Patient, referralOutcomes } from '../rows/people.ts'
import { openAccount } from './account.ts'
import type { Desk } from './desk.ts'
import { anyOf, anyPatient, type Happening, isActive, isGrown, someOf } from './happening.ts'
import { mergePatients } from './merge.ts'
import { addFamily, emailOf, newHome, phone, pickPlan, subscribe } from './people.ts'
import { referIn, referOut, removeReferral } from './referrals.ts'

export const peopleEvents = [
  {
    name: 'family_added',
    weight: 0.6,
    happen: (desk) => {
      const { practice, random } = desk
      if (isGrown(practice, practice.patients.size, 1)) return false
      const neighbour = anyOf(practice.patients, random)
      const family = addFamily(desk, neighbour?.locationKey ?? null, todayIn(practice), 3)
      for (const member of family) if (random.chance(0.6)) referIn(desk, member, todayIn(practice))
      return true
    },
  },
  {
    name: 'patient_entered_twice',
    weight: 0.3,
    happen: (desk) => {
      const { practice, random } = desk
      const patient = anyPatient(desk)
      if (patient === null || isGrown(practice, practice.patients.size, 1)) return false
      const { key: _, ...content } = patient
      const copy = desk.add('patients', {
        ...content,
        guarantorKey: '',
        email: '',
        homePhone: phone(random),
        chartNumber: '',
        firstVisitOn: null,
        balanceCents: 0,
        insuranceEstimateCents: 0,
      })
      desk.change('patients', copy, { guarantorKey: copy.key })
      return true
    },
  },
  {
    name: 'patients_merged',
    weight: 0.6,
    happen: (desk) => {
      const { practice } = desk
      const twice = findTwice(practice)
      return twice !== null && mergePatients(desk, twice.copy, twice.original)
    },
  },
  {
    name: 'patient_removed',
    weight: 0.4,
    happen: (desk) => {
      const { practice, random } = desk
      const patient = someOf(practice.patients, random, (each) => isBlank(practice, each))
      if (patient === null) return false
      desk.change('patients', patient, { status: 'deleted' })
      return true
    },
  },
  {
    name: 'family_moved',
    weight: 0.8,
    happen: (desk) => {
      const patient = anyPatient(desk)
      if (patient === null) return false
      const { homePhone: _, ...home } = newHome(desk)
      for (const member of related(desk.practice, 'patients', 'guarantor', patient.guarantorKey)) {
        desk.change('patients', member, home)
      }
      return true
    },
  },
  {
    name: 'patient_corrected',
    weight: 2,
    happen: (desk) => {
      const { random } = desk
      const patient = anyPatient(desk)
      if (patient === null) return false
      const change = random.pick([
        { mobilePhone: phone(random) },
        { email: emailOf(patient, random) },
        { lastName: inventedName(random) },
        { preferredName: patient.preferredName === '' ? patient.firstName.slice(0, 3) : '' },
        { contactMethod: random.pick(['phone', 'sms', 'email', null] as const) },
      ])
      return desk.change('patients', patient, change) !== patient
    },
  },
  {
    name: 'patient_left',
    weight: 0.2,
    happen: (desk) => {
      const { practice, random } = desk
      const patient = someOf(practice.patients, random, (each) => isActive(each) && hasNoVisit(practice, each))
      if (patient === null) return false
      desk.change('patients', patient, {
        status: random.pick(['inactive', 'inactive', 'archived', 'deceased'] as const),
      })
      return true
    },
  },
  {
    name: 'patient_returned',
    weight: 0.8,
    happen: (desk) => {
      const { practice, random } = desk
      const patient = someOf(practice.patients, random, (each) => each.status === 'inactive')
      if (patient === null) return false
      desk.change('patients', patient, { status: 'patient' })
      return true
    },
  },
  {
    name: 'cover_added',
    weight: 0.5,
    happen: (desk) => {
      const { practice } = desk
      const patient = anyPatient(desk)
      if (patient === null || isGrown(practice, practice.subscriptions.size, 1)) return false
      const ordinals = related(practice, 'coverages', 'patient', patient.key).map((row) => row.ordinal)
      const plan = pickPlan(desk, patient)
      const ordinal = [1, 2].find((each) => !ordinals.includes(each))
      if (plan === null || ordinal === undefined) return false
      subscribe(desk, plan, patient, [patient], ordinal, todayIn(practice))
      return true
    },
  },
  {
    name: 'cover_dropped',
    weight: 0.3,
    happen: (desk) => {
      const { practice, random } = desk
      const coverage = anyOf(practice.coverages, random)
      if (coverage === null || !isGrown(practice, practice.coverages.size, 0.3)) return false
      for (const line of related(practice, 'claimLines', 'patient', coverage.patientKey)) {
        const isEstimate = line.status === 'estimate' && line.subscriptionKey === coverage.subscriptionKey
        if (isEstimate) desk.remove('claimLines', line)
      }
      desk.remove('coverages', coverage)
      forgetSubscription(desk, coverage.subscriptionKey)
      return true
    },
  },
  {
    name: 'guarantor_changed',
    weight: 0.2,
    happen: (desk) => {
      const { practice, random } = desk
      const patient = someOf(practice.patients, random, (each) => isActive(each) && each.guarantorKey !== each.key)
      if (patient === null) return false
      desk.change('patients', patient, { guarantorKey: patient.key })
      openAccount(desk, patient.guarantorKey)
      openAccount(desk, patient.key)
      return true
    },
  },
  {
    name: 'referral_added',
    weight: 1,
    happen: (desk) => {
      const patient = anyPatient(desk)
      if (patient === null) return false
      const { practice, random } = desk
      if (related(practice, 'referrals', 'patient', patient.key).length > 3) return false
      const referral = random.chance(0.6)
        ? referIn(desk, patient, todayIn(practice))
        : referOut(
            desk,
            patient,
            todayIn(practice),
            related(practice, 'treatments', 'patient', patient.key)[0]?.key ?? null,
          )
      return referral !== null
    },
  },
  {
    name: 'referral_progressed',
    weight: 0.8,
    happen: (desk) => {
      const referral = anyOf(desk.practice.referrals, desk.random)
      if (referral === null) return false
      return desk.change('referrals', referral, { outcome: desk.random.pick(referralOutcomes) }) !== referral
    },
  },
  {
    name: 'referral_removed',
    weight: 0.6,
    happen: (desk) => {
      const referral = anyOf(desk.practice.referrals, desk.random)
      if (referral === null) return false
      removeReferral(desk, referral)
      return true
    },
  },
  {
    name: 'room_renamed',
    weight: 0.2,
    happen: (desk) => {
      const room = anyOf(desk.practice.operatories, desk.random)
      if (room === null) return false
      return desk.change('operatories', room, { name: `Room ${desk.random.whole(1, 40)}` }) !== room
    },
  },
  {
    name: 'word_renamed',
    weight: 0.4,
    happen: (desk) => {
      const word = someOf(desk.practice.definitions, desk.random, ({ category }) =>
        ['billing_type', 'priority', 'adjustment_type', 'specialty'].includes(category),
      )
      if (word === null || wordsInUse.has(word.name)) return false
      return (
        desk.change('definitions', word, { name: `${word.name.split(' (')[0]} (${desk.random.whole(1, 9)})` }) !== word
      )
    },
  },
] as const satisfies readonly Happening[]

/** By these names the simulation itself finds its words. */
const wordsInUse = new Set([
  'Standard account',
  'Payment plan',
  'Courtesy discount',
  'Late fee',
  'Returned check fee',
  'Small balance',
])

/** Merges someone who was entered twice, or else a patient with visits into another one of the location. False when no two may be one. */
export function mergeTwo(desk: Desk): boolean {
  const { practice } = desk
  const twice = findTwice(practice)
  if (twice !== null && mergePatients(desk, twice.copy, twice.original)) return true
  const active = [...practice.patients.values()].filter(isActive)
  return active
    .filter(({ key }) => related(practice, 'appointments', 'patient', key).length > 0)
    .some((from) =>
      active.some(
        (into) => into.key !== from.key && into.locationKey === from.locationKey && mergePatients(desk, from, into),
      ),
    )
}

function findTwice(practice: Practice): { copy: Patient; original: Patient } | null {
  const known = new Map<string, Patient>()
  for (const patient of practice.patients.values()) {
    if (!isActive(patient)) continue
    const person = `${patient.firstName}/${patient.lastName}/${patient.bornOn}`
    const original = known.get(person)
    if (original !== undefined) return { copy: patient, original }
    known.set(person, patient)
  }
  return null
}

/** A subscription that covers nobody and never did pay is deleted. */
function forgetSubscription(desk: Desk, key: string): void {
  const { practice } = desk
  const subscription = practice.subscriptions.get(key)
  const isUsed =
    related(practice, 'coverages', 'subscription', key).length > 0 ||
    related(practice, 'claims', 'subscription', key).length > 0 ||
    related(practice, 'claimLines', 'subscription', key).length > 0
  if (subscription !== undefined && !isUsed) desk.remove('subscriptions', subscription)
}

/** Nothing has ever been done for this patient, and nobody depends on them. */
function isBlank(practice: Practice, patient: Patient): boolean {
  return (
    patient.status !== 'deleted' &&
    patient.balanceCents === 0 &&
    patient.guarantorKey === patient.key &&
    related(practice, 'patients', 'guarantor', patient.key).length === 1 &&
    related(practice, 'subscriptions', 'subscriber', patient.key).length === 0 &&
    related(practice, 'appointments', 'patient', patient.key).length === 0 &&
    related(practice, 'treatments', 'patient', patient.key).length === 0
  )
}

function hasNoVisit(practice: Practice, patient: Patient): boolean {
  return related(practice, 'appointments', 'patient', patient.key).every((visit) => visit.status !== 'scheduled')
}
