import { related } from '../indexes.ts'
import type { Practice } from '../practice.ts'
import type { RowChange } from '../rows.ts'
import { claimKeys, keysOfTreatment, ledgerKeys, ledgerLine } from './ledger-transactions.ts'
import { both } from './patients.ts'

/** Keys of the ledger's lines whose record a change may alter, also of those that come or go with it. */
export function ledgerTransactionsAffected(practice: Practice, change: RowChange): string[] {
  switch (change.table) {
    case 'treatments':
      return both(change).flatMap((row) => keysOfTreatment(practice, row.key))
    case 'adjustments':
      return both(change).map((row) => `adj:${row.key}`)
    case 'splits':
      return both(change).map((row) => `split:${row.key}`)
    case 'claimLines':
      return both(change).flatMap((row) => claimKeys(row.key))
    case 'planCharges':
      return both(change).map((row) => `ppcharge:${row.key}`)
    case 'payments':
      return both(change).flatMap((row) =>
        related(practice, 'splits', 'payment', row.key).map((split) => `split:${split.key}`),
      )
    case 'claimPayments':
      return both(change).flatMap((row) =>
        related(practice, 'claimLines', 'claimPayment', row.key).flatMap((line) => claimKeys(line.key)),
      )
    case 'patients':
      if (change.before?.guarantorKey === change.after?.guarantorKey) return []
      return both(change).flatMap((row) => keysOfPatient(practice, row.key))
    case 'clock':
      return fallenDue(practice, change.before?.now ?? '', change.after?.now ?? '')
    case 'providers':
    case 'definitions':
    case 'procedureCodes':
      // Names that stand in many lines change once in years.
      return change.before === null || change.after === null ? [] : [...ledgerKeys(practice)]
    default:
      return []
  }
}

/** An instalment stands in the ledger from its day on, though no row changes then. */
function fallenDue(practice: Practice, before: string, after: string): string[] {
  const [from, to] = [before.slice(0, 10), after.slice(0, 10)]
  if (from === to) return []
  return [...practice.planCharges.values()]
    .filter((charge) => charge.chargeOn > from && charge.chargeOn <= to)
    .map((charge) => `ppcharge:${charge.key}`)
}

function keysOfPatient(practice: Practice, patientKey: string): string[] {
  const keys = [
    ...related(practice, 'treatments', 'patient', patientKey).map((row) => `proc:${row.key}`),
    ...related(practice, 'adjustments', 'patient', patientKey).map((row) => `adj:${row.key}`),
    ...related(practice, 'splits', 'patient', patientKey).map((row) => `split:${row.key}`),
    ...related(practice, 'claimLines', 'patient', patientKey).flatMap((row) => claimKeys(row.key)),
    ...related(practice, 'planCharges', 'patient', patientKey).map((row) => `ppcharge:${row.key}`),
    ...related(practice, 'planCharges', 'guarantor', patientKey).map((row) => `ppcharge:${row.key}`),
  ]
  return keys.filter((key) => ledgerLine(practice, key) !== null)
}
