import type { SourceRecord } from '@bridgework/contract/ingest'
import type { Connection } from 'mysql2/promise'
import type { InsurancePlan } from '../rows.ts'
import { insurancePlanRecord } from '../source-records/insurance-plans.ts'
import { writePlans } from './writer.ts'

export type ManyPlansOptions = {
  /** Key of the first; the others follow it without a gap. By default above what a synthetic practice uses. */
  readonly firstKey?: number
}

/** Writes `count` plain plans, for tests of size: 100,000 take a few seconds. */
export async function writeManyPlans(
  connection: Connection,
  count: number,
  options: ManyPlansOptions = {},
): Promise<void> {
  await writePlans(connection, manyPlans(count, options))
}

/** The plans that `writeManyPlans` writes: every content is different, some are hidden, none refers to anything. */
export function* manyPlans(count: number, { firstKey = 1_000_001 }: ManyPlansOptions = {}): Generator<InsurancePlan> {
  for (let n = 0; n < count; n++) {
    yield {
      key: String(firstKey + n),
      locationKey: null,
      groupName: `Plan ${n}`,
      groupNumber: `N${n % 997}`,
      carrierKey: null,
      employerKey: null,
      feeScheduleKey: null,
      planType: 'percentage',
      renewalMonth: 1 + (n % 12),
      isMedical: false,
      isHidden: n % 20 === 19,
    }
  }
}

/** What the agent must upload for each of them. */
export function expectedManyPlans(count: number, options: ManyPlansOptions = {}): SourceRecord[] {
  return Array.from(manyPlans(count, options), (plan) => insurancePlanRecord(nothing, plan))
}

const nothing = { carriers: new Map(), employers: new Map(), feeSchedules: new Map() }
