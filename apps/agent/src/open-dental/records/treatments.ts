import type { RecordOf } from '../../connector.ts'
import { changedKeys } from '../changes/changed-rows.ts'
import { keyList } from '../changes/keys.ts'
import { neverShrinking } from '../changes/never-shrinking.ts'
import { plainTable } from '../changes/record-table.ts'
import { definitionName, providerName, readSmallTable } from '../changes/small-tables.ts'
import { readsTreatmentNotes } from '../changes/source-tables.ts'
import { notesTable } from '../changes/tables-read.ts'
import type { Row } from '../database/connection.ts'
import type { DatasetReader, Lookups, Reading } from '../dataset.ts'
import { byLocation } from '../location-map.ts'
import { dateOrNull, moneyOrNull, negated, referenceOrNull, sumOfMoney, text, textOrNull } from './values.ts'

const statuses: Readonly<Record<string, readonly [string, string]>> = {
  '1': ['planned', 'TP'],
  '2': ['completed', 'C'],
  '3': ['existing', 'EC'],
  '4': ['existing', 'EO'],
  '5': ['referred_out', 'R'],
  '6': ['inactive', 'D'],
  '7': ['condition', 'Cn'],
  '8': ['inactive', 'TPi'],
}

const areas: Readonly<Record<string, string>> = {
  '1': 'surface',
  '2': 'tooth',
  '3': 'mouth',
  '4': 'quadrant',
  '5': 'sextant',
  '6': 'arch',
  '7': 'range',
}

/** `AptStatus` of a visit that lies ahead: scheduled, and as soon as possible. What is planned for any other is only planned. */
const statusesAhead = ['1', '4']

/** The contract lists no more. */
const teethMax = 60

/** Procedures, planned and done. A deleted one keeps its row. Group notes are texts, not treatments. */
export const treatments: DatasetReader = {
  reads: ({ session }) => [
    'procedurelog',
    'claimproc',
    'adjustment',
    'appointment',
    'definition',
    'provider',
    'procedurecode',
    ...(readsTreatmentNotes(session) ? ([notesTable] as const) : []),
  ],
  tables: [plainTable('procedurelog', 'ProcNum')],
  keysPerChunk: 5000,

  readLookups: async (reading) => ({
    definitions: await readSmallTable(reading, 'definitions'),
    providers: await readSmallTable(reading, 'providers'),
    procedureCodes: await readSmallTable(reading, 'procedureCodes'),
  }),

  readHighest: (reading) => neverShrinking(reading, ['procedurelog']),

  readNewestNote: async ({ session }) => {
    if (!readsTreatmentNotes(session)) return
    const [row] = await session.database.query('select max(ProcNoteNum) as newest from procnote')
    return row?.newest ?? '0'
  },

  changedKeys: async (reading, since) => {
    const changed = changedKeys(reading.session.database)
    const ofProcedure = 'select ProcNum as id from procedurelog where'
    changed.addKeys((await since.rows('procedurelog')).rows.map((row) => row.id))
    for (const table of ['claimproc', 'adjustment'] as const) {
      changed.addKeys((await since.rows(table)).rows.map((row) => row.ProcNum))
      // Estimates are deleted and made anew all the time.
      await changed.addInRuns(ofProcedure, 'ProcNum', since.compared.differing(`${table}.ProcNum`))
    }
    if (readsTreatmentNotes(reading.session) && since.newestNote !== null) {
      // A new version of a note leaves its treatment as it was. Its key is the highest, but where keys are drawn at random: there a run differs.
      await changed.add('select ProcNum as id from procnote where ProcNoteNum > ?', [since.newestNote])
      await changed.addInRuns(ofProcedure, 'ProcNum', since.compared.differing('procnote.ProcNum'))
    }
    // Whether it is scheduled, the visit says.
    await changed.addNaming(`${ofProcedure} ProcStatus = 1 and`, 'AptNum', await since.rows('appointment'))
    await changed.addReferring(ofProcedure, 'Priority', since.changed('definitions'))
    await changed.addReferring(ofProcedure, 'ProvNum', since.changed('providers'))
    await changed.addReferring(ofProcedure, 'CodeNum', since.changed('procedureCodes'))
    return [...changed.keys]
  },

  readRecords: async (reading, lookups, keys) => {
    const { database, columns } = reading.session
    const rows = await database.query(
      `select p.ProcNum, p.PatNum, p.AptNum, p.PlannedAptNum, p.ProcDate, p.Surf, p.ToothNum, p.ToothRange, p.Priority,
              p.ProcStatus, p.ProvNum, p.ClinicNum, p.CodeNum, p.DateTP,
              ${columns.has('procedurelog.DateComplete') ? 'p.DateComplete' : 'null as DateComplete'},
              greatest(1, p.UnitQty + p.BaseUnits) as Quantity,
              cast(p.ProcFee * greatest(1, p.UnitQty + p.BaseUnits) as decimal(19,2)) as ProcFee,
              ${columns.has('procedurelog.Discount') ? 'cast(p.Discount as decimal(19,2))' : 'null'} as Discount,
              a.AptStatus
         from procedurelog p
         left join appointment a on a.AptNum = p.AptNum and p.AptNum <> 0
        where p.ProcNum in (${keyList(keys)})
        order by p.ProcNum`,
    )
    const estimates = await readEstimates(reading, keys)
    const adjustments = await readAdjustments(reading, keys)
    const notes = await readNotes(reading, keys)
    return byLocation(
      rows
        .filter((row) => lookups.procedureCodes?.rows.get(row.CodeNum ?? '')?.ProcCode !== '~GRP~')
        .map((row) => {
          const id = row.ProcNum ?? ''
          const account = { insurance: estimates.get(id), adjustments: adjustments.get(id) ?? '0.00' }
          const record = treatment(row, lookups, account, reading.locations.isSingle)
          return [reading.locations.of(row.ClinicNum), withNote(record, notes.get(id))]
        }),
    )
  },
}

/** Of one treatment. `expected`: null when nothing is. `settled`: what was paid and written off already. */
type Insurance = { readonly expected: string | null; readonly writeOff: string; readonly settled: string }

/**
 * What insurance is expected to pay: of a claim that was sent (status 0), or of work that was not claimed yet (6, and 8 for capitation), where an
 * override counts before the computed amount. What is expected to be written off, by Open Dental's `ClaimProcs.GetWriteOffEstimate`: of either, the
 * override before the computed amount; -1 is blank. And what insurance has paid and was written off for it (1, 4, and 5 and 7 for capitation).
 */
async function readEstimates({ session }: Reading, keys: readonly string[]): Promise<Map<string, Insurance>> {
  const rows = await session.database.query(
    `select ProcNum,
            cast(sum(case when Status in (1, 4, 5, 7) then null
                          when Status = 0 then InsPayEst
                          when InsEstTotalOverride <> -1 then InsEstTotalOverride
                          else InsEstTotal end) as decimal(19,2)) as InsEstTotal,
            cast(sum(case when Status in (1, 4, 5, 7) then 0
                          when WriteOffEstOverride <> -1 then WriteOffEstOverride
                          when WriteOffEst <> -1 then WriteOffEst
                          else 0 end) as decimal(19,2)) as WriteOffEst,
            cast(sum(case when Status in (1, 4, 5, 7) then InsPayAmt + WriteOff else 0 end) as decimal(19,2)) as InsPayAmt
       from claimproc
      where ProcNum in (${keyList(keys)}) and (Status in (1, 4, 5, 7) or (Status in (0, 6, 8) and NoBillIns = 0))
      group by ProcNum`,
  )
  return new Map(
    rows.map((row) => [
      row.ProcNum ?? '',
      {
        expected: moneyOrNull(row.InsEstTotal),
        writeOff: moneyOrNull(row.WriteOffEst) ?? '0.00',
        settled: moneyOrNull(row.InsPayAmt) ?? '0.00',
      },
    ]),
  )
}

async function readAdjustments({ session }: Reading, keys: readonly string[]): Promise<Map<string, string>> {
  const rows = await session.database.query(
    `select ProcNum, cast(sum(AdjAmt) as decimal(19,2)) as AdjAmt
       from adjustment
      where ProcNum in (${keyList(keys)})
      group by ProcNum`,
  )
  return new Map(rows.map((row) => [row.ProcNum ?? '', moneyOrNull(row.AdjAmt) ?? '0.00']))
}

/** The newest version of each note, where notes are read: as in Open Dental, the last one that was entered. */
async function readNotes({ session }: Reading, keys: readonly string[]): Promise<Map<string, string | null>> {
  if (!readsTreatmentNotes(session)) return new Map()
  const rows = await session.database.query(
    `select n.ProcNum, n.Note
       from procnote n
       left join procnote later
         on later.ProcNum = n.ProcNum
        and (later.EntryDateTime > n.EntryDateTime
             or (later.EntryDateTime = n.EntryDateTime and later.ProcNoteNum > n.ProcNoteNum))
      where n.ProcNum in (${keyList(keys)}) and later.ProcNoteNum is null`,
  )
  return new Map(rows.map((row) => [row.ProcNum ?? '', textOrNull(row.Note)]))
}

function withNote(record: RecordOf<'treatments'>, note: string | null = null): RecordOf<'treatments'> {
  return { ...record, attributes: { ...record.attributes, note } }
}

type Account = { readonly insurance: Insurance | undefined; readonly adjustments: string }

/**
 * What is left to the patient, by Open Dental's rule for its "patient portion" (24.3, `ClaimProcs.GetPatPortion`): the fee, less what insurance
 * has paid and is expected to pay, less what was and will be written off, plus the adjustments of this treatment. The discount is still to come
 * off what is planned; with completion it becomes an adjustment. Null where insurance has no part in it.
 */
function patientEstimate(row: Row, { insurance, adjustments }: Account): string | null {
  const fee = moneyOrNull(row.ProcFee)
  if (insurance === undefined || fee === null) return null
  const discount = row.ProcStatus === '1' ? (moneyOrNull(row.Discount) ?? '0.00') : '0.00'
  const less = [insurance.expected ?? '0.00', insurance.writeOff, insurance.settled, discount]
  return sumOfMoney(fee, adjustments, ...less.map(negated))
}

function treatment(row: Row, lookups: Lookups, account: Account, isSingle: boolean): RecordOf<'treatments'> {
  const code = lookups.procedureCodes?.rows.get(row.CodeNum ?? '')
  const appointment = referenceOrNull(row.AptNum)
  const patient = referenceOrNull(row.PatNum)
  const [status, statusRaw] = statuses[row.ProcStatus ?? ''] ?? ['inactive', `Status ${row.ProcStatus}`]
  const appointments = [appointment, referenceOrNull(row.PlannedAptNum)].filter((id) => id !== null)
  return {
    source_id: row.ProcNum ?? '',
    attributes: {
      patient_source_id: patient,
      provider_name: providerName(lookups.providers, row.ProvNum),
      appointment_source_id: appointment,
      procedure_code: textOrNull(code?.ProcCode),
      description: textOrNull(code?.Description),
      status: status === 'planned' && statusesAhead.includes(row.AptStatus ?? '') ? 'scheduled' : status,
      status_raw: statusRaw,
      area: areas[code?.TreatArea ?? ''] ?? null,
      teeth: teethOf(row),
      surfaces: textOrNull(row.Surf),
      quantity: Number(row.Quantity),
      fee: moneyOrNull(row.ProcFee),
      discount: moneyOrNull(row.Discount),
      insurance_estimate: account.insurance?.expected ?? null,
      patient_estimate: patientEstimate(row, account),
      priority: definitionName(lookups.definitions, 'treatmentPriorities', row.Priority),
      planned_on: dateOrNull(row.DateTP),
      completed_on: dateOrNull(row.DateComplete) ?? (row.ProcStatus === '2' ? dateOrNull(row.ProcDate) : null),
      note: null,
      is_hidden: row.ProcStatus === '6',
    },
    bearsOn: [
      ...(isSingle || patient === null ? [] : [`patients/${patient}`]),
      ...new Set(appointments.map((id) => `appointments/${id}`)),
    ],
  }
}

function teethOf(row: Row): string[] {
  const tooth = text(row.ToothNum)
  if (tooth !== '') return [tooth]
  return text(row.ToothRange)
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .slice(0, teethMax)
}
