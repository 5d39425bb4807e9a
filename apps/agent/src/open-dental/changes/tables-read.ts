/** Tables whose rows belong to a clinic; each has an index led by ClinicNum. */
export const clinicTables = [
  'patient',
  'appointment',
  'procedurelog',
  'adjustment',
  'payment',
  'paysplit',
  'claimproc',
  'payplancharge',
] as const

/** Small tables, most of them without a change stamp, that are read whole: which columns of them. Names are constants of this program. */
export const smallTables = {
  preference: 'PrefName ValueString',
  clinic: 'ClinicNum Description Address Address2 City State Zip Phone',
  employer: 'EmployerNum EmpName',
  carrier: 'CarrierNum CarrierName ElectID',
  procedurecode: 'CodeNum ProcCode Descript LaymanTerm TreatArea',
  definition: 'DefNum Category ItemName ItemValue',
  provider: 'ProvNum FName LName Abbr',
  operatory: 'OperatoryNum OpName',
  appointmenttype: 'AppointmentTypeNum AppointmentTypeName',
  patientlink: 'PatientLinkNum PatNumFrom PatNumTo LinkType DateTimeLink',
  payplan: 'PayPlanNum PatNum Guarantor PlanNum PayPlanDate CompletedAmt',
} as const

/** Every table that the agent reads. */
export const tablesRead = [
  ...namesOf(smallTables),
  'insplan',
  'feesched',
  'fee',
  'patplan',
  'inssub',
  'histappointment',
  'claimpayment',
  'referral',
  'refattach',
  ...clinicTables,
] as const

/** As well, where the version has them. */
export const tablesOfNewerVersions = ['payplanlink'] as const

/** Columns that only some versions have. */
export const columnsOfNewerVersions: ReadonlySet<string> = new Set([
  'fee.DateEffective',
  'feesched.IsGlobal',
  'patplan.SecDateTEdit',
  'patient.Country',
  'patient.PreferContactMethod',
  'patient.InsEst',
  'appointment.SecDateTEntry',
  'procedurelog.DateComplete',
  'procedurelog.SecDateEntry',
  'procedurelog.Discount',
  'payplancharge.SecDateTEntry',
  'payplanlink.AmountOverride',
  'clinic.TimeZone',
  'clinic.IsHidden',
  'clinic.Abbr',
])

/** As well, where notes of treatments are read. */
export const notesTable = 'procnote'

/** A table that the agent may read. */
export type TableName = (typeof tablesRead)[number] | (typeof tablesOfNewerVersions)[number] | typeof notesTable

/** Of these, the small ones that a cycle reads whole: what is odd in them would be told of every minute. */
export const tablesReadWhole: ReadonlySet<string> = new Set([
  'preference',
  'clinic',
  'employer',
  'carrier',
  'procedurecode',
  'definition',
  'provider',
  'operatory',
  'appointmenttype',
  'payplan',
])

/** True by TypeScript's own rule: the object's type has these names and no other. */
function namesOf<Name extends string>(tables: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(tables) as Name[]
}
