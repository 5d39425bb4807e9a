import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'

/** Cents of an amount of money with two digits. */
export function cents(amount: unknown): number {
  return Math.round(Number(amount) * 100)
}

/** What PayPlansVersion says of payment plans: do not age, credits and debits (the default), credits only, no charges. */
export const payPlansVersions = ['1', '2', '3', '4'] as const
export type PayPlansVersion = (typeof payPlansVersions)[number]

/** What each guarantor owes, in cents, by Open Dental's own formula over all rows, as of a day. Nothing for 0. */
export async function balancesByFormula(
  database: TestDatabase,
  day: string,
  version: PayPlansVersion = '2',
): Promise<Record<string, number>> {
  const rows = await database.execute(formula(version, day))
  return nonZero(rows.map((row) => [String(row.guarantor), cents(row.balance)]))
}

/** The same from the ledger that a vendor sees: amounts of visible lines, by the guarantor's own key. */
export function balancesOf(lines: Iterable<object>): Record<string, number> {
  const sums = new Map<string, number>()
  for (const line of lines) {
    const { guarantor, amount, is_hidden } = line as { guarantor: string | null; amount: string; is_hidden: boolean }
    if (!is_hidden) sums.set(String(guarantor), (sums.get(String(guarantor)) ?? 0) + cents(amount))
  }
  return nonZero(sums)
}

function nonZero(balances: Iterable<readonly [string, number]>): Record<string, number> {
  return Object.fromEntries([...balances].filter(([, balance]) => balance !== 0))
}

/** What dynamic payment plans credit: each linked thing with what adjustments, insurance and other payments leave of it. */
const proceduresLeftOver = `
  select p.*, p.ProcFee * (p.UnitQty + p.BaseUnits) + coalesce(d.amount, 0) - coalesce(i.amount, 0) - coalesce(s.amount, 0) as left_over
    from procedurelog p
    left join (select ProcNum, PatNum, ProvNum, ClinicNum, sum(AdjAmt) as amount
                 from adjustment group by ProcNum, PatNum, ProvNum, ClinicNum) d
      on (d.ProcNum, d.PatNum, d.ProvNum, d.ClinicNum) = (p.ProcNum, p.PatNum, p.ProvNum, p.ClinicNum)
    left join (select ProcNum,
                      sum(if(Status in (1, 4, 7), InsPayAmt, if(InsEstTotalOverride = -1, InsPayEst, InsEstTotalOverride))
                          + if(Status in (1, 4, 7), WriteOff,
                               if(WriteOffEstOverride = -1, greatest(WriteOffEst, 0), WriteOffEstOverride))) as amount
                 from claimproc where Status <> 2 group by ProcNum) i on i.ProcNum = p.ProcNum
    left join (select ProcNum, sum(SplitAmt) as amount from paysplit where PayPlanNum = 0 group by ProcNum) s on s.ProcNum = p.ProcNum`
const adjustmentsLeftOver = `
  select a.*, a.AdjAmt - coalesce(s.amount, 0) as left_over
    from adjustment a
    left join (select AdjNum, sum(SplitAmt) as amount from paysplit where PayPlanNum = 0 group by AdjNum) s on s.AdjNum = a.AdjNum`

function formula(version: PayPlansVersion, day: string): string {
  const splits = version === '1' || version === '3' ? 's.PayPlanNum = 0' : 'true'
  return `
  select p.Guarantor as guarantor, cast(sum(t.amount) as decimal(19, 2)) as balance
    from (select PatNum, ProcFee * (UnitQty + BaseUnits) as amount from procedurelog where ProcStatus = 2
           union all
          select PatNum, AdjAmt from adjustment
           union all
          select s.PatNum, -s.SplitAmt
            from paysplit s
            left join definition u on u.DefNum = s.UnearnedType and u.Category = 29
           where (s.UnearnedType = 0 or coalesce(u.ItemValue, '') = '') and ${splits}
           union all
          select c.PatNum, -if(c.PayPlanNum = 0, c.InsPayAmt, 0) - c.WriteOff
            from claimproc c
            left join procedurelog q on q.ProcNum = c.ProcNum and c.ProcNum <> 0
           where c.Status in (1, 4, 5, 7) and (c.ProcNum = 0 or q.ProcStatus = 2)
           union all
          ${paymentPlans[version].replaceAll('@day', `'${day}'`)}) t
    join patient p on p.PatNum = t.PatNum
   group by p.Guarantor`
}

const planCharges = `
  select if(g.ChargeType = 0, g.Guarantor, g.PatNum) as PatNum,
         if(g.ChargeType = 1, -g.Principal, if(l.PlanNum = 0, g.Principal + g.Interest, 0))
    from payplancharge g
    left join payplan l on l.PayPlanNum = g.PayPlanNum
   where g.ChargeDate <= @day`
const dynamicCredits = `
  select coalesce(q.PatNum, a.PatNum), -if(k.AmountOverride <> 0, k.AmountOverride, coalesce(q.left_over, a.left_over))
    from payplanlink k
    left join (${proceduresLeftOver}) q on k.LinkType = 2 and q.ProcNum = k.FKey
    left join (${adjustmentsLeftOver}) a on k.LinkType = 1 and a.AdjNum = k.FKey
   where a.AdjDate <= @day or (q.ProcDate <= @day and q.ProcStatus = 2)`

const paymentPlans: Readonly<Record<PayPlansVersion, string>> = {
  1: 'select PatNum, -CompletedAmt from payplan',
  2: `${planCharges} union all ${dynamicCredits}`,
  3: `${planCharges} and g.ChargeType = 1 union all ${dynamicCredits}`,
  4: 'select PatNum, -CompletedAmt from payplan where PlanNum <> 0',
}
