import type { Change, Find } from '../test-change.ts'

/** Names that many records show, in tables that mostly have no stamp. */
export async function namesOfAYear(find: Find): Promise<Change[]> {
  const used = async (column: string, table: string) =>
    (
      await find.keys(
        `select ${column} from ${table} where ${column} <> 0 group by ${column} order by count(*) desc limit 1`,
      )
    )[0] ?? '0'
  const operatory = await used('Op', 'appointment')
  const confirmation = await used('Confirmed', 'appointment')
  const billingType = await used('BillingType', 'patient')
  const adjustmentType = await used('AdjType', 'adjustment')
  const employer = await used('EmployerNum', 'insplan')
  const provider = await used('PriProv', 'patient')
  const prepayment = (
    await find.keys("select DefNum from definition where Category = 29 and ItemValue <> '' order by DefNum")
  )[0]
  const rename = (key: string | undefined, name = 'Renamed') =>
    `update definition set ItemName = '${name}' where DefNum = ${key}`
  return [
    {
      what: 'a renamed operatory',
      sql: [`update operatory set OpName = 'Renamed' where OperatoryNum = ${operatory}`],
      expected: {
        appointments: await find.keys(`select AptNum from appointment where Op = ${operatory} limit 5`),
      },
    },
    {
      what: 'a step of confirming that is called otherwise',
      sql: [rename(confirmation, 'Confirmed by telegram')],
      expected: { appointments: [] },
    },
    {
      what: 'a renamed billing type',
      sql: [rename(billingType)],
      expected: {
        patients: await find.keys(`select PatNum from patient where BillingType = ${billingType} limit 5`),
      },
    },
    {
      what: 'a renamed type of adjustment',
      sql: [rename(adjustmentType)],
      expected: {
        ledger_transactions: await find.keys(
          `select concat('adj:', AdjNum) from adjustment where AdjType = ${adjustmentType}`,
        ),
      },
    },
    {
      what: 'a renamed employer',
      sql: [`update employer set EmpName = 'Renamed' where EmployerNum = ${employer}`],
      expected: {
        insurance_plans: await find.keys(`select PlanNum from insplan where EmployerNum = ${employer}`),
      },
    },
    {
      what: 'a provider who marries',
      sql: [`update provider set LName = 'Renamed' where ProvNum = ${provider}`],
      expected: {
        patients: await find.keys(`select PatNum from patient where PriProv = ${provider}`),
        appointments: [],
        treatments: [],
        ledger_transactions: [],
      },
    },
    {
      what: 'prepayments that are to show from now on',
      sql: [`update definition set ItemValue = '' where DefNum = ${prepayment}`],
      expected: {
        ledger_transactions: await find.keys(
          `select concat('split:', SplitNum) from paysplit where UnearnedType = ${prepayment}`,
        ),
        patients: [],
      },
    },
    {
      what: 'prepayments that are not to show any more',
      sql: [`update definition set ItemValue = 'X' where DefNum = ${prepayment}`],
      expected: {
        ledger_transactions: await find.keys(
          `select concat('split:', SplitNum) from paysplit where UnearnedType = ${prepayment}`,
        ),
        patients: [],
      },
    },
  ]
}
