import { related } from '../indexes.ts'
import { type Practice, todayIn } from '../practice.ts'
import type { Treatment } from '../rows/care.ts'
import type { ClaimLine, PlanCharge, Split } from '../rows/money.ts'
import type { Desk } from './desk.ts'

export function chargeOf(treatment: Treatment): number {
  return treatment.feeCents * treatment.quantity
}

/** Insurance has decided: its payment and write-off count, once the treatment is done. */
export function isSettled(practice: Practice, line: ClaimLine): boolean {
  if (line.status !== 'received' && line.status !== 'supplemental') return false
  return line.treatmentKey === null || practice.treatments.get(line.treatmentKey)?.status === 'complete'
}

/** A prepayment of a hidden kind does not change the balance. */
export function movesBalance(practice: Practice, split: Split): boolean {
  return (practice.definitions.get(split.unearnedTypeKey ?? '')?.value ?? '') === ''
}

export function isDue(practice: Practice, charge: PlanCharge): boolean {
  return charge.chargeOn <= todayIn(practice)
}

/** A plan's debits are the guarantor's, its credits the patient's. */
export function holderOf(charge: PlanCharge): string {
  return charge.kind === 'debit' ? charge.guarantorKey : charge.patientKey
}

export function signedCents(charge: PlanCharge): number {
  return charge.kind === 'debit' ? charge.principalCents + charge.interestCents : -charge.principalCents
}

/** What one patient's part of the account adds up to. */
export function balanceOf(practice: Practice, patientKey: string): number {
  let cents = 0
  for (const treatment of related(practice, 'treatments', 'patient', patientKey)) {
    if (treatment.status === 'complete') cents += chargeOf(treatment)
  }
  for (const row of related(practice, 'adjustments', 'patient', patientKey)) cents += row.amountCents
  for (const split of related(practice, 'splits', 'patient', patientKey)) {
    if (movesBalance(practice, split)) cents -= split.amountCents
  }
  for (const line of related(practice, 'claimLines', 'patient', patientKey)) {
    if (isSettled(practice, line)) cents -= line.paidCents + line.writeOffCents
  }
  for (const charge of chargesOf(practice, patientKey)) if (isDue(practice, charge)) cents += signedCents(charge)
  return cents
}

/** The payment plans' lines that stand on this patient's account. */
export function chargesOf(practice: Practice, patientKey: string): PlanCharge[] {
  return [
    ...related(practice, 'planCharges', 'patient', patientKey).filter((charge) => charge.kind === 'credit'),
    ...related(practice, 'planCharges', 'guarantor', patientKey).filter((charge) => charge.kind === 'debit'),
  ]
}

/** The part of a completed treatment's fee that is unpaid, less the insurance estimate. */
export function openCents(practice: Practice, treatment: Treatment): number {
  if (treatment.status !== 'complete') return 0
  let cents = chargeOf(treatment)
  for (const row of related(practice, 'adjustments', 'treatment', treatment.key)) cents += row.amountCents
  for (const split of related(practice, 'splits', 'treatment', treatment.key)) cents -= split.amountCents
  for (const charge of related(practice, 'planCharges', 'treatment', treatment.key)) cents += signedCents(charge)
  for (const line of related(practice, 'claimLines', 'treatment', treatment.key)) {
    cents -= line.status === 'sent' ? line.estimateCents + line.writeOffCents : line.paidCents + line.writeOffCents
  }
  return cents
}

export function openTreatments(practice: Practice, patientKey: string): { treatment: Treatment; cents: number }[] {
  return related(practice, 'treatments', 'patient', patientKey)
    .map((treatment) => ({ treatment, cents: openCents(practice, treatment) }))
    .filter(({ cents }) => cents > 0)
}

/** The software counts balances when somebody opens the account: each patient's own, and the family's insurance estimate with the guarantor. */
export function openAccount(desk: Desk, guarantorKey: string): void {
  const { practice } = desk
  const family = related(practice, 'patients', 'guarantor', guarantorKey)
  const expected = family
    .flatMap((patient) => related(practice, 'claimLines', 'patient', patient.key))
    .filter((line) => line.status === 'sent')
    .reduce((sum, line) => sum + line.estimateCents, 0)
  for (const patient of family) {
    desk.change('patients', patient, {
      balanceCents: balanceOf(practice, patient.key),
      insuranceEstimateCents: patient.key === guarantorKey ? expected : 0,
    })
  }
}

/** As `openAccount`, of the family that a patient is in. */
export function openAccountOf(desk: Desk, patientKey: string): void {
  openAccount(desk, desk.practice.patients.get(patientKey)?.guarantorKey ?? patientKey)
}
