import { type RecordTable, tablesPresent } from '../changes/record-table.ts'
import { noteColumn, type SourceTableName } from '../changes/source-tables.ts'
import type { Row } from '../database/connection.ts'
import type { Session } from '../database/session.ts'
import type { AccountRows } from './account-rows.ts'
import { dynamicPlansColumn, planCreditStatement } from './dynamic-plans.ts'

/** One line of an account: the row that it comes from, and what kind of line it is. */
export type LedgerLine = {
  readonly id: string
  readonly kind:
    | 'charge'
    | 'adjustment'
    | 'split'
    | 'insurance_payment'
    | 'write_off'
    | 'payment_plan_debit'
    | 'payment_plan_credit'
  readonly amount: string
  readonly row: Row
}

/** One table of the ledger. Every `select` gives PatNum, Guarantor, ClinicNum, ProvNum, ProcNum, CodeNum, TransactionOn, EnteredAt. */
export type LedgerPart = {
  readonly table: RecordTable
  /** The table again, where it may be large. */
  readonly source?: SourceTableName
  /** Tables whose rows decide whether these count, or are shown with them, and the column that names such a row. */
  readonly follows?: readonly (readonly [SourceTableName, column: string])[]
  /** A lookup with a mark for each row, in which a row that is gone is missed. */
  readonly marks?: string
  /** Rows that show a row of a lookup: the statement up to its condition, and the column that names that row. */
  readonly shows: readonly (readonly [lookup: string, statement: string, column: string])[]
  readonly patientColumns: readonly string[]
  /** Rows with these keys that count now. */
  readonly select: (account: AccountRows, keys: string, session: Session) => string
  readonly lines: (row: Row) => LedgerLine[]
}

const ofCharge = 'select ProcNum as id from procedurelog where'
const ofAdjustment = 'select AdjNum as id from adjustment where'
const ofSplit = 'select SplitNum as id from paysplit where'
const ofInsurance = 'select ClaimProcNum as id from claimproc where'
const ofPlanCharge = 'select PayPlanChargeNum as id from payplancharge where'

const money = (expression: string) => `cast(${expression} as decimal(19,2))`

const charges: LedgerPart = {
  table: { table: 'procedurelog', key: 'ProcNum', prefix: 'proc:', suffixes: [''], isRecord: 'ProcStatus = 2' },
  source: 'procedurelog',
  shows: [
    ['providers', ofCharge, 'ProvNum'],
    ['procedureCodes', ofCharge, 'CodeNum'],
  ],
  patientColumns: ['PatNum'],
  select: (account, keys, { columns }) =>
    `select p.ProcNum as id, p.PatNum, t.Guarantor, p.ClinicNum, p.ProvNum, p.ProcNum, p.CodeNum,
            p.ProcDate as TransactionOn,
            ${columns.has('procedurelog.SecDateEntry') ? 'p.SecDateEntry' : 'null'} as EnteredAt,
            ${money('p.ProcFee * (p.UnitQty + p.BaseUnits)')} as Amount
       from procedurelog p
       left join patient t on t.PatNum = p.PatNum
      where p.ProcNum in (${keys}) and ${account.charge}
      order by p.ProcNum`,
  lines: (row) => [line(row, `proc:${row.id}`, 'charge')],
}

const adjustments: LedgerPart = {
  table: { table: 'adjustment', key: 'AdjNum', prefix: 'adj:', suffixes: [''], isRecord: '1' },
  source: 'adjustment',
  // The code of its procedure.
  follows: [['procedurelog', 'ProcNum']],
  shows: [
    ['providers', ofAdjustment, 'ProvNum'],
    ['definitions', ofAdjustment, 'AdjType'],
    [
      'procedureCodes',
      'select a.AdjNum as id from procedurelog p straight_join adjustment a on a.ProcNum = p.ProcNum where',
      'p.CodeNum',
    ],
  ],
  patientColumns: ['PatNum'],
  select: (_account, keys, session) =>
    `select a.AdjNum as id, a.PatNum, t.Guarantor, a.ClinicNum, a.ProvNum, a.ProcNum, p.CodeNum,
            a.AdjDate as TransactionOn, null as EnteredAt, a.AdjType, ${noteColumn(session, 'adjustment', 'a', 'AdjNote')},
            ${money('a.AdjAmt')} as Amount
       from adjustment a
       left join patient t on t.PatNum = a.PatNum
       left join procedurelog p on p.ProcNum = a.ProcNum and a.ProcNum <> 0
      where a.AdjNum in (${keys})
      order by a.AdjNum`,
  lines: (row) => [line(row, `adj:${row.id}`, 'adjustment')],
}

const splits: LedgerPart = {
  table: { table: 'paysplit', key: 'SplitNum', prefix: 'split:', suffixes: [''], isRecord: '1' },
  source: 'paysplit',
  follows: [
    ['payment', 'PayNum'],
    ['procedurelog', 'ProcNum'],
  ],
  shows: [
    ['providers', ofSplit, 'ProvNum'],
    ['definitions', ofSplit, 'UnearnedType'],
    [
      'definitions',
      'select s.SplitNum as id from payment m straight_join paysplit s on s.PayNum = m.PayNum where',
      'm.PayType',
    ],
    [
      'procedureCodes',
      'select s.SplitNum as id from procedurelog p straight_join paysplit s on s.ProcNum = p.ProcNum where',
      'p.CodeNum',
    ],
  ],
  patientColumns: ['PatNum'],
  select: (account, keys, session) =>
    `select s.SplitNum as id, s.PatNum, t.Guarantor, s.ClinicNum, s.ProvNum, s.ProcNum, p.CodeNum,
            s.DatePay as TransactionOn, null as EnteredAt, m.PayType, m.CheckNum, ${noteColumn(session, 'payment', 'm', 'PayNote')},
            ${money('-s.SplitAmt')} as Amount
       from paysplit s
       left join payment m on m.PayNum = s.PayNum
       left join patient t on t.PatNum = s.PatNum
       left join procedurelog p on p.ProcNum = s.ProcNum and s.ProcNum <> 0
      where s.SplitNum in (${keys}) and ${account.split}
      order by s.SplitNum`,
  lines: (row) => [line(row, `split:${row.id}`, 'split')],
}

/** One row is an estimate first, and then the payment and the write-off, in place. */
const insurance: LedgerPart = {
  table: {
    table: 'claimproc',
    key: 'ClaimProcNum',
    prefix: 'claimproc:',
    suffixes: [':insurance_payment', ':write_off'],
    isRecord: 'Status in (1, 4, 5, 7) and (InsPayAmt <> 0 or WriteOff <> 0)',
  },
  source: 'claimproc',
  // The number of the insurer's check.
  follows: [
    ['claimpayment', 'ClaimPaymentNum'],
    ['procedurelog', 'ProcNum'],
  ],
  shows: [
    ['providers', ofInsurance, 'ProvNum'],
    [
      'procedureCodes',
      'select c.ClaimProcNum as id from procedurelog p straight_join claimproc c on c.ProcNum = p.ProcNum where',
      'p.CodeNum',
    ],
  ],
  patientColumns: ['PatNum'],
  select: (account, keys) =>
    `select c.ClaimProcNum as id, c.PatNum, t.Guarantor, c.ClinicNum, c.ProvNum, c.ProcNum, p.CodeNum,
            c.DateCP as TransactionOn, null as EnteredAt, c.ClaimNum, c.PlanNum, m.CheckNum,
            case when ${account.insurancePayment} then ${money('-c.InsPayAmt')} end as Paid,
            case when ${account.writeOff} then ${money('-c.WriteOff')} end as WrittenOff
       from claimproc c
       left join claimpayment m on m.ClaimPaymentNum = c.ClaimPaymentNum and c.ClaimPaymentNum <> 0
       left join patient t on t.PatNum = c.PatNum
       left join procedurelog p on p.ProcNum = c.ProcNum and c.ProcNum <> 0
      where c.ClaimProcNum in (${keys}) and c.Status in (1, 4, 5, 7)
      order by c.ClaimProcNum`,
  lines: (row) => [
    ...(row.Paid === null ? [] : [line(row, `claimproc:${row.id}:insurance_payment`, 'insurance_payment', row.Paid)]),
    ...(row.WrittenOff === null ? [] : [line(row, `claimproc:${row.id}:write_off`, 'write_off', row.WrittenOff)]),
  ],
}

/** A debit is owed by the plan's guarantor, a credit is the patient's. */
const planCharges: LedgerPart = {
  table: { table: 'payplancharge', key: 'PayPlanChargeNum', prefix: 'ppcharge:', suffixes: [''], isRecord: '1' },
  source: 'payplancharge',
  follows: [['procedurelog', 'ProcNum']],
  shows: [
    ['providers', ofPlanCharge, 'ProvNum'],
    ['paymentPlans', ofPlanCharge, 'PayPlanNum'],
  ],
  patientColumns: ['PatNum', 'Guarantor'],
  select: (account, keys, { columns }) =>
    `select g.PayPlanChargeNum as id, case when g.ChargeType = 0 then g.Guarantor else g.PatNum end as PatNum,
            t.Guarantor, g.ClinicNum, g.ProvNum, g.ProcNum, p.CodeNum, g.ChargeDate as TransactionOn,
            ${columns.has('payplancharge.SecDateTEntry') ? 'g.SecDateTEntry' : 'null'} as EnteredAt, g.ChargeType, l.PlanNum,
            ${money('case when g.ChargeType = 0 then g.Principal + g.Interest else -g.Principal end')} as Amount
       from payplancharge g
       left join payplan l on l.PayPlanNum = g.PayPlanNum
       left join patient t on t.PatNum = case when g.ChargeType = 0 then g.Guarantor else g.PatNum end
       left join procedurelog p on p.ProcNum = g.ProcNum and g.ProcNum <> 0
      where g.PayPlanChargeNum in (${keys}) and ${account.planCharge}
      order by g.PayPlanChargeNum`,
  lines: (row) => [
    line(row, `ppcharge:${row.id}`, row.ChargeType === '0' ? 'payment_plan_debit' : 'payment_plan_credit'),
  ],
}

/** Where the preference says that plans count by what was completed of them, whatever their charges. Where a plan is, its patient is. */
const plans: LedgerPart = {
  table: { table: 'payplan', key: 'PayPlanNum', prefix: 'payplan:', suffixes: [''], isRecord: 'CompletedAmt <> 0' },
  marks: 'paymentPlans',
  shows: [],
  patientColumns: ['PatNum'],
  select: (account, keys) =>
    `select l.PayPlanNum as id, l.PatNum, t.Guarantor, t.ClinicNum, null as ProvNum, null as ProcNum, null as CodeNum,
            l.PayPlanDate as TransactionOn, null as EnteredAt, l.PlanNum, ${money('-l.CompletedAmt')} as Amount
       from payplan l
       left join patient t on t.PatNum = l.PatNum
      where l.PayPlanNum in (${keys}) and ${account.plan}
      order by l.PayPlanNum`,
  lines: (row) => [line(row, `payplan:${row.id}`, 'payment_plan_credit')],
}

/** What dynamic payment plans take off; found by comparing them all (`planCredits`). The patient is listed where the linked row is. */
const planLinks: LedgerPart = {
  table: {
    table: 'payplanlink',
    key: 'PayPlanLinkNum',
    prefix: 'pplink:',
    suffixes: [''],
    isRecord: '1',
    onlyWith: dynamicPlansColumn,
  },
  marks: 'planCredits',
  shows: [
    [
      'providers',
      `select k.PayPlanLinkNum as id from payplanlink k
         left join procedurelog p on k.LinkType = 2 and p.ProcNum = k.FKey
         left join adjustment a on k.LinkType = 1 and a.AdjNum = k.FKey
        where`,
      'coalesce(p.ProvNum, a.ProvNum)',
    ],
    [
      'procedureCodes',
      'select k.PayPlanLinkNum as id from payplanlink k join procedurelog p on k.LinkType = 2 and p.ProcNum = k.FKey where',
      'p.CodeNum',
    ],
  ],
  // Their guarantor is among what is compared.
  patientColumns: [],
  select: (account, keys) => planCreditStatement(account, `k.PayPlanLinkNum in (${keys})`),
  lines: (row) => [line(row, `pplink:${row.id}`, 'payment_plan_credit')],
}

export const ledgerParts = { charges, adjustments, splits, insurance, planCharges, plans, planLinks } as const

/** Those whose table this database has. */
export function ledgerPartsIn({ columns }: Session): LedgerPart[] {
  return Object.values<LedgerPart>(ledgerParts).filter((part) => tablesPresent([part.table], columns).length > 0)
}

function line(row: Row, id: string, kind: LedgerLine['kind'], amount = row.Amount): LedgerLine {
  return { id, kind, amount: amount ?? '0.00', row }
}
