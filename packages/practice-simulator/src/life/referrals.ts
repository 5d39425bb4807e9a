import { related } from '../indexes.ts'
import { inventedName } from '../names.ts'
import type { Patient, Referral, ReferralSource } from '../rows/people.ts'
import type { Desk } from './desk.ts'
import { wordOf } from './staff.ts'

const campaigns = ['Web search', 'Street sign', 'Radio spot', 'Neighborhood flyer', 'Insurance directory']

/** Doctors nearby and what the practice does to be known. */
export function addReferralSources(desk: Desk): void {
  for (let n = 0; n < 8; n++) addDoctor(desk)
  for (const name of campaigns) {
    desk.add('referralSources', { ...nobody, kind: 'marketing', lastName: name })
  }
  desk.add('referralSources', { ...nobody, kind: 'person', firstName: inventedName(desk.random), lastName: 'Neighbor' })
}

const nobody = { firstName: '', lastName: '', patientKey: null, npi: '', specialtyKey: null }

function addDoctor(desk: Desk): ReferralSource {
  const { random } = desk
  return desk.add('referralSources', {
    kind: 'provider',
    firstName: inventedName(random),
    lastName: inventedName(random),
    patientKey: null,
    // Ten digits beginning with 0: no such number is given out.
    npi: random.chance(0.8) ? `0${random.whole(100_000_000, 999_999_999)}` : '',
    specialtyKey: random.chance(0.8) ? wordOf(desk, 'specialty').key : null,
  })
}

/** How somebody found the practice: through a patient, a doctor or an advertisement. */
export function referIn(desk: Desk, patient: Patient, on: string): Referral | null {
  const { practice, random } = desk
  const chance = random.next()
  const source =
    chance < 0.4
      ? patientSource(desk, patient)
      : chance < 0.65
        ? sourceOf(desk, 'provider')
        : sourceOf(desk, chance < 0.95 ? 'marketing' : 'person')
  if (source === null) return null
  return desk.add('referrals', {
    sourceKey: source.key,
    patientKey: patient.key,
    direction: 'incoming',
    rank: related(practice, 'referrals', 'patient', patient.key).length + 1,
    referredOn: on,
    outcome: 'none',
    treatmentKey: null,
    note: random.chance(0.1) ? 'Asked for evening hours.' : '',
  })
}

/** The practice sends a patient to a specialist. */
export function referOut(desk: Desk, patient: Patient, on: string, treatmentKey: string | null): Referral | null {
  const source = sourceOf(desk, 'provider')
  if (source === null) return null
  return desk.add('referrals', {
    sourceKey: source.key,
    patientKey: patient.key,
    direction: 'outgoing',
    rank: related(desk.practice, 'referrals', 'patient', patient.key).length + 1,
    referredOn: on,
    outcome: desk.random.pick(['none', 'scheduled', 'consulted', 'in_treatment', 'completed'] as const),
    treatmentKey,
    note: '',
  })
}

/** Those after it move up. */
export function removeReferral(desk: Desk, referral: Referral): void {
  desk.remove('referrals', referral)
  for (const other of related(desk.practice, 'referrals', 'patient', referral.patientKey)) {
    if (other.rank > referral.rank) desk.change('referrals', other, { rank: other.rank - 1 })
  }
}

function sourceOf({ practice, random }: Desk, kind: ReferralSource['kind']): ReferralSource | null {
  const all = [...practice.referralSources.values()].filter((source) => source.kind === kind)
  return all.length === 0 ? null : random.pick(all)
}

/** Another patient, of another family. */
function patientSource(desk: Desk, patient: Patient): ReferralSource | null {
  const { practice, random } = desk
  const keys = [...practice.patients.keys()]
  const friend = practice.patients.get(random.pick(keys))
  if (friend === undefined || friend.guarantorKey === patient.guarantorKey || friend.status !== 'patient') return null
  const known = related(practice, 'referralSources', 'patient', friend.key)[0]
  const { firstName, lastName } = friend
  return (
    known ?? desk.add('referralSources', { ...nobody, kind: 'patient', firstName, lastName, patientKey: friend.key })
  )
}
