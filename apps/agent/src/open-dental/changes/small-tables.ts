import type { Row } from '../database/connection.ts'
import type { Reading } from '../dataset.ts'
import { text, textOrNull } from '../records/values.ts'
import { type Lookup, lookupOf, readLookup } from './lookup.ts'
import type { TableName } from './tables-read.ts'

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
  /** Who was merged into whom, oldest first; a link is never changed. */
  mergeLinks:
    'select PatientLinkNum as id, PatNumFrom, PatNumTo from patientlink where LinkType = 1 order by DateTimeLink, PatientLinkNum',
  paymentPlans:
    'select PayPlanNum as id, PatNum, Guarantor, PlanNum, PayPlanDate, cast(CompletedAmt as decimal(19,2)) as CompletedAmt from payplan',
  preferences: "select PrefName as id, ValueString as value from preference where PrefName = 'PayPlansVersion'",
} as const

/** The table that each statement reads. */
const tables: Readonly<Record<keyof typeof statements, TableName>> = {
  definitions: 'definition',
  providers: 'provider',
  operatories: 'operatory',
  appointmentTypes: 'appointmenttype',
  procedureCodes: 'procedurecode',
  employers: 'employer',
  carriers: 'carrier',
  feeSchedules: 'feesched',
  mergeLinks: 'patientlink',
  paymentPlans: 'payplan',
  preferences: 'preference',
}

/** What is made of another of them. */
const parts = {
  codes: ['procedureCodes', ({ rows }) => [...rows].map(([id, row]) => ({ id, code: row.ProcCode ?? null }))],
  /** Texts on several procedures at once; kept among the procedures under a code of their own. */
  groupNotes: [
    'procedureCodes',
    ({ rows }) => [...rows].filter(([, row]) => row.ProcCode === '~GRP~').map(([id]) => ({ id })),
  ],
  /**
   * By the patient who is merged away now. Open Dental's PatientLinks.WasPatientMerged: the newest link from a patient decides, and a later
   * link into that patient cancels it. Of links of one moment the one that was stored last is later here, so that merges never form a ring.
   */
  merges: [
    'mergeLinks',
    ({ rows }) => {
      const merges = new Map<string, Row>()
      for (const { PatNumFrom = null, PatNumTo = null } of rows.values()) {
        if (PatNumFrom === PatNumTo) continue
        merges.set(PatNumFrom ?? '', { id: PatNumFrom, PatNumTo })
        merges.delete(PatNumTo ?? '')
      }
      return [...merges.values()]
    },
  ],
} satisfies Record<string, readonly [from: keyof typeof statements, rows: (of: Lookup) => Row[]]>

export type SmallTable = keyof typeof statements | keyof typeof parts

export function readSmallTable(reading: Reading, name: SmallTable): Promise<Lookup> {
  const from = isPart(name) ? parts[name][0] : name
  return reading.lookup(name, [tables[from]], async () =>
    isPart(name)
      ? lookupOf(parts[name][1](await readSmallTable(reading, from)))
      : await readLookup(reading.session.database, statements[name]),
  )
}

/** "First Last", or what the practice calls the provider for short. */
export function providerName(providers: Lookup | undefined, id: string | null | undefined): string | null {
  const row = providers?.rows.get(id ?? '')
  return textOrNull(`${text(row?.FName)} ${text(row?.LName)}`) ?? textOrNull(row?.Abbr)
}

/** Lists of definitions, by Open Dental's numbers (`DefCat`). */
const definitionLists = {
  adjustmentTypes: '1',
  confirmations: '2',
  billingTypes: '4',
  paymentTypes: '10',
  treatmentPriorities: '20',
  specialties: '35',
} as const

/** What a definition is called. As in Open Dental's Defs.GetName, one of another list has no name here. */
export function definitionName(
  definitions: Lookup | undefined,
  list: keyof typeof definitionLists,
  id: string | null | undefined,
): string | null {
  const row = definitions?.rows.get(id ?? '')
  return row?.Category === definitionLists[list] ? textOrNull(row.ItemName) : null
}

function isPart(name: SmallTable): name is keyof typeof parts {
  return name in parts
}
