import { related } from '../indexes.ts'
import type { Payment } from '../rows/money.ts'
import type { Patient } from '../rows/people.ts'
import { addDays } from '../wall-time.ts'
import { openTreatments } from './account.ts'
import type { Desk } from './desk.ts'
import { wordOf } from './staff.ts'

/** The patient pays what is open, oldest first: all of it, or up to so much. Null when nothing is. */
export function payOpen(desk: Desk, patient: Patient, on: string, centsMax = Number.POSITIVE_INFINITY): Payment | null {
  const { practice, random } = desk
  let left = centsMax
  const parts = openTreatments(practice, patient.key).flatMap(({ treatment, cents }) => {
    const part = Math.min(cents, left)
    left -= part
    return part > 0 ? [{ treatment, cents: part }] : []
  })
  const first = parts[0]
  if (first === undefined) return null
  const type = wordOf(desk, 'payment_type')
  const payment = desk.add('payments', {
    patientKey: patient.guarantorKey,
    locationKey: first.treatment.locationKey,
    typeKey: type.key,
    paidOn: on,
    amountCents: parts.reduce((sum, { cents }) => sum + cents, 0),
    checkNumber: type.name === 'Check' ? String(random.whole(100, 9999)) : '',
  })
  for (const { treatment, cents } of parts) {
    desk.add('splits', {
      paymentKey: payment.key,
      patientKey: patient.key,
      providerKey: treatment.providerKey,
      locationKey: treatment.locationKey,
      treatmentKey: treatment.key,
      paymentPlanKey: null,
      unearnedTypeKey: null,
      amountCents: cents,
      paidOn: on,
    })
  }
  return payment
}

/** Money for no treatment in particular: a prepayment, an instalment of a plan, a mistake that will be refunded. */
export function payAhead(
  desk: Desk,
  patient: Patient,
  on: string,
  amountCents: number,
  kind: { paymentPlanKey?: string; isHidden?: boolean; isPrepayment?: boolean } = {},
): Payment {
  const { practice, random } = desk
  const type = wordOf(desk, 'payment_type')
  const unearned = kind.isHidden ? 'Prepayment of planned care' : kind.isPrepayment ? 'Prepayment' : null
  const payment = desk.add('payments', {
    patientKey: patient.guarantorKey,
    locationKey: patient.locationKey,
    typeKey: type.key,
    paidOn: on,
    amountCents,
    checkNumber: '',
  })
  desk.add('splits', {
    paymentKey: payment.key,
    patientKey: patient.key,
    providerKey: patient.providerKey ?? random.pick([...practice.providers.keys()]),
    locationKey: patient.locationKey,
    treatmentKey: null,
    paymentPlanKey: kind.paymentPlanKey ?? null,
    unearnedTypeKey: unearned === null ? null : wordOf(desk, 'unearned_type', unearned).key,
    amountCents,
    paidOn: on,
  })
  return payment
}

/** Moves money of a payment from one provider's books to another's: two splits that add up to nothing. */
export function transferIncome(desk: Desk, patient: Patient, on: string): boolean {
  const { practice, random } = desk
  const split = related(practice, 'splits', 'patient', patient.key).find((each) => each.amountCents > 0)
  if (split === undefined) return false
  const others = [...practice.providers.keys()].filter((key) => key !== split.providerKey)
  if (others.length === 0) return false
  const { patientKey, locationKey } = split
  const payment = desk.add('payments', {
    patientKey: patient.guarantorKey,
    locationKey,
    typeKey: null,
    paidOn: on,
    amountCents: 0,
    checkNumber: '',
  })
  const common = {
    paymentKey: payment.key,
    patientKey,
    locationKey,
    treatmentKey: null,
    unearnedTypeKey: null,
    paidOn: on,
  }
  const cents = Math.min(split.amountCents, 5000)
  desk.add('splits', { ...common, paymentPlanKey: null, providerKey: split.providerKey, amountCents: -cents })
  desk.add('splits', { ...common, paymentPlanKey: null, providerKey: random.pick(others), amountCents: cents })
  return true
}

/** Splits go with their payment. */
export function deletePayment(desk: Desk, payment: Payment): void {
  for (const split of related(desk.practice, 'splits', 'payment', payment.key)) desk.remove('splits', split)
  desk.remove('payments', payment)
}

/** What is open is taken off the account and put back month by month. Null when too little is open. */
export function startPaymentPlan(desk: Desk, patient: Patient, on: string, centsMin = 25_000): string | null {
  const { practice, random } = desk
  const open = openTreatments(practice, patient.key)
  const principalCents = open.reduce((sum, { cents }) => sum + cents, 0)
  if (principalCents < centsMin) return null
  const { guarantorKey, key: patientKey } = patient
  const plan = desk.add('paymentPlans', { patientKey, guarantorKey, startsOn: on, principalCents })
  for (const { treatment, cents } of open) {
    desk.add('planCharges', {
      paymentPlanKey: plan.key,
      patientKey,
      guarantorKey,
      locationKey: treatment.locationKey,
      providerKey: treatment.providerKey,
      treatmentKey: treatment.key,
      kind: 'credit',
      chargeOn: on,
      principalCents: cents,
      interestCents: 0,
    })
  }
  const months = random.pick([6, 9, 12])
  const rate = Math.floor(principalCents / months)
  const providerKey = open[0]?.treatment.providerKey ?? random.pick([...practice.providers.keys()])
  for (let n = 0; n < months; n++) {
    desk.add('planCharges', {
      paymentPlanKey: plan.key,
      patientKey,
      guarantorKey,
      locationKey: open[0]?.treatment.locationKey ?? patient.locationKey,
      providerKey,
      treatmentKey: null,
      kind: 'debit',
      chargeOn: addDays(on, 30 * (n + 1)),
      principalCents: n < months - 1 ? rate : principalCents - rate * (months - 1),
      interestCents: random.chance(0.5) ? 150 : 0,
    })
  }
  return plan.key
}

/** Something is let off, or a fee added. */
export function adjust(desk: Desk, patient: Patient, on: string): void {
  const { random } = desk
  const isFee = random.chance(0.35)
  const open = openTreatments(desk.practice, patient.key)[0]
  const type = isFee
    ? wordOf(desk, 'adjustment_type', random.pick(['Late fee', 'Returned check fee']))
    : wordOf(desk, 'adjustment_type', random.pick(['Courtesy discount', 'Small balance']))
  const amountCents = isFee
    ? random.pick([1500, 2500, 3500])
    : -Math.max(1, Math.min(open?.cents ?? 500, random.whole(100, 6000)))
  desk.add('adjustments', {
    patientKey: patient.key,
    locationKey: isFee ? patient.locationKey : (open?.treatment.locationKey ?? patient.locationKey),
    providerKey: open?.treatment.providerKey ?? patient.providerKey ?? random.pick([...desk.practice.providers.keys()]),
    treatmentKey: isFee ? null : (open?.treatment.key ?? null),
    typeKey: type.key,
    amountCents,
    adjustedOn: on,
  })
}
