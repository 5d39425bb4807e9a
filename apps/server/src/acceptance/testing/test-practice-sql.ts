import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import type { Present } from './test-kept-records.ts'
import type { Name } from './test-vendor-copy.ts'

type Row = Record<string, unknown>

/** The datasets of which `readPresent` tells. */
export const namesOfPresent = ['fee_schedules', 'insurance_plans'] as const satisfies readonly Name[]

/**
 * What an Open Dental database holds for one clinic (0: headquarters), by SQL of the tests' own: it shares no statement and no line with
 * the agent, joins in the database where the agent does not, and so would not repeat the agent's mistakes.
 */
export async function readPresent(database: TestDatabase, clinic: string): Promise<Present> {
  const fees = Map.groupBy(await database.execute(feesSql, [clinic]), (row) => String(row.schedule))
  return {
    fee_schedules: (await database.execute(schedulesSql)).map((row) => ({
      source_id: String(row.source_id),
      attributes: {
        name: String(row.name),
        schedule_type: String(row.schedule_type),
        is_global: row.is_global === 1,
        is_hidden: row.is_hidden === 1,
        fees: (fees.get(String(row.source_id)) ?? []).map((fee) => ({
          procedure_code: String(fee.procedure_code),
          amount: textOrNull(fee.amount),
          provider_source_id: textOrNull(fee.provider),
          effective_on: null,
        })),
      },
    })),
    insurance_plans: (await database.execute(plansSql)).map((row) => ({
      source_id: String(row.source_id),
      attributes: {
        plan_name: String(row.plan_name),
        group_number: textOrNull(row.group_number),
        carrier_name: textOrNull(row.carrier_name),
        payer_id: textOrNull(row.payer_id),
        employer_name: textOrNull(row.employer_name),
        plan_type: textOrNull(row.plan_type),
        renewal_month: row.renewal_month === null ? null : Number(row.renewal_month),
        is_hidden: row.is_hidden === 1,
        fee_schedule_source_id: textOrNull(row.fee_schedule),
      },
    })),
  }
}

/** The practice's locations as the vendor must see them: headquarters under the practice's own name, then the clinics. */
export async function readClinics(database: TestDatabase): Promise<Row[]> {
  return await database.execute(
    `select '0' as source_id, ${['Title', 'Address', 'Address2', 'City', 'ST', 'Zip', 'Phone']
      .map((name) => `(select nullif(ValueString, '') from preference where PrefName = 'Practice${name}') as ${name}`)
      .join(', ')}, 1 as is_active
     union all
     select cast(ClinicNum as char), Description, nullif(Address, ''), nullif(Address2, ''), nullif(City, ''), nullif(State, ''),
            nullif(Zip, ''), nullif(Phone, ''), IsHidden = 0
       from clinic
      order by source_id`,
  )
}

/** MariaDB's `trim` leaves tabs. */
const trimmed = (column: string) => `regexp_replace(${column}, '^[[:space:]]+|[[:space:]]+$', '')`

const plansSql = `
  select cast(p.PlanNum as char) as source_id, p.IsHidden as is_hidden,
         coalesce(nullif(${trimmed('p.GroupName')}, ''), ${trimmed('e.EmpName')}, '') as plan_name,
         nullif(trim(p.GroupNum), '') as group_number,
         nullif(trim(c.CarrierName), '') as carrier_name,
         nullif(trim(c.ElectID), '') as payer_id,
         nullif(trim(e.EmpName), '') as employer_name,
         elt(field(p.PlanType, '', 'p', 'f', 'c'), 'percentage', 'ppo', 'flat_copay', 'capitation') as plan_type,
         if(p.MonthRenew between 1 and 12, p.MonthRenew, null) as renewal_month,
         cast(s.FeeSchedNum as char) as fee_schedule
    from insplan p
    left join carrier c on c.CarrierNum = p.CarrierNum
    left join employer e on e.EmployerNum = p.EmployerNum
    left join feesched s on s.FeeSchedNum = p.FeeSched
   order by p.PlanNum`

const schedulesSql = `
  select cast(FeeSchedNum as char) as source_id, trim(Description) as name, IsGlobal as is_global, IsHidden as is_hidden,
         elt(FeeSchedType + 1, 'standard', 'copay', 'out_of_network', 'fixed_benefit', 'other') as schedule_type
    from feesched
   order by FeeSchedNum`

/** Of the practice's fee and the clinic's own for the same code and provider, the clinic's. */
const feesSql = `
  select cast(f.FeeSched as char) as schedule, c.ProcCode as procedure_code, cast(nullif(f.ProvNum, 0) as char) as provider,
         if(f.Amount = -1, null, cast(cast(f.Amount as decimal(15, 2)) as char)) as amount
    from (select fee.*, dense_rank() over (partition by FeeSched, CodeNum, ProvNum order by ClinicNum <> 0 desc) as place
            from fee
           where ClinicNum in (0, ?)) f
    join procedurecode c on c.CodeNum = f.CodeNum
   where f.place = 1
   order by f.FeeSched, c.ProcCode, provider, f.FeeNum`

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
