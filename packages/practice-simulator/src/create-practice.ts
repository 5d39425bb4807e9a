import {
  carrierName,
  employerName,
  inventedName,
  locationName,
  phoneNumber,
  postalCode,
  scheduleName,
  streetAddress,
} from './names.ts'
import { addOddities } from './oddities.ts'
import {
  type Carrier,
  emptyPractice,
  type Fee,
  type FeeSchedule,
  type InsurancePlan,
  type KeyStyle,
  newKey,
  type Practice,
  planTypes,
  type ScheduleType,
} from './practice.ts'
import { procedures } from './procedure-codes.ts'
import { createRandom, type Random } from './random.ts'

type Holdings = { readonly insurancePlans: number; readonly feeSchedules: number }

export type PracticeShape = {
  readonly seed: string
  readonly keyStyle: KeyStyle
  /** One location each, with what it keeps for itself. */
  readonly locations: readonly Holdings[]
  /** What the whole practice uses, at every location. Open Dental knows only this. */
  readonly shared: Holdings
  /** Adds rows that real databases hold and nobody would expect. */
  readonly oddities: boolean
}

/**
 * Three locations of different size, as the sandbox shows them. The smallest is last: the sandbox grants the first two, and where most plans
 * are most things happen.
 */
export function demoShape(seed: string): PracticeShape {
  const locations = [
    { insurancePlans: 120, feeSchedules: 8 },
    { insurancePlans: 400, feeSchedules: 12 },
    { insurancePlans: 40, feeSchedules: 6 },
  ]
  return { seed, keyStyle: 'sequential', locations, shared: { insurancePlans: 0, feeSchedules: 0 }, oddities: false }
}

/** A practice as Open Dental keeps one: plans and schedules for all its clinics, with the oddities of a real database. */
export function openDentalShape(seed: string, changes: Partial<PracticeShape> = {}): PracticeShape {
  const nothing = { insurancePlans: 0, feeSchedules: 0 }
  return {
    seed,
    keyStyle: 'sequential',
    locations: [nothing, nothing],
    shared: { insurancePlans: 60, feeSchedules: 9 },
    oddities: true,
    ...changes,
  }
}

/** A synthetic practice: everything in it is invented, and the same shape always gives the same practice. */
export function createPractice(shape: PracticeShape): Practice {
  const part = (name: string) => createRandom(`${shape.seed}/${name}`)
  const practice = emptyPractice(shape.seed, organization(part('organization')), shape.keyStyle)
  const whole = Math.max(8, Math.round(totalPlans(shape) / 12))
  addLocations(practice, shape.locations.length, part('locations'))
  addProviders(practice, 3, part('providers'))
  addEmployers(practice, whole, part('employers'))
  addCarriers(practice, Math.max(6, Math.round(whole / 2)), part('carriers'))
  addProcedureCodes(practice, part('procedure-codes'))
  const holdings: [string | null, Holdings][] = [
    [null, shape.shared],
    ...[...practice.locations.keys()].map((key, index): [string, Holdings] => [
      key,
      shape.locations[index] ?? shape.shared,
    ]),
  ]
  for (const [index, [locationKey, { feeSchedules, insurancePlans }]] of holdings.entries()) {
    const random = part(`holdings/${index}`)
    for (let n = 0; n < feeSchedules; n++)
      addFeeSchedule(practice, newFeeSchedule(practice, locationKey, random, n), random)
    for (let n = 0; n < insurancePlans; n++) addPlan(practice, newInsurancePlan(practice, locationKey, random))
  }
  if (shape.oddities) addOddities(practice, part('oddities'))
  practice.atFirst.insurancePlans = practice.insurancePlans.size
  practice.atFirst.feeSchedules = practice.feeSchedules.size
  return practice
}

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

function totalPlans({ shared, locations }: PracticeShape): number {
  return shared.insurancePlans + locations.reduce((sum, location) => sum + location.insurancePlans, 0)
}

const regions = [
  { state: 'CO', timeZone: 'America/Denver' },
  { state: 'IL', timeZone: 'America/Chicago' },
  { state: 'OR', timeZone: 'America/Los_Angeles' },
] as const

function organization(random: Random) {
  const name = `${inventedName(random)} Family Dentistry`
  return { name, ...address(random), ...regions[0], softwareVersion: '24.3.10.0' }
}

function address(random: Random) {
  return {
    addressLine1: streetAddress(random),
    addressLine2: random.chance(0.5) ? `Suite ${random.whole(1, 40)}` : '',
    city: inventedName(random),
    postalCode: postalCode(random),
    phone: phoneNumber(random),
  }
}

function addLocations(practice: Practice, count: number, random: Random): void {
  for (let n = 0; n < count; n++) {
    const key = newKey(practice, 'locations', random)
    practice.locations.set(key, {
      key,
      name: locationName(random),
      abbreviation: `L${n + 1}`,
      ...address(random),
      ...(regions[n % regions.length] ?? regions[0]),
      isActive: true,
    })
  }
}

function addProviders(practice: Practice, count: number, random: Random): void {
  for (let n = 0; n < count; n++) {
    const key = newKey(practice, 'providers', random)
    practice.providers.set(key, { key, abbreviation: `DR${n + 1}` })
  }
}

function addEmployers(practice: Practice, count: number, random: Random): void {
  for (let n = 0; n < count; n++) {
    const key = newKey(practice, 'employers', random)
    practice.employers.set(key, { key, name: employerName(random) })
  }
}

function addCarriers(practice: Practice, count: number, random: Random): void {
  for (let n = 0; n < count; n++) {
    const carrier: Carrier = {
      key: newKey(practice, 'carriers', random),
      name: carrierName(random),
      payerId: random.chance(0.85) ? `X${random.whole(1000, 9999)}` : '',
      isHidden: random.chance(0.1),
    }
    practice.carriers.set(carrier.key, carrier)
  }
}

function addProcedureCodes(practice: Practice, random: Random): void {
  for (const { code, description } of procedures) {
    const key = newKey(practice, 'procedureCodes', random)
    practice.procedureCodes.set(key, { key, code, description })
  }
}

function addFeeSchedule(practice: Practice, schedule: FeeSchedule, random: Random): void {
  practice.feeSchedules.set(schedule.key, schedule)
  for (const fee of newFees(practice, schedule, random)) practice.fees.set(fee.key, fee)
}

function addPlan(practice: Practice, plan: InsurancePlan): void {
  practice.insurancePlans.set(plan.key, plan)
}
