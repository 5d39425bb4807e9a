import type { RecordOf } from '@bridgework/contract/ingest'
import { related } from '../indexes.ts'
import { chargeOf } from '../life/account.ts'
import type { Practice } from '../practice.ts'
import type { Appointment, AppointmentStatus, Treatment } from '../rows/care.ts'
import type { RowChange } from '../rows.ts'
import type { View } from '../view.ts'
import { addMinutes, instantOf } from '../wall-time.ts'
import { money, providerName, textOrNull, wordName } from './format.ts'
import { both } from './patients.ts'

const names: Readonly<Record<AppointmentStatus, string>> = {
  scheduled: 'Scheduled',
  complete: 'Complete',
  unscheduled: 'UnschedList',
  broken: 'Broken',
  planned: 'Planned',
  note: 'PtNote',
  note_complete: 'PtNoteCompleted',
}

export function appointmentRecord(practice: Practice, view: View, visit: Appointment): RecordOf<'appointments'> {
  const timeZone = view.timeZoneOf(view.locationOf(visit.locationKey))
  const instant = (at: string | null) => (at === null ? null : instantOf(at, timeZone))
  const treatments = treatmentsOf(practice, visit)
  const confirmation = wordName(practice, visit.confirmationKey)
  return {
    source_id: visit.key,
    attributes: {
      patient_source_id: visit.patientKey,
      provider_name: providerName(practice, visit.providerKey),
      hygienist_name: providerName(practice, visit.hygienistKey),
      operatory_name: textOrNull(practice.operatories.get(visit.operatoryKey ?? '')?.name),
      appointment_type: textOrNull(practice.appointmentTypes.get(visit.typeKey ?? '')?.name),
      status: statusOf(visit, confirmation),
      status_raw: names[visit.status] + (confirmation === null ? '' : `, ${confirmation}`),
      starts_at: instant(visit.startsAt),
      ends_at: visit.startsAt === null ? null : instant(addMinutes(visit.startsAt, visit.minutes)),
      local_starts_at: visit.startsAt,
      time_zone: timeZone,
      duration_minutes: visit.minutes,
      is_new_patient: visit.isNewPatient,
      is_hygiene: visit.isHygiene,
      is_block: visit.status === 'note' || visit.status === 'note_complete',
      arrived_at: instant(visit.arrivedAt),
      seated_at: instant(visit.seatedAt),
      dismissed_at: instant(visit.dismissedAt),
      treatment_source_ids: treatments.map((treatment) => treatment.key),
      scheduled_production:
        treatments.length === 0 ? null : money(treatments.reduce((sum, treatment) => sum + chargeOf(treatment), 0)),
      note: textOrNull(visit.note),
      created_at: instant(visit.createdAt),
      is_hidden: false,
    },
  }
}

/** Keys of the appointments whose record a change alters. */
export function appointmentsAffected(practice: Practice, change: RowChange): string[] {
  switch (change.table) {
    case 'appointments':
      return both(change).map((visit) => visit.key)
    case 'treatments':
      return both(change).flatMap((row) =>
        [row.appointmentKey, row.plannedAppointmentKey].filter((key) => key !== null),
      )
    case 'providers':
      return having(practice, change, (visit) => [visit.providerKey, visit.hygienistKey])
    case 'operatories':
      return having(practice, change, (visit) => [visit.operatoryKey])
    case 'definitions':
      return having(practice, change, (visit) => [visit.confirmationKey])
    case 'appointmentTypes':
      return having(practice, change, (visit) => [visit.typeKey])
    case 'locations':
      return having(practice, change, (visit) => [visit.locationKey])
    default:
      return []
  }
}

/** A planned visit holds what would be done in it; every other what is done in it. None holds what was deleted. */
function treatmentsOf(practice: Practice, visit: Appointment): Treatment[] {
  const by = visit.status === 'planned' ? 'plannedAppointment' : 'appointment'
  return related(practice, 'treatments', by, visit.key).filter((treatment) => treatment.status !== 'deleted')
}

function statusOf(visit: Appointment, confirmation: string | null): string {
  switch (visit.status) {
    case 'scheduled':
      if (visit.seatedAt !== null) return 'in_chair'
      if (visit.arrivedAt !== null) return 'arrived'
      return confirmation !== null && /confirm/i.test(confirmation) && !/unconfirm|not/i.test(confirmation)
        ? 'confirmed'
        : 'scheduled'
    case 'complete':
    case 'note_complete':
      return 'completed'
    case 'broken':
      if (visit.broken === null) return 'broken'
      return visit.broken === 'missed' ? 'no_show' : 'cancelled'
    case 'note':
      return 'scheduled'
    default:
      return visit.status
  }
}

function having(
  practice: Practice,
  change: RowChange,
  keysOf: (visit: Appointment) => readonly (string | null)[],
): string[] {
  const keys: (string | null)[] = [change.before, change.after].flatMap((row) => (row === null ? [] : [row.key]))
  return [...practice.appointments.values()]
    .filter((visit) => keysOf(visit).some((key) => key !== null && keys.includes(key)))
    .map((visit) => visit.key)
}
