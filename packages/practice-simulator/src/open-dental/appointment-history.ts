import type { Appointment } from '../rows/care.ts'
import type { RowChange } from '../rows.ts'
import { careTables } from './care-rows.ts'
import { type ClinicOf, type Columns, dateTime, reference } from './table.ts'

const actions = { created: 0, changed: 1, missed: 2, cancelled: 3, deleted: 4 } as const

/** The row of the appointment's history that a workstation writes beside this change; null when it writes none. */
export function historyOf(change: RowChange, clinicOf: ClinicOf, at: string): Columns | null {
  if (change.table !== 'appointments') return null
  const { before, after } = change
  if (after === null) {
    // Now and then no user is logged on, and nothing is written: only the missing key shows it.
    return before === null || BigInt(before.key) % 3n === 0n ? null : historyRow(before, 'deleted', clinicOf, at)
  }
  if (before === null) return historyRow(after, 'created', clinicOf, at)
  if (after.status === 'broken') {
    return before.status === 'broken' || after.broken === null ? null : historyRow(after, after.broken, clinicOf, at)
  }
  return before.status === after.status && before.startsAt === after.startsAt
    ? null
    : historyRow(after, 'changed', clinicOf, at)
}

/** What the history of an older appointment holds: why it did not take place. */
export function pastHistoryOf(row: Appointment, clinicOf: ClinicOf): Columns | null {
  return row.broken === null ? null : historyRow(row, row.broken, clinicOf, row.startsAt ?? '2026-01-01T08:00:00')
}

function historyRow(row: Appointment, action: keyof typeof actions, clinicOf: ClinicOf, at: string): Columns {
  return {
    ...careTables.appointments.columns(row, clinicOf),
    AptNum: reference(row.key),
    HistApptAction: actions[action],
    HistDateTStamp: dateTime(at),
  }
}
