import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import {
  type InsurancePlan,
  type LivingPractice,
  type PracticeEvent,
  type RowChange,
  rowChange,
} from '@bridgework/practice-simulator'
import type { PracticeAct } from './feeder-order.ts'

/** Lets this happen. Removed plans are kept in `removedFile`, before it happens, so that they can be brought back. */
export function applyAct(living: LivingPractice, act: FedAct, removedFile: string): PracticeEvent {
  return act.act === 'merge' ? living.mergeTwo() : living.apply(eventOf(living, act, removedFile))
}

/** What happens in the practice's own rows. */
export type FedAct = Exclude<PracticeAct, { act: 'silence' }>

function eventOf(living: LivingPractice, act: Exclude<FedAct, { act: 'merge' }>, removedFile: string): PracticeEvent {
  const { practice } = living
  switch (act.act) {
    case 'change': {
      const changes = [...practice.patients.values()]
        .slice(0, act.records)
        .map((patient) =>
          rowChange('patients', patient, { ...patient, preferredName: nameAfter(patient.preferredName) }),
        )
      return { name: 'patient_corrected', changes }
    }
    case 'remove':
      return removal(living, removedFile, (plans) => plans.slice(0, act.records))
    case 'hold_removal':
      return removal(living, removedFile, (plans) => plans)
    case 'bring_back': {
      const plans = removedPlans(removedFile).filter(({ key }) => !practice.insurancePlans.has(key))
      rmSync(removedFile, { force: true })
      return { name: 'insurance_plan_added', changes: plans.map((plan) => rowChange('insurancePlans', null, plan)) }
    }
    case 'rename_carrier': {
      const counts = new Map<string, number>()
      for (const { carrierKey } of practice.insurancePlans.values())
        if (carrierKey !== null) counts.set(carrierKey, (counts.get(carrierKey) ?? 0) + 1)
      const [largest] = [...counts].toSorted(([, one], [, other]) => other - one)
      const carrier = largest && practice.carriers.get(largest[0])
      const renamed = carrier && { ...carrier, name: nameAfter(carrier.name) }
      return { name: 'carrier_renamed', changes: carrier && renamed ? [rowChange('carriers', carrier, renamed)] : [] }
    }
  }
}

/** Of the location that has the most plans, so that few of the practice's removals reach the share at which one is held. */
function removal(
  { practice }: LivingPractice,
  removedFile: string,
  choose: (plans: readonly InsurancePlan[]) => readonly InsurancePlan[],
): PracticeEvent {
  const used = new Set<string | null>()
  for (const { planKey } of practice.subscriptions.values()) used.add(planKey)
  for (const { planKey } of practice.claims.values()) used.add(planKey)
  for (const { planKey } of practice.claimLines.values()) used.add(planKey)
  const unused = Map.groupBy(
    [...practice.insurancePlans.values()].filter(({ key, isHidden }) => !isHidden && !used.has(key)),
    ({ locationKey }) => locationKey,
  )
  const [plans = []] = [...unused.values()].toSorted((one, other) => other.length - one.length)
  const chosen = choose(plans)
  const kept = [...removedPlans(removedFile), ...chosen]
  writeFileSync(removedFile, JSON.stringify(kept), { mode: 0o600, flush: true })
  const changes: RowChange[] = chosen.map((plan) => rowChange('insurancePlans', plan, null))
  return { name: 'insurance_plan_removed', changes }
}

function removedPlans(file: string): InsurancePlan[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

/** `Name`, `Name (2)`, `Name (3)`. */
function nameAfter(name: string): string {
  const [, stem = name, number = '1'] = /^(.*?) \((\d+)\)$/.exec(name) ?? []
  return `${stem} (${Number(number) + 1})`.trim()
}
