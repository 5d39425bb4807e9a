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

/** Every table that the agent reads. */
export const tablesRead = [
  'preference',
  'clinic',
  'employer',
  'carrier',
  'insplan',
  'feesched',
  'fee',
  'procedurecode',
  'definition',
  'provider',
  'operatory',
  'appointmenttype',
  'patientlink',
  'patplan',
  'inssub',
  'histappointment',
  'claimpayment',
  'payplan',
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
