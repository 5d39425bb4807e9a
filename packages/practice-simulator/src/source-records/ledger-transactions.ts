import type { RecordOf } from '@bridgework/contract/ingest'
import { related } from '../indexes.ts'
import { chargeOf, holderOf, isDue, isSettled, movesBalance, signedCents } from '../life/account.ts'
import type { Practice } from '../practice.ts'
import type { ClaimLine, PlanCharge, Split } from '../rows/money.ts'
import type { View } from '../view.ts'
import { instantOf } from '../wall-time.ts'
import { money, providerName, textOrNull, wordName } from './format.ts'

/** What every line of the ledger says, before it is put into words. */
type Line = {
  readonly key: string
  readonly type: string
  readonly raw: string
  readonly cents: number
  readonly on: string
  readonly patientKey: string
  readonly locationKey: string | null
  readonly providerKey: string
  readonly treatmentKey: string | null
  readonly isAllocated?: boolean
  readonly claimKey?: string | null
  readonly planKey?: string | null
  readonly method?: string | null
  readonly methodRaw?: string | null
  readonly adjustmentType?: string | null
  readonly referenceNumber?: string | null
}

/**
 * The line of that key (`proc:12`, `adj:7` …), or null when there is none now: a treatment that is not done, a claim that
 * is not answered, a hidden prepayment, an instalment that is not due.
 */
export function ledgerLine(practice: Practice, key: string): Line | null {
  const [table, rowKey = '', part] = key.split(':')
  switch (table) {
    case 'proc':
      return chargeLine(practice, key, rowKey)
    case 'adj':
      return adjustmentLine(practice, key, rowKey)
    case 'split':
      return splitLine(practice, key, practice.splits.get(rowKey))
    case 'claimproc':
      return claimLine(practice, key, practice.claimLines.get(rowKey), part === 'write_off')
    default:
      return planLine(practice, key, practice.planCharges.get(rowKey))
  }
}

export function ledgerTransactionRecord(practice: Practice, view: View, line: Line): RecordOf<'ledger_transactions'> {
  const treatment = practice.treatments.get(line.treatmentKey ?? '')
  const amount = money(line.cents)
  const timeZone = view.timeZoneOf(view.locationOf(line.locationKey))
  return {
    source_id: line.key,
    attributes: {
      transaction_type: line.type,
      transaction_type_raw: line.raw,
      amount,
      transaction_on: line.on,
      // At the beginning of the day: of a line of today, any other time may still be to come.
      entered_at: view.knowsMore ? instantOf(`${line.on}T00:00:00`, timeZone) : null,
      patient_source_id: line.patientKey,
      guarantor_source_id: practice.patients.get(line.patientKey)?.guarantorKey ?? null,
      provider_name: providerName(practice, line.providerKey),
      treatment_source_id: line.treatmentKey,
      procedure_code: textOrNull(practice.procedureCodes.get(treatment?.codeKey ?? '')?.code),
      claim_source_id: line.claimKey ?? null,
      insurance_plan_source_id: practice.insurancePlans.get(line.planKey ?? '')?.key ?? null,
      payment_method: line.method ?? null,
      payment_method_raw: line.methodRaw ?? null,
      adjustment_type: line.adjustmentType ?? null,
      // Of an insurer's check the agent does not read the number.
      reference_number: line.referenceNumber ?? null,
      description: null,
      allocations:
        line.isAllocated && line.treatmentKey !== null ? [{ treatment_source_id: line.treatmentKey, amount }] : [],
      is_hidden: false,
    },
  }
}

/** Every key under which a line may stand, whether it does now or not. */
export function* ledgerKeys(practice: Practice): Generator<string> {
  for (const { key } of practice.treatments.values()) yield `proc:${key}`
  for (const { key } of practice.adjustments.values()) yield `adj:${key}`
  for (const { key } of practice.splits.values()) yield `split:${key}`
  for (const { key } of practice.claimLines.values()) yield* claimKeys(key)
  for (const { key } of practice.planCharges.values()) yield `ppcharge:${key}`
}

export function claimKeys(key: string): string[] {
  return [`claimproc:${key}:insurance_payment`, `claimproc:${key}:write_off`]
}

function chargeLine(practice: Practice, key: string, rowKey: string): Line | null {
  const treatment = practice.treatments.get(rowKey)
  if (treatment?.status !== 'complete') return null
  const { patientKey, locationKey, providerKey, completedOn } = treatment
  return {
    key,
    type: 'charge',
    raw: 'Procedure',
    cents: chargeOf(treatment),
    on: completedOn ?? '',
    patientKey,
    locationKey,
    providerKey,
    treatmentKey: treatment.key,
  }
}

function adjustmentLine(practice: Practice, key: string, rowKey: string): Line | null {
  const row = practice.adjustments.get(rowKey)
  if (row === undefined) return null
  const adjustmentType = wordName(practice, row.typeKey)
  const common = { key, type: 'adjustment', raw: 'Adjustment', isAllocated: true, adjustmentType }
  return { ...row, ...common, cents: row.amountCents, on: row.adjustedOn }
}

function splitLine(practice: Practice, key: string, split: Split | undefined): Line | null {
  if (split === undefined || !movesBalance(practice, split)) return null
  const payment = practice.payments.get(split.paymentKey)
  const isTransfer = payment?.typeKey === null
  const methodRaw = wordName(practice, payment?.typeKey ?? null)
  return {
    ...split,
    key,
    type: isTransfer ? 'transfer' : split.amountCents < 0 ? 'refund' : 'patient_payment',
    raw: isTransfer ? 'Income transfer' : 'Payment',
    cents: -split.amountCents,
    on: split.paidOn,
    isAllocated: true,
    method: methodRaw === null ? null : methodOf(methodRaw),
    methodRaw,
    referenceNumber: textOrNull(payment?.checkNumber),
  }
}

function claimLine(practice: Practice, key: string, row: ClaimLine | undefined, isWriteOff: boolean): Line | null {
  if (row === undefined || !isSettled(practice, row)) return null
  const cents = isWriteOff ? row.writeOffCents : row.paidCents
  if (cents === 0) return null
  const payment = practice.claimPayments.get(row.claimPaymentKey ?? '')
  return {
    ...row,
    key,
    type: isWriteOff ? 'write_off' : 'insurance_payment',
    raw: isWriteOff ? 'Write-off' : 'Insurance payment',
    cents: -cents,
    isAllocated: true,
    method: isWriteOff ? null : 'insurance',
    referenceNumber: isWriteOff ? null : textOrNull(payment?.checkNumber),
  }
}

function planLine(practice: Practice, key: string, charge: PlanCharge | undefined): Line | null {
  if (charge === undefined || !isDue(practice, charge)) return null
  const { locationKey, providerKey, treatmentKey } = charge
  return {
    key,
    locationKey,
    providerKey,
    treatmentKey,
    type: 'payment_plan',
    raw: charge.kind === 'debit' ? 'Payment plan debit' : 'Payment plan credit',
    cents: signedCents(charge),
    on: charge.chargeOn,
    patientKey: holderOf(charge),
  }
}

function methodOf(name: string): string {
  const words: readonly (readonly [RegExp, string])[] = [
    [/carecredit|financ/i, 'financing'],
    [/cash/i, 'cash'],
    [/check|cheque/i, 'check'],
    [/credit|card|visa|master|amex/i, 'card'],
    [/ach|eft|bank/i, 'ach'],
    [/insurance/i, 'insurance'],
  ]
  return words.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}

/** Everything that may stand in the ledger because of this treatment. */
export function keysOfTreatment(practice: Practice, treatmentKey: string): string[] {
  return [
    `proc:${treatmentKey}`,
    ...related(practice, 'adjustments', 'treatment', treatmentKey).map((row) => `adj:${row.key}`),
    ...related(practice, 'splits', 'treatment', treatmentKey).map((row) => `split:${row.key}`),
    ...related(practice, 'claimLines', 'treatment', treatmentKey).flatMap((row) => claimKeys(row.key)),
    ...related(practice, 'planCharges', 'treatment', treatmentKey).map((row) => `ppcharge:${row.key}`),
  ]
}
