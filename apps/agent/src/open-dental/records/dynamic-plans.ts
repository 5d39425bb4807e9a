import { type Lookup, readLookup } from '../changes/lookup.ts'
import type { Reading } from '../dataset.ts'
import { type AccountRows, accountRows } from './account-rows.ts'

/**
 * What a dynamic payment plan takes off its patient's account: one line for each completed procedure or adjustment that is linked to the plan, worth
 * the link's own amount or, without one, what is left of the linked thing after adjustments, insurance (paid or expected) and payments
 * outside plans. Its day is that of the linked thing. (Its debits are ordinary charges of payment plans.) `condition` is of `payplanlink k`.
 */
export function planCreditStatement(account: AccountRows, condition: string): string {
  const received = 'c.Status in (1, 4, 7)'
  return `select k.PayPlanLinkNum as id, coalesce(p.PatNum, a.PatNum) as PatNum, t.Guarantor,
            coalesce(p.ClinicNum, a.ClinicNum) as ClinicNum, coalesce(p.ProvNum, a.ProvNum) as ProvNum,
            coalesce(p.ProcNum, a.ProcNum) as ProcNum, p.CodeNum,
            coalesce(p.ProcDate, a.AdjDate) as TransactionOn, k.SecDateTEntry as EnteredAt,
            cast(-case
              when k.AmountOverride <> 0 then k.AmountOverride
              when a.AdjNum is not null then a.AdjAmt
                - (select coalesce(sum(s.SplitAmt), 0) from paysplit s where s.AdjNum = a.AdjNum and s.PayPlanNum = 0)
              else p.ProcFee * (p.UnitQty + p.BaseUnits)
                + (select coalesce(sum(d.AdjAmt), 0)
                     from adjustment d
                    where d.ProcNum = p.ProcNum and d.PatNum = p.PatNum and d.ProvNum = p.ProvNum and d.ClinicNum = p.ClinicNum)
                - (select coalesce(sum(case when ${received} then c.InsPayAmt
                                            when c.InsEstTotalOverride <> -1 then c.InsEstTotalOverride
                                            else c.InsPayEst end
                                     + case when ${received} then c.WriteOff
                                            when c.WriteOffEstOverride <> -1 then c.WriteOffEstOverride
                                            when c.WriteOffEst <> -1 then c.WriteOffEst
                                            else 0 end), 0)
                     from claimproc c
                    where c.ProcNum = p.ProcNum and c.Status <> 2)
                - (select coalesce(sum(s.SplitAmt), 0) from paysplit s where s.ProcNum = p.ProcNum and s.PayPlanNum = 0)
            end as decimal(19,2)) as Amount
       from payplanlink k
       left join payplan l on l.PayPlanNum = k.PayPlanNum
       left join procedurelog p on k.LinkType = 2 and p.ProcNum = k.FKey and l.PayPlanNum is not null
            and p.ProcDate <= '${account.today}' and p.ProcStatus = 2
       left join adjustment a on k.LinkType = 1 and a.AdjNum = k.FKey and a.AdjDate <= '${account.today}'
       left join patient t on t.PatNum = coalesce(p.PatNum, a.PatNum)
      where ${condition} and ${account.planCredit} and (p.ProcNum is not null or a.AdjNum is not null)
      order by k.PayPlanLinkNum`
}

/**
 * All of these lines: neither the link nor the plan has a change stamp, and the amount follows from rows of four more tables, so comparing
 * what they come to is what tells of a change. There are few. Nothing before Open Dental 19.3, which had no such plans.
 */
export async function planCredits(reading: Reading): Promise<Lookup> {
  const account = await accountRows(reading)
  return await reading.lookup(`planCredits ${account.today}`, tablesOfCredits, async () =>
    reading.session.columns.has(dynamicPlansColumn)
      ? await readLookup(reading.session.database, planCreditStatement(account, '1'))
      : { rows: new Map(), marks: {} },
  )
}

/** What `planCreditStatement` reads, with what decides which rows are on an account. */
const tablesOfCredits = [
  'payplanlink',
  'payplan',
  'procedurelog',
  'adjustment',
  'paysplit',
  'claimproc',
  'patient',
  'definition',
  'preference',
] as const

/** A column that only databases with dynamic payment plans have. */
export const dynamicPlansColumn = 'payplanlink.AmountOverride'
