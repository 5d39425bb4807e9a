import { newFeeSchedule, newFees, newInsurancePlan } from './holdings.ts'
import { openDesk } from './life/desk.ts'
import { addHistory } from './life/history.ts'
import { addReferralSources } from './life/referrals.ts'
import { addStaff } from './life/staff.ts'
import {
  carrierName,
  employerName,
  inventedName,
  locationName,
  phoneNumber,
  postalCode,
  streetAddress,
} from './names.ts'
import { addOddities } from './oddities.ts'
import { emptyPractice, type KeyStyle, newKey, type Practice, todayIn } from './practice.ts'
import { procedures } from './procedure-codes.ts'
import { createRandom, type Random } from './random.ts'
import type { Carrier, FeeSchedule, InsurancePlan } from './rows.ts'

type Holdings = {
  readonly insurancePlans: number
  readonly feeSchedules: number
  readonly patients?: number
  /** The practice has closed the location. */
  readonly isClosed?: boolean
}

export type PracticeShape = {
  readonly seed: string
  readonly keyStyle: KeyStyle
  /** One location each, with what it keeps for itself. */
  readonly locations: readonly Holdings[]
  /** What the whole practice uses, at every location. Open Dental knows only this. */
  readonly shared: Holdings
  /** Adds rows that real databases hold and nobody would expect. */
  readonly oddities: boolean
  /** How many years of history there are. */
  readonly years?: number
  /** What time it is at first: a wall time of the headquarters. */
  readonly now?: string
}

/**
 * Three locations of different size, as the sandbox shows them. The smallest is last: the sandbox grants the first two, and where most plans
 * and patients are most things happen.
 */
export function demoShape(seed: string, now?: string): PracticeShape {
  const locations = [
    { insurancePlans: 120, feeSchedules: 8, patients: 60 },
    { insurancePlans: 400, feeSchedules: 12, patients: 130 },
    { insurancePlans: 40, feeSchedules: 6, patients: 25 },
  ]
  return {
    seed,
    keyStyle: 'sequential',
    locations,
    shared: { insurancePlans: 0, feeSchedules: 0 },
    oddities: false,
    years: 1.5,
    ...(now === undefined ? {} : { now }),
  }
}

/** A smaller practice of the same kind, whose last location is closed: each vendor of a sandbox has one. */
export function vendorShape(seed: string, now?: string): PracticeShape {
  const locations = [
    { insurancePlans: 40, feeSchedules: 5, patients: 16 },
    { insurancePlans: 25, feeSchedules: 4, patients: 10 },
    { insurancePlans: 8, feeSchedules: 2, patients: 4, isClosed: true },
  ]
  return { ...demoShape(seed, now), locations, years: 0.5 }
}

/** A practice as Open Dental keeps one: plans and schedules for all its clinics, with the oddities of a real database. */
export function openDentalShape(seed: string, changes: Partial<PracticeShape> = {}): PracticeShape {
  const nothing = { insurancePlans: 0, feeSchedules: 0, patients: 20 }
  return {
    seed,
    keyStyle: 'sequential',
    locations: [nothing, nothing],
    shared: { insurancePlans: 60, feeSchedules: 9, patients: 8 },
    years: 1,
    oddities: true,
    ...changes,
  }
}

/** A synthetic practice: everything in it is invented, and the same shape always gives the same practice. */
export function createPractice(shape: PracticeShape): Practice {
  const part = (name: string) => createRandom(`${shape.seed}/${name}`)
  const practice = emptyPractice(shape.seed, organization(part('organization')), shape.keyStyle)
  practice.clock.set('1', { key: '1', now: shape.now ?? '2026-11-20T08:00:00' })
  const whole = Math.max(8, Math.round(totalPlans(shape) / 12))
  addLocations(practice, shape.locations, part('locations'))
  addEmployers(practice, whole, part('employers'))
  addCarriers(practice, Math.max(6, Math.round(whole / 2)), part('carriers'))
  addProcedureCodes(practice, part('procedure-codes'))
  const sizes = new Map(
    [...practice.locations.keys()].map((key, index) => [key, shape.locations[index]?.patients ?? 0]),
  )
  addStaff(quietDesk(practice, part('staff')), (location) => sizes.get(location?.key ?? '') ?? 0)
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
  addReferralSources(quietDesk(practice, part('referral-sources')))
  for (const [index, [locationKey, { patients = 0 }]] of holdings.entries()) {
    if (patients > 0) addHistory(quietDesk(practice, part(`people/${index}`)), locationKey, patients, shape.years ?? 1)
  }
  if (shape.oddities) addOddities(practice, part('oddities'))
  practice.atFirst.insurancePlans = practice.insurancePlans.size
  practice.atFirst.feeSchedules = practice.feeSchedules.size
  practice.atFirst.patients = practice.patients.size
  practice.atFirst.on = todayIn(practice)
  return practice
}

function quietDesk(practice: Practice, random: Random) {
  return openDesk(practice, random, { keepsNoBook: true })
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

function addLocations(practice: Practice, locations: readonly Holdings[], random: Random): void {
  for (const [n, { isClosed = false }] of locations.entries()) {
    const key = newKey(practice, 'locations', random)
    practice.locations.set(key, {
      key,
      name: locationName(random),
      abbreviation: `L${n + 1}`,
      ...address(random),
      ...(regions[n % regions.length] ?? regions[0]),
      isActive: !isClosed,
    })
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
  for (const { code, description, area } of procedures) {
    const key = newKey(practice, 'procedureCodes', random)
    practice.procedureCodes.set(key, { key, code, description, area })
  }
}

function addFeeSchedule(practice: Practice, schedule: FeeSchedule, random: Random): void {
  practice.feeSchedules.set(schedule.key, schedule)
  for (const fee of newFees(practice, schedule, random)) practice.fees.set(fee.key, fee)
}

function addPlan(practice: Practice, plan: InsurancePlan): void {
  practice.insurancePlans.set(plan.key, plan)
}
