import type { DatasetName } from '../connector.ts'
import type { DatasetReader } from './dataset.ts'
import { appointments } from './records/appointments.ts'
import { feeSchedules } from './records/fee-schedules.ts'
import { insurancePlans } from './records/insurance-plans.ts'
import { ledgerTransactions } from './records/ledger-transactions.ts'
import { patientReferrals } from './records/patient-referrals.ts'
import { patients } from './records/patients.ts'
import { treatments } from './records/treatments.ts'

/** In the contract's order: what others refer to comes first. */
export const readers: ReadonlyMap<DatasetName, DatasetReader> = new Map([
  ['fee_schedules', feeSchedules],
  ['insurance_plans', insurancePlans],
  ['patients', patients],
  ['appointments', appointments],
  ['treatments', treatments],
  ['ledger_transactions', ledgerTransactions],
  ['patient_referrals', patientReferrals],
] as const)

export function readerOf(dataset: DatasetName): DatasetReader {
  const reader = readers.get(dataset)
  if (reader === undefined) throw new Error(`Open Dental has no dataset ${dataset}`)
  return reader
}
