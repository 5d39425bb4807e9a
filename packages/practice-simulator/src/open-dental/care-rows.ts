import { appointmentStatuses, areas, treatmentStatuses } from '../rows/care.ts'
import type { Rows } from '../rows.ts'
import { amount, date, dateTime, flag, type OpenDentalTable, reference } from './table.ts'

type CareTable = 'appointmentTypes' | 'appointments' | 'procedureCodes' | 'treatments'

/** What is done in the practice, and when. */
export const careTables: { readonly [T in CareTable]: OpenDentalTable<Rows[T]> } = {
  appointmentTypes: {
    table: 'appointmenttype',
    key: 'AppointmentTypeNum',
    stamp: null,
    columns: (row) => ({ AppointmentTypeName: row.name }),
  },
  appointments: {
    table: 'appointment',
    key: 'AptNum',
    stamp: 'DateTStamp',
    columns: (row, clinicOf) => ({
      PatNum: reference(row.patientKey),
      AptStatus: appointmentStatuses[row.status],
      Pattern: 'X'.repeat(row.minutes / 5),
      Confirmed: reference(row.confirmationKey),
      Op: reference(row.operatoryKey),
      ProvNum: reference(row.providerKey),
      ProvHyg: reference(row.hygienistKey),
      IsHygiene: flag(row.isHygiene),
      IsNewPatient: flag(row.isNewPatient),
      AppointmentTypeNum: reference(row.typeKey),
      AptDateTime: dateTime(row.startsAt),
      DateTimeArrived: dateTime(row.arrivedAt),
      DateTimeSeated: dateTime(row.seatedAt),
      DateTimeDismissed: dateTime(row.dismissedAt),
      Note: row.note,
      SecDateTEntry: dateTime(row.createdAt),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  procedureCodes: {
    table: 'procedurecode',
    key: 'CodeNum',
    stamp: 'DateTStamp',
    columns: (row) => ({ ProcCode: row.code, Descript: row.description, TreatArea: areas.indexOf(row.area) + 1 }),
  },
  treatments: {
    table: 'procedurelog',
    key: 'ProcNum',
    stamp: 'DateTStamp',
    columns: (row, clinicOf) => ({
      PatNum: reference(row.patientKey),
      AptNum: reference(row.appointmentKey),
      PlannedAptNum: reference(row.plannedAppointmentKey),
      CodeNum: reference(row.codeKey),
      ProcStatus: treatmentStatuses[row.status].number,
      ProvNum: reference(row.providerKey),
      ProcFee: amount(row.feeCents),
      // Both count: units of the code itself, and those that it always has.
      UnitQty: row.quantity,
      BaseUnits: 0,
      Discount: amount(row.discountCents),
      ToothNum: row.teeth.length === 1 ? (row.teeth[0] ?? '') : '',
      ToothRange: row.teeth.length > 1 ? row.teeth.join(',') : '',
      Surf: row.surfaces,
      Priority: reference(row.priorityKey),
      ProcDate: date(row.completedOn ?? row.plannedOn),
      DateTP: date(row.plannedOn),
      DateComplete: date(row.completedOn),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
}
