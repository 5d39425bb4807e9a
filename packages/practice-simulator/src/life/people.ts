import { related } from '../indexes.ts'
import { inventedName, postalCode, streetAddress } from '../names.ts'
import { type Practice, todayIn } from '../practice.ts'
import type { Random } from '../random.ts'
import type { Patient } from '../rows/people.ts'
import type { InsurancePlan } from '../rows.ts'
import { addDays } from '../wall-time.ts'
import type { Desk } from './desk.ts'
import { providersAt, wordOf } from './staff.ts'

const firstNames = [
  'Ada',
  'Ben',
  'Cleo',
  'Dario',
  'Elin',
  'Farid',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Kaya',
  'Leon',
  'Mira',
  'Noah',
  'Olga',
  'Pablo',
  'Quinn',
  'Rosa',
  'Samir',
  'Tova',
  'Uma',
  'Viktor',
  'Wanda',
  'Xenia',
  'Yusuf',
  'Zoë',
  'Łucja',
  'Seán',
] as const

/** A family that comes to the practice: a guarantor, often with a partner and children, insured together or not at all. */
export function addFamily(desk: Desk, locationKey: string | null, joinedOn: string, sizeMax = 6): Patient[] {
  const { random } = desk
  const home = newHome(desk)
  const lastName = inventedName(random)
  const size = Math.min(sizeMax, random.pick([1, 1, 2, 2, 3, 4, 5]))
  const guarantor = addPerson(desk, { ...home, lastName, locationKey, joinedOn, age: random.whole(22, 78) })
  const family = [guarantor]
  for (let n = 1; n < size; n++) {
    const isPartner = n === 1 && random.chance(0.75)
    const age = isPartner ? Math.max(20, ageOf(guarantor, joinedOn) + random.whole(-6, 6)) : random.whole(2, 17)
    const name = random.chance(0.9) ? lastName : inventedName(random)
    family.push(addPerson(desk, { ...home, lastName: name, locationKey, joinedOn, age }, guarantor.key))
  }
  insure(desk, family, joinedOn)
  return family
}

export type Home = Pick<Patient, 'addressLine1' | 'addressLine2' | 'city' | 'state' | 'postalCode' | 'homePhone'>

export function newHome({ practice, random }: Desk): Home {
  return {
    addressLine1: streetAddress(random),
    addressLine2: random.chance(0.2) ? `Apt ${random.whole(1, 60)}` : '',
    city: inventedName(random),
    state: practice.organization.state,
    postalCode: postalCode(random),
    homePhone: random.chance(0.5) ? phone(random) : '',
  }
}

/** Seven digits after the area: 555-01xx is kept for fiction. */
export function phone(random: Random): string {
  return `(${random.whole(201, 989)})555-01${String(random.whole(0, 99)).padStart(2, '0')}`
}

export function firstName(random: Random): string {
  return random.pick(firstNames)
}

export function emailOf(person: { firstName: string; lastName: string }, random: Random): string {
  const plain = (text: string) =>
    text
      .normalize('NFD')
      .replace(/[^A-Za-z]/g, '')
      .toLowerCase() || 'x'
  return `${plain(person.firstName)}.${plain(person.lastName)}${random.whole(1, 99)}@example.com`
}

export function ageOf(patient: Patient, on: string): number {
  return Number(on.slice(0, 4)) - Number((patient.bornOn ?? on).slice(0, 4))
}

function addPerson(
  desk: Desk,
  details: Home & { lastName: string; locationKey: string | null; joinedOn: string; age: number },
  guarantorKey?: string,
): Patient {
  const { practice, random } = desk
  const { age, joinedOn, ...home } = details
  const isAdult = age >= 18
  const name = firstName(random)
  const person = desk.add('patients', {
    ...home,
    title: titleOf(home.lastName, age),
    firstName: name,
    middleName: random.chance(0.3) ? random.pick(['A', 'J', 'M', 'R.']) : '',
    preferredName: random.chance(0.1) ? name.slice(0, 2) : '',
    bornOn: random.chance(0.02) ? null : addDays(joinedOn, -(age * 365.25 + random.whole(1, 360)) | 0),
    gender: random.chance(0.04) ? random.pick(['unknown', 'other'] as const) : random.pick(['male', 'female'] as const),
    status: 'patient',
    guarantorKey: guarantorKey ?? '',
    workPhone: isAdult && random.chance(0.3) ? phone(random) : '',
    mobilePhone: isAdult && random.chance(0.85) ? phone(random) : '',
    email: isAdult && random.chance(0.8) ? emailOf({ firstName: name, lastName: home.lastName }, random) : '',
    chartNumber: random.chance(0.15) ? `C${random.whole(1000, 999_999)}` : '',
    providerKey: random.chance(0.95) ? random.pick(providersAt(practice, details.locationKey, false)).key : null,
    billingTypeKey: random.chance(0.95) ? wordOf(desk, 'billing_type', 'Standard account').key : null,
    language: random.chance(0.06) ? random.pick(['spa', 'fra', 'vie']) : '',
    contactMethod: random.chance(0.7) ? random.pick(['phone', 'sms', 'sms', 'email', 'mail'] as const) : null,
    firstVisitOn: null,
    feeScheduleKey: null,
    balanceCents: 0,
    insuranceEstimateCents: 0,
  })
  return guarantorKey === undefined ? desk.change('patients', person, { guarantorKey: person.key }) : person
}

/** Few offices enter titles, and those that do enter them for some adults. Not drawn: everything else would be drawn otherwise. */
function titleOf(lastName: string, age: number): string {
  return age >= 18 ? (titles[lastName.length % titles.length] ?? '') : ''
}

const titles = ['', 'Dr.', '', 'Mrs.', '', '', '', 'Mr.']

/** Two families of three have a plan, held by the guarantor; some a second one, held by the partner. */
function insure(desk: Desk, family: readonly Patient[], from: string): void {
  const { random } = desk
  const [guarantor, partner] = family
  if (guarantor === undefined || !random.chance(0.66)) return
  const plan = pickPlan(desk, guarantor)
  if (plan === null) return
  subscribe(desk, plan, guarantor, family, 1, from)
  if (partner === undefined || !random.chance(0.12)) return
  const second = pickPlan(desk, guarantor)
  if (second !== null && second.key !== plan.key) subscribe(desk, second, partner, family, 2, from)
}

/** A plan that a patient of this location may have. */
export function pickPlan({ practice, random }: Desk, patient: Patient): InsurancePlan | null {
  const plans = [...practice.insurancePlans.values()].filter(
    (plan) =>
      !plan.isHidden && !plan.isMedical && (plan.locationKey === null || plan.locationKey === patient.locationKey),
  )
  return plans.length === 0 ? null : random.pick(plans)
}

export function subscribe(
  desk: Desk,
  plan: InsurancePlan,
  subscriber: Patient,
  covered: readonly Patient[],
  ordinal: number,
  from: string,
): void {
  const { random } = desk
  const subscription = desk.add('subscriptions', {
    planKey: plan.key,
    subscriberKey: subscriber.key,
    memberId: `M${random.whole(100_000, 999_999)}`,
    effectiveOn: from,
    endsOn: random.chance(0.06) ? addDays(from, random.whole(90, 900)) : random.chance(0.3) ? '2099-12-31' : null,
  })
  for (const patient of covered) {
    const relationship =
      patient.key === subscriber.key ? 'self' : ageOf(patient, from) >= 18 ? 'spouse' : ('child' as const)
    desk.add('coverages', { patientKey: patient.key, subscriptionKey: subscription.key, ordinal, relationship })
  }
}

/**
 * What of a patient's cover is in force, by its place (1: primary, 2: secondary): the order of the ordinals counts, so one that is alone is primary
 * whatever its ordinal, and one that ended keeps its place, as in Open Dental (PatPlans.GetOrdinal).
 */
export function coverOf(practice: Practice, patientKey: string, place: number, on = todayIn(practice)) {
  const inForce = [...related(practice, 'coverages', 'patient', patientKey)]
    .toSorted((one, other) => one.ordinal - other.ordinal)
    .map((coverage) => {
      const subscription = practice.subscriptions.get(coverage.subscriptionKey)
      const plan = subscription && practice.insurancePlans.get(subscription.planKey)
      const hasEnded = subscription?.endsOn != null && subscription.endsOn < on
      return plan && !hasEnded ? { subscription, plan } : null
    })
  return inForce[place - 1] ?? null
}
