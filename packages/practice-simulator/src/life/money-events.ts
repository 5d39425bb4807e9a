import { related } from '../indexes.ts'
import { todayIn } from '../practice.ts'
import { openAccountOf, openTreatments } from './account.ts'
import type { Desk } from './desk.ts'
import { anyOf, anyPatient, type Happening, isActive, isGrown, someOf } from './happening.ts'
import { receiveClaim, supplement } from './insurance.ts'
import { adjust, deletePayment, payAhead, payOpen, startPaymentPlan, transferIncome } from './payments.ts'
import { wordOf } from './staff.ts'

export const moneyEvents = [
  {
    name: 'payment_made',
    weight: 4,
    happen: (desk) => {
      const { practice, random } = desk
      const patient = someOf(practice.patients, random, (each) => openTreatments(practice, each.key).length > 0)
      if (patient === null) return false
      const max = random.chance(0.4) ? random.whole(20, 200) * 100 : Number.POSITIVE_INFINITY
      return counted(desk, patient.key, payOpen(desk, patient, todayIn(practice), max) !== null)
    },
  },
  {
    name: 'insurance_paid',
    weight: 3,
    happen: (desk) => {
      const { practice, random } = desk
      const claim = someOf(
        related(practice, 'claims', 'status', 'sent'),
        random,
        (each) => each.sentOn < todayIn(practice),
      )
      if (claim === null) return false
      receiveClaim(desk, claim, todayIn(practice))
      return counted(desk, claim.patientKey, true)
    },
  },
  {
    name: 'insurance_paid_more',
    weight: 1,
    happen: (desk) => {
      const claim = anyOf(desk.practice.claims, desk.random)
      if (claim === null || claim.status !== 'received') return false
      return counted(desk, claim.patientKey, supplement(desk, claim, todayIn(desk.practice)))
    },
  },
  {
    name: 'adjustment_made',
    weight: 1,
    happen: (desk) => {
      const { practice } = desk
      const patient = anyPatient(desk)
      if (patient === null || isGrown(practice, practice.adjustments.size, 1)) return false
      adjust(desk, patient, todayIn(practice))
      return counted(desk, patient.key, true)
    },
  },
  {
    name: 'adjustment_removed',
    weight: 0.7,
    happen: (desk) => {
      const row = anyOf(desk.practice.adjustments, desk.random)
      if (row === null) return false
      desk.remove('adjustments', row)
      return counted(desk, row.patientKey, true)
    },
  },
  {
    name: 'payment_corrected',
    weight: 0.8,
    happen: (desk) => {
      const payment = someOf(desk.practice.payments, desk.random, (each) => each.typeKey !== null)
      if (payment === null) return false
      const type = wordOf(desk, 'payment_type')
      const checkNumber = type.name === 'Check' ? String(desk.random.whole(100, 9999)) : ''
      return desk.change('payments', payment, { typeKey: type.key, checkNumber }) !== payment
    },
  },
  {
    name: 'payment_removed',
    weight: 0.5,
    happen: (desk) => {
      const payment = anyOf(desk.practice.payments, desk.random)
      if (payment === null) return false
      const patients = new Set(
        related(desk.practice, 'splits', 'payment', payment.key).map((split) => split.patientKey),
      )
      deletePayment(desk, payment)
      for (const key of patients) openAccountOf(desk, key)
      return true
    },
  },
  {
    name: 'payment_prepaid',
    weight: 0.3,
    happen: (desk) => {
      const patient = anyPatient(desk)
      const { practice, random } = desk
      if (patient === null || patient.balanceCents < 0 || isGrown(practice, practice.splits.size, 6)) return false
      payAhead(desk, patient, todayIn(practice), random.whole(10, 90) * 100, {
        isPrepayment: true,
        isHidden: random.chance(0.2),
      })
      return counted(desk, patient.key, true)
    },
  },
  {
    name: 'payment_refunded',
    weight: 0.6,
    happen: (desk) => {
      const { practice, random } = desk
      const patient = someOf(practice.patients, random, (each) => each.balanceCents < 0)
      if (patient === null) return false
      payAhead(desk, patient, todayIn(practice), patient.balanceCents)
      return counted(desk, patient.key, true)
    },
  },
  {
    name: 'income_transferred',
    weight: 0.3,
    happen: (desk) => {
      const patient = anyPatient(desk)
      if (patient === null || isGrown(desk.practice, desk.practice.splits.size, 6)) return false
      return counted(desk, patient.key, transferIncome(desk, patient, todayIn(desk.practice)))
    },
  },
  {
    name: 'payment_plan_started',
    weight: 0.3,
    happen: (desk) => {
      const { practice, random } = desk
      if (isGrown(practice, practice.paymentPlans.size, 0.2)) return false
      // Those who owe much are few, and it is they who ask for a plan.
      const enough = 15_000
      const patient = someOf(
        practice.patients,
        random,
        (each) =>
          isActive(each) && openTreatments(practice, each.key).reduce((sum, { cents }) => sum + cents, 0) >= enough,
      )
      if (patient === null) return false
      return counted(desk, patient.key, startPaymentPlan(desk, patient, todayIn(practice), enough) !== null)
    },
  },
  {
    name: 'instalment_paid',
    weight: 0.8,
    happen: (desk) => {
      const { practice, random } = desk
      const plan = anyOf(practice.paymentPlans, random)
      if (plan === null) return false
      const due = related(practice, 'planCharges', 'paymentPlan', plan.key).filter(
        (charge) => charge.kind === 'debit' && charge.chargeOn <= todayIn(practice),
      )
      const paid = related(practice, 'splits', 'paymentPlan', plan.key).length
      const next = due[paid]
      const payer = practice.patients.get(next?.guarantorKey ?? '')
      if (next === undefined || payer === undefined) return false
      const cents = next.principalCents + next.interestCents
      payAhead(desk, payer, todayIn(practice), cents, { paymentPlanKey: plan.key })
      return counted(desk, payer.key, true)
    },
  },
] as const satisfies readonly Happening[]

/** The person who enters money looks at the account afterwards. */
function counted(desk: Desk, patientKey: string, isDone: boolean): boolean {
  if (isDone) openAccountOf(desk, patientKey)
  return isDone
}
