import type { RecordOf } from '@bridgework/contract/ingest'
import { related } from '../indexes.ts'
import { coverOf } from '../life/people.ts'
import type { Practice } from '../practice.ts'
import type { Patient, PatientStatus } from '../rows/people.ts'
import type { RowChange } from '../rows.ts'
import type { View } from '../view.ts'
import { money, providerName, textOrNull, wordName } from './format.ts'

const statuses: Readonly<Record<PatientStatus, readonly [string, string]>> = {
  patient: ['active', 'Patient'],
  non_patient: ['non_patient', 'NonPatient'],
  inactive: ['inactive', 'Inactive'],
  archived: ['archived', 'Archived'],
  deleted: ['archived', 'Deleted'],
  deceased: ['deceased', 'Deceased'],
  prospective: ['prospect', 'Prospective'],
}

/** A patient, the same at every location where the patient is listed. */
export function patientRecord(practice: Practice, patient: Patient): RecordOf<'patients'> {
  const [status, raw] = statuses[patient.status]
  const mergedInto = mergedIntoOf(practice, patient.key)
  return {
    source_id: patient.key,
    attributes: {
      title: textOrNull(patient.title),
      first_name: textOrNull(patient.firstName),
      middle_name: textOrNull(patient.middleName),
      last_name: textOrNull(patient.lastName),
      preferred_name: textOrNull(patient.preferredName),
      date_of_birth: patient.bornOn,
      gender: patient.gender,
      status: mergedInto === null ? status : 'merged',
      status_raw: raw,
      email: textOrNull(patient.email),
      mobile_phone: textOrNull(patient.mobilePhone),
      home_phone: textOrNull(patient.homePhone),
      work_phone: textOrNull(patient.workPhone),
      address_line_1: textOrNull(patient.addressLine1),
      address_line_2: textOrNull(patient.addressLine2),
      city: textOrNull(patient.city),
      state: textOrNull(patient.state),
      postal_code: textOrNull(patient.postalCode),
      country: null,
      chart_number: textOrNull(patient.chartNumber),
      guarantor_source_id: patient.guarantorKey,
      primary_provider_name: providerName(practice, patient.providerKey),
      billing_type: wordName(practice, patient.billingTypeKey),
      preferred_language: textOrNull(patient.language),
      preferred_contact_method: patient.contactMethod,
      first_visit_on: patient.firstVisitOn,
      fee_schedule_source_id: practice.feeSchedules.get(patient.feeScheduleKey ?? '')?.key ?? null,
      primary_insurance_plan_source_id: coverOf(practice, patient.key, 1)?.plan.key ?? null,
      secondary_insurance_plan_source_id: coverOf(practice, patient.key, 2)?.plan.key ?? null,
      balance: {
        total: money(patient.balanceCents),
        insurance_estimate: money(patient.insuranceEstimateCents),
        as_of: null,
      },
      merged_into_source_id: mergedInto,
      is_hidden: patient.status === 'deleted',
    },
  }
}

/** Listed where registered, and wherever a record refers to the patient: so that references resolve inside a location. */
export function isPatientAt(
  practice: Practice,
  view: View,
  patientKey: string,
  locationKey: string,
  seen: Set<string> = new Set(),
): boolean {
  const patient = practice.patients.get(patientKey)
  if (patient === undefined || seen.has(patientKey)) return false
  seen.add(patientKey)
  if (view.locationOf(patient.locationKey) === locationKey) return true
  const isHere = (row: { locationKey: string | null }) => view.locationOf(row.locationKey) === locationKey
  const isMeantHere =
    related(practice, 'appointments', 'patient', patientKey).some(isHere) ||
    related(practice, 'treatments', 'patient', patientKey).some(isHere) ||
    related(practice, 'splits', 'patient', patientKey).some(isHere) ||
    related(practice, 'claimLines', 'patient', patientKey).some(isHere) ||
    related(practice, 'adjustments', 'patient', patientKey).some(isHere) ||
    related(practice, 'planCharges', 'patient', patientKey).some((row) => row.kind === 'credit' && isHere(row)) ||
    related(practice, 'planCharges', 'guarantor', patientKey).some((row) => row.kind === 'debit' && isHere(row))
  if (isMeantHere) return true
  const referrers = [
    ...related(practice, 'patients', 'guarantor', patientKey).map((row) => row.key),
    ...related(practice, 'patientLinks', 'to', patientKey).flatMap((row) =>
      row.kind === 'merge' ? [row.fromKey] : [],
    ),
  ]
  if (referrers.some((key) => isPatientAt(practice, view, key, locationKey, seen))) return true
  return related(practice, 'referralSources', 'patient', patientKey)
    .flatMap((source) => related(practice, 'referrals', 'source', source.key))
    .some(
      (referral) => view.locationOf(practice.patients.get(referral.patientKey)?.locationKey ?? null) === locationKey,
    )
}

/** Keys of the patients whose record, or whose place, a change may alter. */
export function patientsAffected(practice: Practice, change: RowChange): string[] {
  switch (change.table) {
    case 'patients':
      return both(change).flatMap((patient) => [patient.key, ...standBehind(practice, patient.guarantorKey)])
    case 'patientLinks':
      return both(change).flatMap((link) => [link.fromKey, ...standBehind(practice, link.toKey)])
    case 'coverages':
      return both(change).map((coverage) => coverage.patientKey)
    case 'subscriptions':
      return both(change).flatMap((row) =>
        related(practice, 'coverages', 'subscription', row.key).map((coverage) => coverage.patientKey),
      )
    case 'appointments':
    case 'treatments':
    case 'splits':
    case 'claimLines':
    case 'adjustments':
      return movedBetween(practice, both<Placed>(change))
    case 'planCharges':
      return both(change).flatMap((row) => [
        ...standBehind(practice, row.patientKey),
        ...standBehind(practice, row.guarantorKey),
      ])
    case 'referrals':
      return both(change).flatMap((row) => {
        const friend = practice.referralSources.get(row.sourceKey)?.patientKey ?? null
        return friend === null ? [] : standBehind(practice, friend)
      })
    case 'providers':
      return having(practice, (patient) => both(change).some((row) => row.key === patient.providerKey))
    case 'definitions':
      return having(practice, (patient) => both(change).some((row) => row.key === patient.billingTypeKey))
    case 'clock': {
      const [from, to] = [change.before?.now.slice(0, 10) ?? '', change.after?.now.slice(0, 10) ?? '']
      if (from === to) return []
      return [...practice.subscriptions.values()]
        .filter((row) => row.endsOn !== null && row.endsOn >= from && row.endsOn < to)
        .flatMap((row) => related(practice, 'coverages', 'subscription', row.key).map((each) => each.patientKey))
    }
    default:
      return []
  }
}

type Placed = { readonly patientKey: string | null; readonly locationKey: string | null }

/** A row that stays with its patient at its place changes nothing of where patients are listed. */
function movedBetween(practice: Practice, rows: readonly Placed[]): string[] {
  const [one, other] = rows
  if (one !== undefined && one.patientKey === other?.patientKey && one.locationKey === other?.locationKey) return []
  return rows.flatMap(({ patientKey }) => (patientKey === null ? [] : standBehind(practice, patientKey)))
}

/** A patient and all who are listed wherever the patient is: the guarantor, and whom either was merged into. */
function standBehind(practice: Practice, patientKey: string, seen: Set<string> = new Set()): string[] {
  const patient = practice.patients.get(patientKey)
  if (patient === undefined || seen.has(patientKey)) return [...seen]
  seen.add(patientKey)
  standBehind(practice, patient.guarantorKey, seen)
  const mergedInto = mergedIntoOf(practice, patientKey)
  if (mergedInto !== null) standBehind(practice, mergedInto, seen)
  return [...seen]
}

function mergedIntoOf(practice: Practice, patientKey: string): string | null {
  return related(practice, 'patientLinks', 'from', patientKey).find((link) => link.kind === 'merge')?.toKey ?? null
}

function having(practice: Practice, suits: (patient: Patient) => boolean): string[] {
  return [...practice.patients.values()].filter(suits).map((patient) => patient.key)
}

/** The rows before and after, as far as there are any. */
export function both<Row>({ before, after }: { before: Row | null; after: Row | null }): Row[] {
  return [before, after].filter((row) => row !== null)
}
