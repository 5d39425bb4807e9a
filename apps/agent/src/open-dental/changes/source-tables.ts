import type { DatasetName, NotesRead } from '../../connector.ts'
import { columnsOfNewerVersions } from './tables-read.ts'

/** A table that records are made of, and what is read of it. Names are constants of this program, never input. */
export type SourceTable = {
  /** Its one bigint key. */
  readonly key: string
  /**
   * The column with the moment of a row's last change, UTC; `localStamp`: on the server's wall clock. Null where only digests tell: without
   * an index on the stamp each cycle would read the whole table.
   */
  readonly stamp: string | null
  readonly localStamp?: true
  /** Columns that name rows of other tables, by which those are found when this row changes; with spaces between, like all columns here. */
  readonly names: string
  /** Other columns that records show. */
  readonly shows: string
}

/**
 * The tables that may be large: a cycle reads what changed in them by their stamps, and compares a part of them by digests. Some columns
 * only newer versions have.
 */
export const sourceTables = {
  feesched: {
    key: 'FeeSchedNum',
    stamp: 'SecDateTEdit',
    names: '',
    shows: 'Description FeeSchedType IsHidden IsGlobal',
  },
  fee: {
    key: 'FeeNum',
    stamp: 'SecDateTEdit',
    names: 'FeeSched',
    shows: 'CodeNum ClinicNum ProvNum Amount DateEffective',
  },
  insplan: {
    key: 'PlanNum',
    stamp: 'SecDateTEdit',
    names: '',
    shows: 'GroupName GroupNum PlanType EmployerNum CarrierNum FeeSched MonthRenew IsHidden IsMedical',
  },
  patient: {
    key: 'PatNum',
    stamp: 'DateTStamp',
    names: 'Guarantor',
    shows:
      'Title LName FName MiddleI Preferred PatStatus Gender Birthdate Email WirelessPhone HmPhone WkPhone Address ' +
      'Address2 City State Zip Country ChartNumber PriProv BillingType Language PreferContactMethod ' +
      'DateFirstVisit FeeSched ClinicNum EstBalance InsEst',
  },
  patplan: { key: 'PatPlanNum', stamp: 'SecDateTEdit', names: 'PatNum InsSubNum', shows: 'Ordinal' },
  inssub: { key: 'InsSubNum', stamp: 'SecDateTEdit', names: '', shows: 'PlanNum DateTerm' },
  appointment: {
    key: 'AptNum',
    stamp: 'DateTStamp',
    names: 'PatNum',
    shows:
      'AptStatus Pattern Confirmed Op Note ProvNum ProvHyg AptDateTime IsNewPatient ClinicNum IsHygiene ' +
      'DateTimeArrived DateTimeSeated DateTimeDismissed AppointmentTypeNum SecDateTEntry',
  },
  histappointment: {
    key: 'HistApptNum',
    stamp: 'HistDateTStamp',
    localStamp: true,
    names: 'AptNum',
    shows: 'HistApptAction HistDateTStamp AptStatus',
  },
  procedurelog: {
    key: 'ProcNum',
    stamp: 'DateTStamp',
    names: 'PatNum AptNum PlannedAptNum',
    shows:
      'ProcDate Surf ToothNum ToothRange Priority ProcStatus ProvNum ClinicNum CodeNum DateTP DateComplete ' +
      'UnitQty BaseUnits ProcFee Discount SecDateEntry',
  },
  adjustment: {
    key: 'AdjNum',
    stamp: 'SecDateTEdit',
    names: 'PatNum ProcNum',
    shows: 'ClinicNum ProvNum AdjDate AdjType AdjAmt AdjNote',
  },
  // A new payment or check comes with rows of its own that name it; only a correction of its type or number does not.
  payment: { key: 'PayNum', stamp: null, names: '', shows: 'PayType CheckNum PayNote' },
  paysplit: {
    key: 'SplitNum',
    stamp: 'SecDateTEdit',
    names: 'PatNum',
    shows: 'ProcNum PayNum ClinicNum ProvNum DatePay SplitAmt UnearnedType PayPlanNum',
  },
  claimpayment: { key: 'ClaimPaymentNum', stamp: null, names: '', shows: 'CheckNum' },
  claimproc: {
    key: 'ClaimProcNum',
    stamp: 'SecDateTEdit',
    names: 'PatNum ProcNum',
    shows:
      'ClinicNum ProvNum DateCP ClaimNum PlanNum Status InsPayAmt WriteOff PayPlanNum ClaimPaymentNum ' +
      'InsPayEst InsEstTotal InsEstTotalOverride WriteOffEst WriteOffEstOverride NoBillIns',
  },
  payplancharge: {
    key: 'PayPlanChargeNum',
    stamp: 'SecDateTEdit',
    names: 'PatNum Guarantor',
    shows: 'ClinicNum ProvNum ProcNum ChargeDate SecDateTEntry ChargeType PayPlanNum Principal Interest',
  },
  // A row of its own for each version of a note: none is ever edited or deleted (https://www.opendental.com/site/apiprocnotes.html).
  procnote: { key: 'ProcNoteNum', stamp: null, names: 'ProcNum', shows: 'EntryDateTime Note' },
  refattach: {
    key: 'RefAttachNum',
    stamp: 'DateTStamp',
    names: 'PatNum ReferralNum',
    shows: 'ItemOrder RefDate RefType RefToStatus Note ProcNum',
  },
  referral: {
    key: 'ReferralNum',
    stamp: 'DateTStamp',
    names: 'PatNum',
    shows: 'FName LName IsDoctor NotPerson Specialty NationalProvID',
  },
} as const satisfies Record<string, SourceTable>

export type SourceTableName = keyof typeof sourceTables

/** What of `Session` tells which columns are read. */
export type ColumnsKnown = { readonly columns: ReadonlySet<string>; readonly notes: NotesRead }

/** Columns that hold what staff wrote, and the dataset that shows it: read only where its notes are. */
const noteColumns: Readonly<Record<string, DatasetName>> = {
  'appointment.Note': 'appointments',
  'adjustment.AdjNote': 'ledger_transactions',
  'payment.PayNote': 'ledger_transactions',
  'refattach.Note': 'patient_referrals',
}

/** What is read of a table's rows, as far as this database has it. */
export function columnsOf(session: ColumnsKnown, table: SourceTableName): string[] {
  const { key, names, shows }: SourceTable = sourceTables[table]
  return [key, ...names.split(' '), ...shows.split(' ')].filter(
    (column) => column !== '' && hasColumn(session, table, column),
  )
}

/** Whether this database has the column, and it may be read. */
export function hasColumn({ columns, notes }: ColumnsKnown, table: SourceTableName, column: string): boolean {
  const name = `${table}.${column}`
  const dataset = noteColumns[name]
  if (dataset !== undefined && !notes.has(dataset)) return false
  return !columnsOfNewerVersions.has(name) || columns.has(name)
}

/** Whether the notes of treatments are read: they have a table of their own, which the database user may lack the right to. */
export function readsTreatmentNotes({ columns, notes }: ColumnsKnown): boolean {
  return notes.has('treatments') && columns.has('procnote.Note')
}

/** A column with a note, in a statement whose table has this alias; null where notes are not read. */
export function noteColumn(session: ColumnsKnown, table: SourceTableName, alias: string, column: string): string {
  return hasColumn(session, table, column) ? `${alias}.${column}` : `null as ${column}`
}
