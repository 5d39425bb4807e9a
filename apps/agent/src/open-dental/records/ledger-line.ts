import type { RecordOf } from '../../connector.ts'
import { definitionName, providerName } from '../changes/small-tables.ts'
import type { Lookups } from '../dataset.ts'
import { wallTimeOrNull } from '../time/wall-time.ts'
import type { LedgerLine } from './ledger-parts.ts'
import { dateOrNull, money, referenceOrNull, textOrNull } from './values.ts'

/** In the order in which they are looked for: "Credit card" is a card, "Care credit" is not. */
const paymentMethods: readonly (readonly [RegExp, string])[] = [
  [/care ?credit|financ/i, 'financing'],
  [/cash/i, 'cash'],
  [/check|cheque/i, 'check'],
  [/credit|card|visa|master|amex|american ?express|discover/i, 'card'],
  [/\bach\b|\beft\b|bank|wire/i, 'ach'],
  [/insurance/i, 'insurance'],
]

const kindNames: Readonly<Record<LedgerLine['kind'], string>> = {
  charge: 'Procedure',
  adjustment: 'Adjustment',
  split: 'Payment',
  insurance_payment: 'Insurance payment',
  write_off: 'Write-off',
  payment_plan_debit: 'Payment plan debit',
  payment_plan_credit: 'Payment plan credit',
}

/** One line of an account as a record. `amount` is signed as the account sees it: what raises what is owed is positive. */
export function ledgerTransaction(
  line: LedgerLine,
  lookups: Lookups,
  zone: string,
  isSingle: boolean,
): RecordOf<'ledger_transactions'> {
  const { row, kind } = line
  const amount = money(line.amount)
  const patient = referenceOrNull(row.PatNum)
  const treatment = referenceOrNull(row.ProcNum)
  const isPlan = kind === 'payment_plan_debit' || kind === 'payment_plan_credit'
  const payType = kind === 'split' ? definitionName(lookups.definitions, 'paymentTypes', row.PayType) : null
  return {
    source_id: line.id,
    attributes: {
      transaction_type: typeOf(line, amount),
      transaction_type_raw: kind === 'split' && row.PayType === '0' ? 'Income transfer' : kindNames[kind],
      amount,
      transaction_on: dateOrNull(row.TransactionOn),
      entered_at: wallTimeOrNull(row.EnteredAt, zone)?.instant ?? null,
      patient_source_id: patient,
      guarantor_source_id: referenceOrNull(row.Guarantor),
      provider_name: providerName(lookups.providers, row.ProvNum),
      treatment_source_id: treatment,
      procedure_code: textOrNull(lookups.procedureCodes?.rows.get(row.CodeNum ?? '')?.ProcCode),
      claim_source_id: referenceOrNull(row.ClaimNum),
      insurance_plan_source_id: referenceOrNull(row.PlanNum),
      payment_method: kind === 'insurance_payment' ? 'insurance' : methodOf(payType),
      payment_method_raw: payType,
      adjustment_type:
        kind === 'adjustment' ? definitionName(lookups.definitions, 'adjustmentTypes', row.AdjType) : null,
      // What is written off is not on the insurer's check.
      reference_number: kind === 'write_off' ? null : textOrNull(row.CheckNum),
      description: textOrNull(row.AdjNote ?? row.PayNote),
      allocations:
        treatment === null || kind === 'charge' || isPlan ? [] : [{ treatment_source_id: treatment, amount }],
      is_hidden: false,
    },
    bearsOn: isSingle || patient === null ? [] : [`patients/${patient}`],
  }
}

/** A payment without a type moves income between providers; one of less than nothing gives money back. */
function typeOf({ kind, row }: LedgerLine, amount: string): string {
  if (kind === 'payment_plan_debit' || kind === 'payment_plan_credit') return 'payment_plan'
  if (kind !== 'split') return kind
  if (row.PayType === '0') return 'transfer'
  return amount !== '0.00' && !amount.startsWith('-') ? 'refund' : 'patient_payment'
}

function methodOf(payType: string | null): string | null {
  if (payType === null) return null
  return paymentMethods.find(([pattern]) => pattern.test(payType))?.[1] ?? 'other'
}
