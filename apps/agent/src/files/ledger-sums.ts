import type { DatasetName, Finding, JsonValue, SourceRecord } from '../connector.ts'

/**
 * What the ledger adds up to, compared with what the patients' balances say. A balance is what a patient alone owes, and the amounts of a guarantor are
 * those of the whole family (the contract's patients and ledger_transactions), so the balances of a family are added up first. It shows a file that is
 * missing, amounts in cents and a wrong sign. Held in whole cents.
 */
export type LedgerSums = {
  note(dataset: DatasetName, record: SourceRecord): void
  findings(): Finding[]
}

const paymentTypes = ['patient_payment', 'insurance_payment']
const equalShareMin = 0.9

export function ledgerSums(): LedgerSums {
  const sums = new Map<string, number>()
  /** By patient: one who comes at several locations has one balance. */
  const owed = new Map<string, { guarantor: string; cents: number }>()
  const types = new Set<JsonValue>()

  return {
    note: (dataset, { source_id, attributes }) => {
      const { guarantor_source_id: guarantor, balance, amount } = attributes as Record<string, JsonValue>
      if (dataset === 'ledger_transactions') {
        types.add(attributes.transaction_type as JsonValue)
        if (typeof guarantor === 'string') sums.set(guarantor, (sums.get(guarantor) ?? 0) + centsOf(amount))
      }
      if (dataset !== 'patients') return
      const total = typeof balance === 'object' && balance !== null && 'total' in balance ? balance.total : null
      if (typeof total !== 'string') return
      owed.set(source_id, { guarantor: typeof guarantor === 'string' ? guarantor : source_id, cents: centsOf(total) })
    },

    findings: () => {
      if (types.size === 0) return []
      const findings: Finding[] = []
      const hasPayments = paymentTypes.some((type) => types.has(type))
      if (types.has('charge') !== hasPayments) {
        findings.push({
          outcome: 'advice',
          what: `ledger_transactions has ${hasPayments ? 'payments and no charges' : 'charges and no payments'}.`,
          todo: 'Look whether the others are in a file of their own, or in other values of the type.',
        })
      }
      const balances = new Map<string, number>()
      for (const { guarantor, cents } of owed.values()) balances.set(guarantor, (balances.get(guarantor) ?? 0) + cents)
      const accounts = [...balances].filter(([key, cents]) => cents !== 0 || sums.has(key))
      if (accounts.length === 0 || sums.size === 0) return findings
      const equal = accounts.filter(([key, cents]) => cents === (sums.get(key) ?? 0)).length
      const isEqual = equal >= accounts.length * equalShareMin
      findings.push({
        outcome: isEqual ? 'good' : 'advice',
        what: `The ledger adds up to the balance of ${equal} of ${accounts.length} accounts.`,
        todo: isEqual
          ? null
          : 'Look for a file of the ledger that is not read, amounts in cents, and payments that need "negate".',
      })
      return findings
    },
  }
}

/** Of an amount of the contract, as -12.50. */
function centsOf(amount: JsonValue | undefined): number {
  return typeof amount === 'string' ? Number(amount.replace('.', '')) : 0
}
