import { inventedName, scheduleName } from './names.ts'
import { newKey, type Practice } from './practice.ts'
import { procedures } from './procedure-codes.ts'
import type { Random } from './random.ts'
import { type Fee, type FeeSchedule, type InsurancePlan, planTypes, type ScheduleType } from './rows.ts'

/** A new schedule without fees; `n` counts those of one holder, so that the first is always a standard one. */
export function newFeeSchedule(practice: Practice, locationKey: string | null, random: Random, n = 1): FeeSchedule {
  const types: ScheduleType[] = [
    'standard',
    'standard',
    'standard',
    'copay',
    'out_of_network',
    'fixed_benefit',
    'other',
  ]
  return {
    key: newKey(practice, 'feeSchedules', random),
    locationKey,
    name: scheduleName(random),
    type: n === 0 ? 'standard' : random.pick(types),
    isGlobal: random.chance(0.3),
    isHidden: n > 0 && random.chance(0.15),
  }
}

/** Fees of a new schedule: most codes, some blank, a few of one provider or, unless the schedule is global, of one location. */
export function newFees(practice: Practice, schedule: FeeSchedule, random: Random): Fee[] {
  const share = random.whole(50, 110)
  const [providers, locations] = [[...practice.providers.keys()], [...practice.locations.keys()]]
  return [...practice.procedureCodes.values()].flatMap((code) => {
    if (random.chance(0.2)) return []
    const usual = procedures.find((procedure) => procedure.code === code.code)?.usualCents ?? 10_000
    const general = {
      feeScheduleKey: schedule.key,
      procedureCodeKey: code.key,
      locationKey: null,
      providerKey: null,
      amountCents: random.chance(0.03) ? null : Math.round((usual * share) / 100),
    }
    const special = random.chance(0.04)
      ? [{ ...general, providerKey: random.pick(providers), amountCents: usual + random.whole(1, 99) }]
      : random.chance(0.04) && schedule.locationKey === null && !schedule.isGlobal && locations.length > 0
        ? [{ ...general, locationKey: random.pick(locations), amountCents: usual + random.whole(1, 99) }]
        : []
    return [general, ...special].map((fee) => ({ key: newKey(practice, 'fees', random), ...fee }))
  })
}

/** A new plan of usual content: some without a carrier or schedule, some named after the employer alone. */
export function newInsurancePlan(practice: Practice, locationKey: string | null, random: Random): InsurancePlan {
  const [carriers, employers] = [[...practice.carriers.values()], [...practice.employers.values()]]
  const schedules = [...practice.feeSchedules.values()].filter((schedule) => schedule.locationKey === locationKey)
  const employer = random.chance(0.7) ? random.pick(employers) : null
  return {
    key: newKey(practice, 'insurancePlans', random),
    locationKey,
    groupName: employer !== null && random.chance(0.6) ? employer.name : random.chance(0.9) ? planName(random) : '',
    groupNumber: random.chance(0.85) ? `G${random.whole(1000, 99_999)}` : '',
    carrierKey: random.chance(0.95) ? random.pick(carriers).key : null,
    employerKey: employer?.key ?? null,
    feeScheduleKey: schedules.length > 0 && random.chance(0.8) ? random.pick(schedules).key : null,
    planType: random.chance(0.6) ? 'percentage' : random.pick(planTypes),
    renewalMonth: random.chance(0.7) ? 1 : random.whole(0, 12),
    isMedical: random.chance(0.05),
    isHidden: random.chance(0.15),
  }
}

export function planName(random: Random): string {
  return `${inventedName(random)} ${random.pick(['Basic', 'Choice', 'Family', 'Plus', 'Premier', 'Select'])}`
}
