import type { SourceTableName } from './source-tables.ts'

/**
 * The runs of one column of a table. `size`: how long a run is; `of`: the columns that the digest is made of, all where none are named.
 * `tellsGone`: it is compared soon after the table was written to, because it tells what was deleted. `keysOnly`: its runs are the table's own.
 */
export type Series = {
  readonly table: SourceTableName
  readonly by: string
  readonly size: number
  readonly of?: string
  readonly tellsGone?: true
  readonly keysOnly?: true
}

/** Keys of a run. */
export const size = 100

const [tellsGone, keysOnly] = [true, true] as const

/** Each table by its keys; and where a row that vanishes takes something from a row of another table, by that one's keys. */
export const allSeries = {
  feesched: { table: 'feesched', by: 'FeeSchedNum', size },
  insplan: { table: 'insplan', by: 'PlanNum', size },
  patient: { table: 'patient', by: 'PatNum', size },
  inssub: { table: 'inssub', by: 'InsSubNum', size },
  appointment: { table: 'appointment', by: 'AptNum', size },
  histappointment: { table: 'histappointment', by: 'HistApptNum', size },
  procedurelog: { table: 'procedurelog', by: 'ProcNum', size },
  adjustment: { table: 'adjustment', by: 'AdjNum', size },
  payment: { table: 'payment', by: 'PayNum', size },
  paysplit: { table: 'paysplit', by: 'SplitNum', size },
  claimpayment: { table: 'claimpayment', by: 'ClaimPaymentNum', size },
  claimproc: { table: 'claimproc', by: 'ClaimProcNum', size },
  payplancharge: { table: 'payplancharge', by: 'PayPlanChargeNum', size },
  refattach: { table: 'refattach', by: 'RefAttachNum', size },
  referral: { table: 'referral', by: 'ReferralNum', size },
  // Its rows never change, so which there are says all.
  'procnote.ProcNum': { table: 'procnote', by: 'ProcNum', size, of: 'ProcNoteNum', tellsGone },
  // A schedule has thousands of fees.
  'fee.FeeSched': { table: 'fee', by: 'FeeSched', size: 1, tellsGone },
  'patplan.PatNum': { table: 'patplan', by: 'PatNum', size, tellsGone },
  'claimproc.ProcNum': { table: 'claimproc', by: 'ProcNum', size, of: 'ProcNum', tellsGone },
  'adjustment.ProcNum': { table: 'adjustment', by: 'ProcNum', size, of: 'ProcNum', tellsGone },
  'refattach.PatNum': { table: 'refattach', by: 'PatNum', size, of: 'PatNum', tellsGone },
  // Who answers for whom: a patient's digest changes whenever balances are aged.
  'patient.Guarantor': { table: 'patient', by: 'PatNum', size, of: 'PatNum Guarantor' },
  // Which rows there are, from the index alone; of tables whose rows are deleted.
  'feesched.keys': { table: 'feesched', by: 'FeeSchedNum', size, of: 'FeeSchedNum', tellsGone, keysOnly },
  'insplan.keys': { table: 'insplan', by: 'PlanNum', size, of: 'PlanNum', tellsGone, keysOnly },
  'inssub.keys': { table: 'inssub', by: 'InsSubNum', size, of: 'InsSubNum', tellsGone, keysOnly },
  'appointment.keys': { table: 'appointment', by: 'AptNum', size, of: 'AptNum', tellsGone, keysOnly },
  'procedurelog.keys': { table: 'procedurelog', by: 'ProcNum', size, of: 'ProcNum', tellsGone, keysOnly },
  'patient.keys': { table: 'patient', by: 'PatNum', size, of: 'PatNum', tellsGone, keysOnly },
  'adjustment.keys': { table: 'adjustment', by: 'AdjNum', size, of: 'AdjNum', tellsGone, keysOnly },
  'payment.keys': { table: 'payment', by: 'PayNum', size, of: 'PayNum', tellsGone, keysOnly },
  'paysplit.keys': { table: 'paysplit', by: 'SplitNum', size, of: 'SplitNum', tellsGone, keysOnly },
  'claimpayment.keys': {
    table: 'claimpayment',
    by: 'ClaimPaymentNum',
    size,
    of: 'ClaimPaymentNum',
    tellsGone,
    keysOnly,
  },
  'claimproc.keys': { table: 'claimproc', by: 'ClaimProcNum', size, of: 'ClaimProcNum', tellsGone, keysOnly },
  'payplancharge.keys': {
    table: 'payplancharge',
    by: 'PayPlanChargeNum',
    size,
    of: 'PayPlanChargeNum',
    tellsGone,
    keysOnly,
  },
  'refattach.keys': { table: 'refattach', by: 'RefAttachNum', size, of: 'RefAttachNum', tellsGone, keysOnly },
  'referral.keys': { table: 'referral', by: 'ReferralNum', size, of: 'ReferralNum', tellsGone, keysOnly },
} as const satisfies Record<string, Series>

export type SeriesName = keyof typeof allSeries

export const seriesNames = Object.keys(allSeries).filter(isSeries)

export function isKeysOnly(name: SeriesName): boolean {
  const series: Series = allSeries[name]
  return series.keysOnly === true
}

export function tellsGoneOf(name: SeriesName): boolean {
  const series: Series = allSeries[name]
  return series.tellsGone === true
}

export function isSeries(name: string): name is SeriesName {
  return Object.hasOwn(allSeries, name)
}
