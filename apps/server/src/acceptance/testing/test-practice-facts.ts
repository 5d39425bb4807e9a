import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { balancesByFormula, balancesOf, cents } from './test-balances.ts'
import { everywhere, type Views } from './test-seen.ts'
import type { Name } from './test-vendor-copy.ts'

type Attributes = Record<string, unknown>
type Practice = { readonly views: Views; readonly database: TestDatabase; readonly day: string }
/** Figures that a vendor sees, and the same counted in the database. Money is in cents, and its sign as in the ledger. */
type Fact = (practice: Practice) => Promise<readonly [seen: unknown, bySql: unknown]>

/** What a practice has on the day of its data, by SQL of the tests' own. */
export const practiceFacts = {
  'visible and hidden plans by their fee schedule': async ({ views, database }) => [
    countBy(all(views, 'insurance_plans'), ({ is_hidden, fee_schedule }) =>
      [is_hidden ? 'hidden' : 'visible', scheduleWord(fee_schedule as { is_hidden: boolean } | null)].join(),
    ),
    await counts(
      database,
      `select concat(if(p.IsHidden, 'hidden', 'visible'), ',', case s.IsHidden when 1 then 'hidden' when 0 then 'visible' else 'none' end),
              count(*)
         from insplan p left join feesched s on s.FeeSchedNum = p.FeeSched group by 1`,
    ),
  ],

  'plans under a hidden carrier: all, visible': async ({ views, database }) => {
    const rows = await database.execute(
      "select CarrierName as name from carrier where IsHidden = 1 and CarrierName <> ''",
    )
    const names = new Set(rows.map(({ name }) => name))
    const under = all(views, 'insurance_plans').filter((plan) => names.has(plan.carrier_name))
    return [
      [under.length, under.filter((plan) => !plan.is_hidden).length],
      await figures(
        database,
        `select count(*), coalesce(sum(p.IsHidden = 0), 0) from insplan p join carrier c on c.CarrierNum = p.CarrierNum
          where c.IsHidden = 1 and c.CarrierName <> ''`,
      ),
    ]
  },

  'fee schedules: all, hidden': async ({ views, database }) => {
    const schedules = all(views, 'fee_schedules')
    return [
      [schedules.length, schedules.filter((schedule) => schedule.is_hidden).length],
      await figures(database, 'select count(*), sum(IsHidden) from feesched'),
    ]
  },

  'fees: all, blank, sum': async ({ views, database }) => {
    const lists = [...views.values()].flatMap((view) => Object.entries(view.fee_schedules) as [string, Attributes][])
    const fees = new Map(
      lists.flatMap(([schedule, list]) =>
        (list.fees as Attributes[]).map((fee) => [JSON.stringify([schedule, fee]), fee] as const),
      ),
    )
    const amounts = [...fees.values()].map(({ amount }) => amount)
    return [
      [fees.size, amounts.filter((amount) => amount === null).length, total(amounts)],
      await figures(
        database,
        `select count(*), sum(Amount = -1), sum(if(Amount = -1, 0, round(Amount * 100)))
           from (select distinct f.FeeSched, c.ProcCode, f.ProvNum, f.Amount from fee f
                   join feesched s on s.FeeSchedNum = f.FeeSched join procedurecode c on c.CodeNum = f.CodeNum) as fees`,
      ),
    ]
  },

  'patients by state': async ({ views, database }) => [
    countBy(all(views, 'patients'), ({ status_raw }) => String(status_raw)),
    await counts(
      database,
      `select elt(PatStatus + 1, 'Patient', 'NonPatient', 'Inactive', 'Archived', 'Deleted', 'Deceased', 'Prospective'), count(*)
         from patient group by 1`,
    ),
  ],

  'patients by where they are registered': async ({ views, database }) => {
    const rows = await database.execute('select PatNum as id, ClinicNum as clinic from patient')
    const found = rows.filter(({ id, clinic }) => views.get(String(clinic))?.patients[String(id)])
    return [
      countBy(found, ({ clinic }) => String(clinic)),
      await counts(database, 'select ClinicNum, count(*) from patient group by 1'),
    ]
  },

  'patients: hidden, guarantors': async ({ views, database }) => {
    const patients = all(views, 'patients')
    return [
      [patients.filter((each) => each.is_hidden).length, new Set(patients.map(({ guarantor }) => guarantor)).size],
      await figures(database, 'select sum(PatStatus = 4), count(distinct Guarantor) from patient'),
    ]
  },

  'appointments by location': async ({ views, database }) => [
    Object.fromEntries([...views].map(([clinic, view]) => [clinic, Object.keys(view.appointments).length])),
    await counts(database, 'select ClinicNum, count(*) from appointment group by 1'),
  ],

  'appointments by state': async ({ views, database }) => [
    countBy(all(views, 'appointments'), ({ status_raw }) => String(status_raw).split(',')[0] ?? ''),
    await counts(
      database,
      `select elt(AptStatus, 'Scheduled', 'Complete', 'UnschedList', 'ASAP', 'Broken', 'Planned', 'PtNote', 'PtNoteCompleted'), count(*)
         from appointment group by 1`,
    ),
  ],

  'appointments: without a date, deleted': async ({ views, database }) => {
    const gone = `select distinct AptNum as id from histappointment
                   where HistApptAction = 4 and AptNum not in (select AptNum from appointment)`
    const [appointments, deleted] = [everywhere(views, 'appointments'), await database.execute(gone)]
    return [
      [
        [...appointments.values()].filter(({ starts_at }) => starts_at === null).length,
        deleted.filter(({ id }) => !appointments.has(String(id))).length,
      ],
      await figures(
        database,
        `select sum(AptDateTime < '1880-01-01'), (select count(*) from (${gone}) as gone) from appointment`,
      ),
    ]
  },

  'treatments: all, deleted, completed, what those cost, what their units cost': async ({ views, database }) => {
    const treatments = all(views, 'treatments')
    const completed = treatments.filter((treatment) => treatment.status === 'completed')
    return [
      [
        treatments.length,
        treatments.filter((treatment) => treatment.is_hidden).length,
        completed.length,
        total(completed.map(({ fee }) => fee)),
        completed.reduce((sum, { fee, quantity }) => sum + Math.round(cents(fee) / Number(quantity)), 0),
      ],
      await figures(
        database,
        `select count(*), sum(ProcStatus = 6), sum(ProcStatus = 2),
                sum(if(ProcStatus = 2, round(ProcFee * (UnitQty + BaseUnits) * 100), 0)), sum(if(ProcStatus = 2, round(ProcFee * 100), 0))
           from procedurelog where CodeNum not in (select CodeNum from procedurecode where ProcCode = '~GRP~')`,
      ),
    ]
  },

  'charges: count, sum': async ({ views, database }) => [
    ofTable(views, 'proc:'),
    await figures(
      database,
      'select count(*), sum(round(ProcFee * (UnitQty + BaseUnits) * 100)) from procedurelog where ProcStatus = 2',
    ),
  ],

  'adjustments: count, sum': async ({ views, database }) => [
    ofTable(views, 'adj:'),
    await figures(database, 'select count(*), sum(round(AdjAmt * 100)) from adjustment'),
  ],

  'splits without prepayments that do not show: count, sum': async ({ views, database }) => [
    ofTable(views, 'split:'),
    await figures(
      database,
      `select count(*), -sum(round(SplitAmt * 100)) from paysplit
        where UnearnedType not in (select DefNum from definition where Category = 29 and ItemValue <> '')`,
    ),
  ],

  'transfers: count, sum': async ({ views, database }) => [
    ofType(views, 'transfer'),
    await figures(
      database,
      'select count(*), -sum(round(SplitAmt * 100)) from paysplit join payment using (PayNum) where PayType = 0',
    ),
  ],

  'insurance payments: count, sum, with a number': async ({ views, database }) => {
    const numbered = all(views, 'ledger_transactions').filter(
      (line) => line.transaction_type === 'insurance_payment' && line.reference_number,
    )
    return [
      [...ofType(views, 'insurance_payment'), numbered.length],
      await figures(
        database,
        `select count(*), -sum(round(InsPayAmt * 100)), sum(coalesce(trim(m.CheckNum), '') <> '')
           from claimproc c left join claimpayment m using (ClaimPaymentNum) where ${countsNow} and InsPayAmt <> 0`,
      ),
    ]
  },

  'write-offs: count, sum': async ({ views, database }) => [
    ofType(views, 'write_off'),
    await figures(
      database,
      `select count(*), -sum(round(WriteOff * 100)) from claimproc c where ${countsNow} and WriteOff <> 0`,
    ),
  ],

  'payment plans: credits, their sum, debits': async ({ views, database, day }) => {
    const lines = [...everywhere(views, 'ledger_transactions')].filter(([key]) => key.startsWith('ppcharge:'))
    const credits = lines.map(([, { amount }]) => amount).filter((amount) => cents(amount) < 0)
    return [
      [credits.length, total(credits), lines.length - credits.length],
      // Debits of a plan that tracks insurance have no effect.
      await figures(
        database,
        `select sum(ChargeType = 1), -sum(if(ChargeType = 1, round(Principal * 100), 0)), sum(ChargeType = 0 and PlanNum = 0)
           from payplancharge join payplan using (PayPlanNum) where ChargeDate <= '${day}'`,
      ),
    ]
  },

  'dynamic payment plans: lines, sum': async ({ views, database }) => [
    ofTable(views, 'pplink:'),
    // Each is of one procedure, which is neither insured nor adjusted nor paid outside the plan.
    await figures(
      database,
      `select count(*), -sum(round(ProcFee * (UnitQty + BaseUnits) * 100)) from payplanlink join procedurelog on ProcNum = FKey`,
    ),
  ],

  'balances by guarantor: owing, their sum, in credit, their sum, the highest': async ({ views, database, day }) => [
    balanceFigures(balancesOf(all(views, 'ledger_transactions'))),
    balanceFigures(await balancesByFormula(database, day)),
  ],

  'referrals by direction': async ({ views, database }) => [
    countBy(all(views, 'patient_referrals'), ({ direction }) => String(direction)),
    await counts(database, "select if(RefType = 0, 'outgoing', 'incoming'), count(*) from refattach group by 1"),
  ],

  'referrals by who referred': async ({ views, database }) => [
    countBy(all(views, 'patient_referrals'), ({ source_type }) => String(source_type)),
    await counts(
      database,
      `select case when r.ReferralNum is null then 'null' when r.PatNum <> 0 then 'patient' when r.IsDoctor then 'provider'
                   when r.NotPerson then if(a.RefType = 1, 'marketing', 'organization') else 'other' end, count(*)
         from refattach a left join referral r using (ReferralNum) group by 1`,
    ),
  ],
} as const satisfies Readonly<Record<string, Fact>>

const countsNow = `c.Status in (1, 4, 5, 7) and (c.ProcNum = 0 or c.ProcNum in (select ProcNum from procedurelog where ProcStatus = 2))`

function all(views: Views, name: Name): Attributes[] {
  return [...everywhere(views, name).values()]
}

function scheduleWord(schedule: { is_hidden: boolean } | null): string {
  if (schedule === null) return 'none'
  return schedule.is_hidden ? 'hidden' : 'visible'
}

function ofTable(views: Views, prefix: string): [number, number] {
  const found = [...everywhere(views, 'ledger_transactions')].filter(([key]) => key.startsWith(prefix))
  return [found.length, total(found.map(([, { amount }]) => amount))]
}

function ofType(views: Views, type: string): [number, number] {
  const found = all(views, 'ledger_transactions').filter((line) => line.transaction_type === type)
  return [found.length, total(found.map(({ amount }) => amount))]
}

function balanceFigures(balances: Readonly<Record<string, number>>): number[] {
  const amounts = Object.values(balances)
  const sums = [amounts.filter((each) => each > 0), amounts.filter((each) => each < 0)].flatMap((some) => [
    some.length,
    some.reduce((one, other) => one + other, 0),
  ])
  return [...sums, Math.max(...amounts)]
}

function total(amounts: readonly unknown[]): number {
  return amounts.reduce((sum: number, amount) => sum + cents(amount ?? 0), 0)
}

function countBy(records: readonly Attributes[], word: (record: Attributes) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(records, word)].map(([name, group]) => [name, group.length]))
}

/** The second column by the first. */
async function counts(database: TestDatabase, sql: string): Promise<Record<string, number>> {
  const rows = await database.execute(sql)
  return Object.fromEntries(rows.map((row) => Object.values(row)).map(([name, n]) => [String(name), Number(n)]))
}

/** The one row. */
async function figures(database: TestDatabase, sql: string): Promise<number[]> {
  const [row] = await database.execute(sql)
  return Object.values(row ?? {}).map(Number)
}
