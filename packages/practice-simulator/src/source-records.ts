import type { DatasetName } from '@bridgework/contract'
import type { SourceRecord } from '@bridgework/contract/ingest'
import { keyOrder } from './indexes.ts'
import type { Practice } from './practice.ts'
import type { RowChange } from './rows.ts'
import { appointmentRecord, appointmentsAffected } from './source-records/appointments.ts'
import { feeScheduleRecords, feeSchedulesAffected } from './source-records/fee-schedules.ts'
import { insurancePlanRecord, insurancePlansAffected } from './source-records/insurance-plans.ts'
import { ledgerTransactionsAffected } from './source-records/ledger-affected.ts'
import { ledgerKeys, ledgerLine, ledgerTransactionRecord } from './source-records/ledger-transactions.ts'
import { patientReferralRecord, patientReferralsAffected } from './source-records/patient-referrals.ts'
import { isPatientAt, patientRecord, patientsAffected } from './source-records/patients.ts'
import { treatmentRecord, treatmentsAffected } from './source-records/treatments.ts'
import { ownView, type View } from './view.ts'

/** Every dataset that a synthetic practice can fill, parents before children. */
export const simulatedDatasets = [
  'fee_schedules',
  'insurance_plans',
  'patients',
  'appointments',
  'treatments',
  'ledger_transactions',
  'patient_referrals',
] as const satisfies readonly DatasetName[]

/** Per dataset and location key: all records that Bridgework must have. */
export type Truth = ReadonlyMap<DatasetName, ReadonlyMap<string, readonly SourceRecord[]>>

type Source = {
  /** Every key that the dataset may have somewhere. */
  readonly keys: (practice: Practice) => Iterable<string>
  readonly isAt: (practice: Practice, view: View, key: string, locationKey: string) => boolean
  /** Records of keys that are there. */
  readonly records: (practice: Practice, view: View, keys: readonly string[], locationKey: string) => SourceRecord[]
  readonly affected: (practice: Practice, change: RowChange) => string[]
}

/** Rows that the whole practice shares, or one location keeps for itself. */
function isHeldAt(row: { locationKey: string | null } | undefined, locationKey: string): boolean {
  return row !== undefined && (row.locationKey === null || row.locationKey === locationKey)
}

function isPlacedAt(view: View, row: { locationKey: string | null } | undefined | null, locationKey: string): boolean {
  return row !== undefined && row !== null && view.locationOf(row.locationKey) === locationKey
}

function eachOf<Row>(
  rows: ReadonlyMap<string, Row>,
  keys: readonly string[],
  record: (row: Row) => SourceRecord,
): SourceRecord[] {
  return keys.flatMap((key) => {
    const row = rows.get(key)
    return row === undefined ? [] : [record(row)]
  })
}

const sources: Readonly<Record<DatasetName, Source>> = {
  fee_schedules: {
    keys: (practice) => practice.feeSchedules.keys(),
    isAt: (practice, _, key, location) => isHeldAt(practice.feeSchedules.get(key), location),
    records: (practice, _, keys, location) => feeScheduleRecords(practice, keys, location),
    affected: feeSchedulesAffected,
  },
  insurance_plans: {
    keys: (practice) => practice.insurancePlans.keys(),
    isAt: (practice, _, key, location) => isHeldAt(practice.insurancePlans.get(key), location),
    records: (practice, _, keys) => eachOf(practice.insurancePlans, keys, (row) => insurancePlanRecord(practice, row)),
    affected: insurancePlansAffected,
  },
  patients: {
    keys: (practice) => practice.patients.keys(),
    isAt: (practice, view, key, location) => isPatientAt(practice, view, key, location),
    records: (practice, _, keys) => eachOf(practice.patients, keys, (row) => patientRecord(practice, row)),
    affected: patientsAffected,
  },
  appointments: {
    keys: (practice) => practice.appointments.keys(),
    isAt: (practice, view, key, location) => isPlacedAt(view, practice.appointments.get(key), location),
    records: (practice, view, keys) =>
      eachOf(practice.appointments, keys, (row) => appointmentRecord(practice, view, row)),
    affected: appointmentsAffected,
  },
  treatments: {
    keys: (practice) => practice.treatments.keys(),
    isAt: (practice, view, key, location) => isPlacedAt(view, practice.treatments.get(key), location),
    records: (practice, _, keys) => eachOf(practice.treatments, keys, (row) => treatmentRecord(practice, row)),
    affected: treatmentsAffected,
  },
  ledger_transactions: {
    keys: ledgerKeys,
    isAt: (practice, view, key, location) => isPlacedAt(view, ledgerLine(practice, key), location),
    records: (practice, view, keys) =>
      keys.flatMap((key) => {
        const line = ledgerLine(practice, key)
        return line === null ? [] : [ledgerTransactionRecord(practice, view, line)]
      }),
    affected: ledgerTransactionsAffected,
  },
  patient_referrals: {
    keys: (practice) => practice.referrals.keys(),
    isAt: (practice, view, key, location) => {
      const referral = practice.referrals.get(key)
      return referral !== undefined && isPlacedAt(view, practice.patients.get(referral.patientKey), location)
    },
    records: (practice, view, keys) =>
      eachOf(practice.referrals, keys, (row) => patientReferralRecord(practice, view, row)),
    affected: patientReferralsAffected,
  },
}

/** Keys of a dataset at one location, ascending. */
export function recordKeys(
  practice: Practice,
  dataset: DatasetName,
  locationKey: string,
  view: View = ownView(practice),
): string[] {
  const { keys, isAt } = sources[dataset]
  return [...keys(practice)].filter((key) => isAt(practice, view, key, locationKey)).sort(keyOrder)
}

/** The records with these keys as one location must have them; a key that names nothing there is passed over. */
export function sourceRecords(
  practice: Practice,
  dataset: DatasetName,
  locationKey: string,
  keys?: Iterable<string>,
  view: View = ownView(practice),
): SourceRecord[] {
  const { isAt, records } = sources[dataset]
  const here =
    keys === undefined
      ? recordKeys(practice, dataset, locationKey, view)
      : [...keys].filter((key) => isAt(practice, view, key, locationKey))
  return records(practice, view, here, locationKey)
}

/** Keys of the records that a change may alter, also of those that it adds or removes. */
export function recordsAffected(practice: Practice, dataset: DatasetName, change: RowChange): string[] {
  return sources[dataset].affected(practice, change)
}

/** Everything that Bridgework must have of this practice at the locations that are seen (by default all of its own). */
export function truthOf(practice: Practice, view: View = ownView(practice)): Truth {
  return new Map(
    simulatedDatasets.map((dataset) => [
      dataset,
      new Map(view.locationKeys.map((key) => [key, sourceRecords(practice, dataset, key, undefined, view)])),
    ]),
  )
}
