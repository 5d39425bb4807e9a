import type { SourceRecord } from '../connector.ts'
import { changedRows } from './changed-rows.ts'
import type { Row } from './connection.ts'
import type { DatasetReader, Lookups, Reading } from './dataset.ts'
import { keyList } from './keys.ts'
import { byLocation } from './location-map.ts'
import { neverShrinking } from './never-shrinking.ts'
import { inBuckets, plainTable, readBuckets } from './record-table.ts'
import { definitionName, providerName, readSmallTable } from './small-tables.ts'
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

/** Treatments of one bucket of estimates. Estimates are deleted and made anew all the time. */
const estimateBucketSize = 500

/** The contract lists no more. */
const teethMax = 60

/** Procedures, planned and done. A deleted one keeps its row. Group notes are texts, not treatments. */
export const treatments: DatasetReader = {
  tables: [plainTable('procedurelog', 'ProcNum')],
  keysPerChunk: 5000,

  readLookups: async (reading) => ({
    definitions: await readSmallTable(reading, 'definitions'),
    providers: await readSmallTable(reading, 'providers'),
    procedureCodes: await readSmallTable(reading, 'procedureCodes'),
    // Which procedures have how many lines of insurance, by the index on the procedure alone.
    estimates: await readBuckets(
      reading.session.database,
      { table: 'claimproc', key: 'ClaimProcNum' },
      { column: 'ProcNum', sum: 'ProcNum', size: estimateBucketSize },
    ),
  }),

  readHighest: neverShrinking,

  changedKeys: async (reading, since) => {
    const changed = changedRows(reading.session.database)
    await changed.add('select ProcNum as id from procedurelog where DateTStamp >= ?', [since.stamp])
    await changed.add('select distinct ProcNum as id from claimproc where SecDateTEdit >= ? and ProcNum <> 0', [
      since.stamp,
    ])
    const ofProcedure = 'select ProcNum as id from procedurelog where'
    await changed.addWhere(ofProcedure, inBuckets('ProcNum', since.changed('estimates'), estimateBucketSize))
    await changed.addReferring(ofProcedure, 'Priority', since.changed('definitions'))
    await changed.addReferring(ofProcedure, 'ProvNum', since.changed('providers'))
    await changed.addReferring(ofProcedure, 'CodeNum', since.changed('procedureCodes'))
    return [...changed.keys]
  },

  readRecords: async (reading, lookups, keys) => {
    const { database, columns } = reading.session
    const rows = await database.query(
      `select ProcNum, PatNum, AptNum, PlannedAptNum, ProcDate, Surf, ToothNum, ToothRange, Priority, ProcStatus, ProvNum,
              ClinicNum, CodeNum, DateTP, ${columns.has('procedurelog.DateComplete') ? 'DateComplete' : 'null as DateComplete'},
              greatest(1, UnitQty + BaseUnits) as Quantity,
              cast(ProcFee * greatest(1, UnitQty + BaseUnits) as decimal(15,2)) as Fee,
              ${columns.has('procedurelog.Discount') ? 'cast(Discount as decimal(15,2))' : 'null'} as Discount
         from procedurelog
        where ProcNum in (${keyList(keys)})
        order by ProcNum`,
    )
    const estimates = await readEstimates(reading, keys)
    return byLocation(
      rows
        .filter((row) => lookups.procedureCodes?.rows.get(row.CodeNum ?? '')?.ProcCode !== '~GRP~')
        .map((row) => {
          const estimate = estimates.get(row.ProcNum ?? '')
          return [reading.locations.of(row.ClinicNum), treatment(row, lookups, estimate, reading.locations.isSingle)]
        }),
    )
  },
}

type Estimate = { readonly insurance: string; readonly writeOff: string }

/**
 * What insurance is expected to pay and the practice to write off: of a claim that was sent (status 0), or of work that
 * was not claimed yet (6, and 8 for capitation), where an override counts before the computed amount and -1 is blank.
 */
async function readEstimates({ session }: Reading, keys: readonly string[]): Promise<Map<string, Estimate>> {
  const rows = await session.database.query(
    `select ProcNum,
            cast(sum(case when Status = 0 then InsPayEst
                          when InsEstTotalOverride <> -1 then InsEstTotalOverride
                          else InsEstTotal end) as decimal(15,2)) as Insurance,
            cast(sum(case when Status = 0 then WriteOff
                          when WriteOffEstOverride <> -1 then WriteOffEstOverride
                          when WriteOffEst <> -1 then WriteOffEst
                          else 0 end) as decimal(15,2)) as WriteOff
       from claimproc
      where ProcNum in (${keyList(keys)}) and Status in (0, 6, 8) and NoBillIns = 0
      group by ProcNum`,
  )
  return new Map(
    rows.map((row) => [
      row.ProcNum ?? '',
      { insurance: moneyOrNull(row.Insurance) ?? '0.00', writeOff: moneyOrNull(row.WriteOff) ?? '0.00' },
    ]),
  )
}

function treatment(row: Row, lookups: Lookups, estimate: Estimate | undefined, isSingle: boolean): SourceRecord {
  const code = lookups.procedureCodes?.rows.get(row.CodeNum ?? '')
  const appointment = referenceOrNull(row.AptNum)
  const patient = referenceOrNull(row.PatNum)
  const [status, statusRaw] = statuses[row.ProcStatus ?? ''] ?? ['inactive', `Status ${row.ProcStatus}`]
  const fee = moneyOrNull(row.Fee) ?? '0.00'
  const discount = moneyOrNull(row.Discount)
  const appointments = [appointment, referenceOrNull(row.PlannedAptNum)].filter((id) => id !== null)
  return {
    source_id: row.ProcNum ?? '',
    attributes: {
      patient_source_id: patient,
      provider_name: providerName(lookups.providers, row.ProvNum),
      appointment_source_id: appointment,
      procedure_code: textOrNull(code?.ProcCode),
      description: textOrNull(code?.Description),
      status: status === 'planned' && appointment !== null ? 'scheduled' : status,
      status_raw: statusRaw,
      area: areas[code?.TreatArea ?? ''] ?? null,
      teeth: teethOf(row),
      surfaces: textOrNull(row.Surf),
      quantity: Number(row.Quantity),
      fee,
      discount,
      insurance_estimate: estimate?.insurance ?? null,
      patient_estimate:
        estimate === undefined
          ? null
          : sumOfMoney(fee, negated(discount ?? '0.00'), negated(estimate.insurance), negated(estimate.writeOff)),
      priority: definitionName(lookups.definitions, row.Priority),
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
