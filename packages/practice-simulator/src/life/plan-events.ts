import { newFeeSchedule, newFees, newInsurancePlan, planName } from '../holdings.ts'
import { related } from '../indexes.ts'
import { carrierName, employerName, scheduleName } from '../names.ts'
import { newKey, type Practice } from '../practice.ts'
import type { Random } from '../random.ts'
import { type FeeSchedule, type InsurancePlan, type RowChange, rowChange } from '../rows.ts'
import type { Desk } from './desk.ts'
import { anyOf } from './happening.ts'

type PlanEventName =
  | 'insurance_plan_added'
  | 'insurance_plan_renamed'
  | 'insurance_plan_hidden'
  | 'insurance_plan_shown'
  | 'insurance_plan_removed'
  | 'insurance_plan_moved'
  | 'fee_schedule_added'
  | 'fee_schedule_renamed'
  | 'fee_schedule_hidden'
  | 'fee_schedule_shown'
  | 'fee_edited'
  | 'fee_filled_in'
  | 'fee_blanked'
  | 'carrier_renamed'
  | 'employer_renamed'

/** What happens to plans and schedules, as the rows that it alters; null when it cannot happen now. */
type PlanHappening = {
  readonly name: PlanEventName
  readonly weight: number
  readonly happen: (practice: Practice, random: Random) => readonly RowChange[] | null
}

/** Weights of opposites are such that a quarter of the plans and schedules is hidden, and most fees are filled in, in the long run. */
const planHappenings: readonly PlanHappening[] = [
  {
    name: 'insurance_plan_added',
    weight: 4,
    happen: (practice, random) => {
      if (practice.insurancePlans.size > practice.atFirst.insurancePlans * 1.2 + 3) return null
      const neighbour = anyOf(practice.insurancePlans, random) ?? anyOf(practice.feeSchedules, random)
      const plan = newInsurancePlan(practice, neighbour?.locationKey ?? null, random)
      return [rowChange('insurancePlans', null, { ...plan, isHidden: false })]
    },
  },
  {
    name: 'insurance_plan_removed',
    weight: 3,
    happen: (practice, random) => {
      if (practice.insurancePlans.size < practice.atFirst.insurancePlans * 0.8) return null
      const plan = anyOf(practice.insurancePlans, random)
      return plan && !isUsed(practice, plan) ? [rowChange('insurancePlans', plan, null)] : null
    },
  },
  planHappening('insurance_plan_renamed', 4, anyPlan, (plan, _, random) => ({ ...plan, groupName: planName(random) })),
  planHappening(
    'insurance_plan_hidden',
    3,
    (plan) => !plan.isHidden,
    (plan) => ({ ...plan, isHidden: true }),
  ),
  planHappening(
    'insurance_plan_shown',
    9,
    (plan) => plan.isHidden,
    (plan) => ({ ...plan, isHidden: false }),
  ),
  planHappening('insurance_plan_moved', 1, anyPlan, (plan, practice, random) => {
    const schedules = [...practice.feeSchedules.values()].filter(
      (schedule) => schedule.locationKey === plan.locationKey,
    )
    return schedules.length === 0 ? plan : { ...plan, feeScheduleKey: random.pick(schedules).key }
  }),
  {
    name: 'fee_schedule_added',
    weight: 1,
    happen: (practice, random) => {
      if (practice.feeSchedules.size > practice.atFirst.feeSchedules * 1.5) return null
      const neighbour = anyOf(practice.feeSchedules, random)
      const schedule = { ...newFeeSchedule(practice, neighbour?.locationKey ?? null, random), isHidden: false }
      const fees = newFees(practice, schedule, random)
      return [rowChange('feeSchedules', null, schedule), ...fees.map((fee) => rowChange('fees', null, fee))]
    },
  },
  scheduleHappening('fee_schedule_renamed', 1, anySchedule, (schedule, random) => ({
    ...schedule,
    name: scheduleName(random),
  })),
  scheduleHappening(
    'fee_schedule_hidden',
    1,
    (schedule) => !schedule.isHidden,
    (schedule) => ({ ...schedule, isHidden: true }),
  ),
  scheduleHappening(
    'fee_schedule_shown',
    3,
    (schedule) => schedule.isHidden,
    (schedule) => ({ ...schedule, isHidden: false }),
  ),
  {
    name: 'fee_edited',
    weight: 2,
    happen: (practice, random) => {
      const fee = anyOf(practice.fees, random)
      return fee && [rowChange('fees', fee, { ...fee, amountCents: (fee.amountCents ?? 0) + random.whole(1, 2500) })]
    },
  },
  {
    name: 'fee_filled_in',
    weight: 4,
    happen: (practice, random) => {
      const [schedule, code] = [anyOf(practice.feeSchedules, random), anyOf(practice.procedureCodes, random)]
      if (schedule === null || code === null) return null
      const kind = { feeScheduleKey: schedule.key, procedureCodeKey: code.key, locationKey: null, providerKey: null }
      const isThere = [...practice.fees.values()].some((fee) =>
        Object.entries(kind).every(([name, value]) => fee[name as keyof typeof kind] === value),
      )
      const fee = { ...kind, amountCents: random.whole(1000, 90_000) }
      return isThere ? null : [rowChange('fees', null, { key: newKey(practice, 'fees', random), ...fee })]
    },
  },
  {
    name: 'fee_blanked',
    weight: 0.8,
    happen: (practice, random) => {
      const fee = anyOf(practice.fees, random)
      return fee && [rowChange('fees', fee, null)]
    },
  },
  {
    name: 'carrier_renamed',
    weight: 0.8,
    happen: (practice, random) => {
      const carrier = anyOf(practice.carriers, random)
      return carrier && changed('carriers', carrier, { ...carrier, name: carrierName(random) })
    },
  },
  {
    name: 'employer_renamed',
    weight: 0.8,
    happen: (practice, random) => {
      const employer = anyOf(practice.employers, random)
      return employer && changed('employers', employer, { ...employer, name: employerName(random) })
    },
  },
]

/** The same as happenings at a desk: rarer than what patients bring about. */
export const planEvents = planHappenings.map(({ name, weight, happen }) => ({
  name,
  weight: weight / 5,
  happen: (desk: Desk): boolean => {
    const changes = happen(desk.practice, desk.random)
    for (const change of changes ?? []) desk.put(change)
    return changes !== null
  },
}))

function planHappening(
  name: PlanEventName,
  weight: number,
  suits: (plan: InsurancePlan) => boolean,
  alter: (plan: InsurancePlan, practice: Practice, random: Random) => InsurancePlan,
): PlanHappening {
  return {
    name,
    weight,
    happen: (practice, random) => {
      const plan = anyOf(practice.insurancePlans, random)
      return plan && suits(plan) ? changed('insurancePlans', plan, alter(plan, practice, random)) : null
    },
  }
}

function scheduleHappening(
  name: PlanEventName,
  weight: number,
  suits: (schedule: FeeSchedule) => boolean,
  alter: (schedule: FeeSchedule, random: Random) => FeeSchedule,
): PlanHappening {
  return {
    name,
    weight,
    happen: (practice, random) => {
      const schedule = anyOf(practice.feeSchedules, random)
      return schedule && suits(schedule) ? changed('feeSchedules', schedule, alter(schedule, random)) : null
    },
  }
}

/** Nobody is or was insured by it: only then the software deletes a plan. */
function isUsed(practice: Practice, plan: InsurancePlan): boolean {
  return (
    related(practice, 'subscriptions', 'plan', plan.key).length > 0 ||
    related(practice, 'claims', 'plan', plan.key).length > 0 ||
    related(practice, 'claimLines', 'plan', plan.key).length > 0
  )
}

function anyPlan(): boolean {
  return true
}

function anySchedule(): boolean {
  return true
}

/** Null when nothing would change: a workstation that saves an unchanged form writes nothing. */
function changed<T extends RowChange['table']>(
  table: T,
  before: Parameters<typeof rowChange<T>>[1],
  after: Parameters<typeof rowChange<T>>[2],
): readonly RowChange[] | null {
  return JSON.stringify(before) === JSON.stringify(after) ? null : [rowChange(table, before, after)]
}
