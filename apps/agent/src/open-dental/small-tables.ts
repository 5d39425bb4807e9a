import type { Row } from './connection.ts'
import type { Reading } from './dataset.ts'
import { type Lookup, lookupOf, readLookup } from './lookup.ts'
import { text, textOrNull } from './values.ts'

/** Tables that are small and read whole, most of them without a change stamp. Each is read once per cycle. */
const statements = {
  definitions: 'select DefNum as id, Category, ItemName, ItemValue from definition',
  providers: 'select ProvNum as id, FName, LName, Abbr from provider',
  operatories: 'select OperatoryNum as id, OpName from operatory',
  appointmentTypes: 'select AppointmentTypeNum as id, AppointmentTypeName from appointmenttype',
  procedureCodes:
    "select CodeNum as id, ProcCode, coalesce(nullif(trim(LaymanTerm), ''), Descript) as Description, TreatArea from procedurecode",
  employers: 'select EmployerNum as id, EmpName as name from employer',
  carriers: 'select CarrierNum as id, CarrierName as name, ElectID as payer_id from carrier',
  feeSchedules: 'select FeeSchedNum as id from feesched',
  /** Who was merged into whom; a link is never changed. */
  merges: 'select PatNumFrom as id, max(PatNumTo) as PatNumTo from patientlink where LinkType = 1 group by PatNumFrom',
  paymentPlans:
    'select PayPlanNum as id, PatNum, Guarantor, PlanNum, PayPlanDate, cast(CompletedAmt as decimal(19,2)) as CompletedAmt from payplan',
  preferences: "select PrefName as id, ValueString as value from preference where PrefName = 'PayPlansVersion'",
} as const

/** What is made of another of them. */
const parts: Readonly<Record<'codes' | 'groupNotes', (codes: Lookup) => Row[]>> = {
  codes: ({ rows }) => [...rows].map(([id, row]) => ({ id, code: row.ProcCode ?? null })),
  /** Texts on several procedures at once; kept among the procedures under a code of their own. */
  groupNotes: ({ rows }) => [...rows].filter(([, row]) => row.ProcCode === '~GRP~').map(([id]) => ({ id })),
}

export type SmallTable = keyof typeof statements | keyof typeof parts

export function readSmallTable(reading: Reading, name: SmallTable): Promise<Lookup> {
  return reading.lookup(name, async () =>
    name === 'codes' || name === 'groupNotes'
      ? lookupOf(parts[name](await readSmallTable(reading, 'procedureCodes')))
      : await readLookup(reading.session.database, statements[name]),
  )
}

/** "First Last", or what the practice calls the provider for short. */
export function providerName(providers: Lookup | undefined, id: string | null | undefined): string | null {
  const row = providers?.rows.get(id ?? '')
  return textOrNull(`${text(row?.FName)} ${text(row?.LName)}`) ?? textOrNull(row?.Abbr)
}

/** What a definition is called, whichever list it is in. */
export function definitionName(definitions: Lookup | undefined, id: string | null | undefined): string | null {
  return textOrNull(definitions?.rows.get(id ?? '')?.ItemName)
}
