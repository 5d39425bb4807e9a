import type { RecordOf } from '@bridgework/contract/ingest'
import type { Practice } from '../practice.ts'
import type { InsurancePlan, RowChange } from '../rows.ts'

/** Keys of the plans whose records a change alters. */
export function insurancePlansAffected(practice: Practice, { table, before, after }: RowChange): string[] {
  const keys = [before?.key, after?.key].filter((key) => key !== undefined)
  if (table === 'insurancePlans') return keys
  const reference = references[table]
  if (reference === undefined) return []
  return [...practice.insurancePlans.values()]
    .filter((plan) => keys.includes(plan[reference] ?? ''))
    .map((plan) => plan.key)
}

const references: Partial<Record<RowChange['table'], 'carrierKey' | 'employerKey' | 'feeScheduleKey'>> = {
  carriers: 'carrierKey',
  employers: 'employerKey',
  feeSchedules: 'feeScheduleKey',
}

/** One plan's record; a reference to nothing counts as none. It has no name of its own where the group's is empty: then the employer's serves. */
export function insurancePlanRecord(
  practice: Pick<Practice, 'carriers' | 'employers' | 'feeSchedules'>,
  plan: InsurancePlan,
): RecordOf<'insurance_plans'> {
  const carrier = practice.carriers.get(plan.carrierKey ?? '')
  const employer = practice.employers.get(plan.employerKey ?? '')
  const month = plan.renewalMonth
  return {
    source_id: plan.key,
    attributes: {
      plan_name: plan.groupName.trim() || (employer?.name.trim() ?? ''),
      group_number: orNull(plan.groupNumber),
      carrier_name: orNull(carrier?.name),
      payer_id: orNull(carrier?.payerId),
      employer_name: orNull(employer?.name),
      plan_type: plan.planType,
      renewal_month: month >= 1 && month <= 12 ? month : null,
      is_hidden: plan.isHidden,
      fee_schedule_source_id: practice.feeSchedules.get(plan.feeScheduleKey ?? '')?.key ?? null,
    },
  }
}

function orNull(text: string | undefined): string | null {
  return text?.trim() || null
}
