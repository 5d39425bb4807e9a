import type { RecordOf } from '@bridgework/contract/ingest'
import { related } from '../indexes.ts'
import { chargeOf } from '../life/account.ts'
import type { Practice } from '../practice.ts'
import { type Treatment, type TreatmentStatus, treatmentStatuses } from '../rows/care.ts'
import type { RowChange } from '../rows.ts'
import { money, providerName, textOrNull, wordName } from './format.ts'
import { both } from './patients.ts'

const statuses: Readonly<Record<TreatmentStatus, string>> = {
  planned: 'planned',
  complete: 'completed',
  existing_current: 'existing',
  existing_other: 'existing',
  referred_out: 'referred_out',
  deleted: 'inactive',
  condition: 'condition',
  planned_inactive: 'inactive',
}

export function treatmentRecord(practice: Practice, treatment: Treatment): RecordOf<'treatments'> {
  const code = practice.procedureCodes.get(treatment.codeKey)
  const awaited = related(practice, 'claimLines', 'treatment', treatment.key).filter(
    (line) => line.status === 'estimate' || line.status === 'sent',
  )
  const fee = chargeOf(treatment)
  const expected = awaited.reduce((sum, line) => sum + line.estimateCents, 0)
  const writtenOff = awaited.reduce(
    (sum, line) => sum + (line.status === 'sent' ? line.writeOffCents : line.writeOffEstimateCents),
    0,
  )
  const lines = related(practice, 'claimLines', 'treatment', treatment.key)
  const settled = lines.filter((line) => !awaited.includes(line))
  const paid = settled.reduce((sum, line) => sum + line.paidCents + line.writeOffCents, 0)
  const adjusted = related(practice, 'adjustments', 'treatment', treatment.key).reduce(
    (sum, row) => sum + row.amountCents,
    0,
  )
  // What is done has its discount among the adjustments.
  const discount = treatment.status === 'planned' ? treatment.discountCents : 0
  const visit = practice.appointments.get(treatment.appointmentKey ?? '')
  const isScheduled = treatment.status === 'planned' && visit?.status === 'scheduled'
  return {
    source_id: treatment.key,
    attributes: {
      patient_source_id: treatment.patientKey,
      provider_name: providerName(practice, treatment.providerKey),
      appointment_source_id: treatment.appointmentKey,
      procedure_code: textOrNull(code?.code),
      description: textOrNull(code?.description),
      status: isScheduled ? 'scheduled' : statuses[treatment.status],
      status_raw: treatmentStatuses[treatment.status].letters,
      area: code?.area ?? null,
      teeth: [...treatment.teeth],
      surfaces: textOrNull(treatment.surfaces),
      quantity: treatment.quantity,
      fee: money(fee),
      discount: money(treatment.discountCents),
      insurance_estimate: awaited.length === 0 ? null : money(expected),
      patient_estimate: lines.length === 0 ? null : money(fee + adjusted - discount - expected - writtenOff - paid),
      priority: wordName(practice, treatment.priorityKey),
      planned_on: treatment.plannedOn,
      completed_on: treatment.completedOn,
      note: null,
      is_hidden: treatment.status === 'deleted',
    },
  }
}

/** Keys of the treatments whose record a change alters. */
export function treatmentsAffected(practice: Practice, change: RowChange): string[] {
  switch (change.table) {
    case 'treatments':
      return both(change).map((treatment) => treatment.key)
    case 'appointments':
      return both(change).flatMap((visit) =>
        related(practice, 'treatments', 'appointment', visit.key).map((treatment) => treatment.key),
      )
    case 'claimLines':
      return both(change).flatMap((line) => line.treatmentKey ?? [])
    case 'adjustments':
      return both(change).flatMap((row) => row.treatmentKey ?? [])
    case 'procedureCodes':
      return having(practice, change, (treatment) => treatment.codeKey)
    case 'providers':
      return having(practice, change, (treatment) => treatment.providerKey)
    case 'definitions':
      return having(practice, change, (treatment) => treatment.priorityKey)
    default:
      return []
  }
}

function having(practice: Practice, change: RowChange, keyOf: (treatment: Treatment) => string | null): string[] {
  const keys: (string | null)[] = [change.before, change.after].flatMap((row) => (row === null ? [] : [row.key]))
  return [...practice.treatments.values()]
    .filter((treatment) => keys.includes(keyOf(treatment)))
    .map((treatment) => treatment.key)
}
