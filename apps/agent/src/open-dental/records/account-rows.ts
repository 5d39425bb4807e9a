import { keyList } from '../changes/keys.ts'
import { readSmallTable } from '../changes/small-tables.ts'
import type { Lookups, Reading } from '../dataset.ts'

/** Which rows are on a patient's account, as SQL conditions. The amounts that they add up to are the balance. */
export type AccountRows = {
  /** Preference PayPlansVersion: 1 do not age, 2 credits and debits (the default), 3 credits only, 4 no charges. */
  readonly paymentPlans: '1' | '2' | '3' | '4'
  /** Of `procedurelog p`. */
  readonly charge: string
  /** Of `paysplit s`. Prepayments of a hidden type, and what pays a plan that has its own lines, move no balance. */
  readonly split: string
  /** Of `claimproc c left join procedurelog p`: what the insurer paid, and what was written off. */
  readonly insurancePayment: string
  readonly writeOff: string
  /** Of `payplancharge g left join payplan l`. A line counts from its day on. */
  readonly planCharge: string
  /** Of `payplan l`, where plans count by what was completed of them. */
  readonly plan: string
  /** Of `payplanlink`, whose plans are credited with what is linked to them. */
  readonly planCredit: string
  /** The practice's day. */
  readonly today: string
}

export async function accountRows(reading: Reading): Promise<AccountRows> {
  const definitions = await readSmallTable(reading, 'definitions')
  const preferences = await readSmallTable(reading, 'preferences')
  const version = preferences.rows.get('PayPlansVersion')?.value
  const paymentPlans = version === '1' || version === '3' || version === '4' ? version : '2'
  const hidden = [...definitions.rows].filter(([, row]) => row.Category === '29' && (row.ItemValue ?? '') !== '')
  const posted = 'c.Status in (1, 4, 5, 7) and (c.ProcNum = 0 or p.ProcStatus = 2)'
  const due = `g.ChargeDate <= '${reading.today}'`
  const planCharges = {
    '1': '0',
    '2': `(g.ChargeType = 1 or coalesce(l.PlanNum, 0) = 0) and ${due}`,
    '3': `g.ChargeType = 1 and ${due}`,
    '4': '0',
  }
  const plans = { '1': 'l.CompletedAmt <> 0', '2': '0', '3': '0', '4': 'l.CompletedAmt <> 0 and l.PlanNum <> 0' }
  return {
    paymentPlans,
    charge: 'p.ProcStatus = 2',
    split: [
      hidden.length === 0 ? '1' : `s.UnearnedType not in (${keyList(hidden.map(([id]) => id))})`,
      ...(paymentPlans === '1' || paymentPlans === '3' ? ['s.PayPlanNum = 0'] : []),
    ].join(' and '),
    insurancePayment: `${posted} and c.PayPlanNum = 0 and round(c.InsPayAmt, 2) <> 0`,
    writeOff: `${posted} and round(c.WriteOff, 2) <> 0`,
    planCharge: planCharges[paymentPlans],
    plan: plans[paymentPlans],
    planCredit: paymentPlans === '2' || paymentPlans === '3' ? '1' : '0',
    today: reading.today,
  }
}

/** The tables of `accountLookups`. */
export const accountTables = ['definition', 'preference', 'payplan'] as const

/** The small tables that decide which rows are on the account. */
export async function accountLookups(reading: Reading): Promise<Lookups> {
  return {
    definitions: await readSmallTable(reading, 'definitions'),
    preferences: await readSmallTable(reading, 'preferences'),
    paymentPlans: await readSmallTable(reading, 'paymentPlans'),
  }
}
