import type { Reading } from './dataset.ts'
import { type Lookup, readLookup } from './lookup.ts'
import { text, textOrNull } from './values.ts'

/** Tables that are small and read whole, most of them without a change stamp. Each is read once per cycle. */
const statements = {
  definitions: 'select DefNum as id, Category, ItemName, ItemValue from definition',
  providers: 'select ProvNum as id, FName, LName, Abbr from provider',
  operatories: 'select OperatoryNum as id, OpName from operatory',
  appointmentTypes: 'select AppointmentTypeNum as id, AppointmentTypeName from appointmenttype',
  procedureCodes:
    "select CodeNum as id, ProcCode, coalesce(nullif(trim(LaymanTerm), ''), Descript) as Description, TreatArea from procedurecode",
  /** Texts on several procedures at once; kept among the procedures under a code of their own. */
  groupNotes: "select CodeNum as id from procedurecode where ProcCode = '~GRP~'",
  feeSchedules: 'select FeeSchedNum as id from feesched',
  /** Who was merged into whom; a link is never changed. */
  merges: 'select PatNumFrom as id, max(PatNumTo) as PatNumTo from patientlink where LinkType = 1 group by PatNumFrom',
  paymentPlans:
    'select PayPlanNum as id, PatNum, Guarantor, PlanNum, PayPlanDate, cast(CompletedAmt as decimal(19,2)) as CompletedAmt from payplan',
  preferences: "select PrefName as id, ValueString as value from preference where PrefName = 'PayPlansVersion'",
} as const

export type SmallTable = keyof typeof statements

export function readSmallTable({ session, lookup }: Reading, name: SmallTable): Promise<Lookup> {
  return lookup(name, () => readLookup(session.database, statements[name]))
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
