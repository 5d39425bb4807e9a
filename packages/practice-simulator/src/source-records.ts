import type { DatasetName, SourceRecord } from '@bridgework/agent'
import type { Practice, RowChange } from './practice.ts'
import { feeScheduleRecords, feeSchedulesAffected } from './source-records/fee-schedules.ts'
import { insurancePlanRecords, insurancePlansAffected } from './source-records/insurance-plans.ts'

/** Every dataset that a synthetic practice can fill, parents before children. */
export const simulatedDatasets = ['fee_schedules', 'insurance_plans'] as const satisfies readonly DatasetName[]

/** Per dataset and location key: all records that Bridgework must have. */
export type Truth = ReadonlyMap<DatasetName, ReadonlyMap<string, readonly SourceRecord[]>>

type Source = {
  readonly table: 'feeSchedules' | 'insurancePlans'
  readonly records: (practice: Practice, keys: Iterable<string>, locationKey: string | null) => SourceRecord[]
  readonly affected: (practice: Practice, change: RowChange) => string[]
}

const sources: Readonly<Record<DatasetName, Source>> = {
  fee_schedules: { table: 'feeSchedules', records: feeScheduleRecords, affected: feeSchedulesAffected },
  insurance_plans: { table: 'insurancePlans', records: insurancePlanRecords, affected: insurancePlansAffected },
}

/** Keys of a dataset at one location: the practice's and the location's own, ascending. Null is the practice as a whole. */
export function recordKeys(practice: Practice, dataset: DatasetName, locationKey: string | null): string[] {
  return [...practice[sources[dataset].table].values()]
    .filter((row) => row.locationKey === null || row.locationKey === locationKey)
    .map((row) => row.key)
    .sort(keyOrder)
}

/** The records with these keys as one location must have them; a key that names nothing there is passed over. */
export function sourceRecords(
  practice: Practice,
  dataset: DatasetName,
  locationKey: string | null,
  keys: Iterable<string> = recordKeys(practice, dataset, locationKey),
): SourceRecord[] {
  const here = new Set(recordKeys(practice, dataset, locationKey))
  return sources[dataset].records(
    practice,
    [...keys].filter((key) => here.has(key)),
    locationKey,
  )
}

/** Keys of the records that a change alters, also of those that it adds or removes. */
export function recordsAffected(practice: Practice, dataset: DatasetName, change: RowChange): string[] {
  return sources[dataset].affected(practice, change)
}

/** Everything that Bridgework must have of this practice at these locations (all of its own, unless told). */
export function truthOf(practice: Practice, locationKeys: Iterable<string> = practice.locations.keys()): Truth {
  const keys = [...locationKeys]
  return new Map(
    simulatedDatasets.map((dataset) => [
      dataset,
      new Map(keys.map((locationKey) => [locationKey, sourceRecords(practice, dataset, locationKey)])),
    ]),
  )
}

/** Keys are whole numbers of up to 63 bits: compared as such, not as text. */
export function keyOrder(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : 1)
}
