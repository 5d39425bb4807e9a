import type { RecordOf } from '../../connector.ts'
import { changedKeys } from '../changes/changed-rows.ts'
import { keyAscending, keyList } from '../changes/keys.ts'
import { plainTable } from '../changes/record-table.ts'
import { readSmallTable } from '../changes/small-tables.ts'
import type { Row } from '../database/connection.ts'
import type { DatasetReader } from '../dataset.ts'
import { dateOrNull, isTrue, moneyOrNull, referenceOrNull, text } from './values.ts'

const scheduleTypes: Readonly<Record<string, string>> = {
  '0': 'standard',
  '1': 'copay',
  '2': 'out_of_network',
  '3': 'fixed_benefit',
}

/**
 * Fee schedules are the practice's, but a fee may be one clinic's own. A location gets the practice's fees, and where
 * its clinic has its own for the same code, provider and day, that one in their place: what Open Dental itself would
 * charge there. A fee is part of its schedule: changing it changes the schedule.
 */
export const feeSchedules: DatasetReader = {
  reads: () => ['feesched', 'fee', 'procedurecode'],
  tables: [plainTable('feesched', 'FeeSchedNum')],
  // Each schedule may have thousands of fees.
  keysPerChunk: 20,

  readLookups: async (reading) => ({ codes: await readSmallTable(reading, 'codes') }),

  readHighest: async ({ session: { database } }) => {
    const [row] = await database.query('select max(SecDateTEdit) as stamp, max(FeeSchedNum) as id from feesched')
    return { 'feesched.SecDateTEdit': row?.stamp ?? '', 'feesched.FeeSchedNum': row?.id ?? '0' }
  },

  changedKeys: async ({ session: { database } }, since) => {
    const changed = changedKeys(database)
    changed.addKeys((await since.rows('feesched')).rows.map((row) => row.id))
    changed.addKeys((await since.rows('fee')).rows.map((row) => row.FeeSched))
    // A fee that is blanked is deleted without a trace.
    await changed.addInRuns(
      'select FeeSchedNum as id from feesched where',
      'FeeSchedNum',
      since.compared.differing('fee.FeeSched'),
    )
    await changed.addReferring('select distinct FeeSched as id from fee where', 'CodeNum', since.changed('codes'))
    return [...changed.keys]
  },

  readRecords: async ({ session: { database, columns }, locations }, lookups, keys) => {
    const schedules = await database.query(
      `select FeeSchedNum, Description, FeeSchedType, IsHidden, ${columns.has('feesched.IsGlobal') ? 'IsGlobal' : '0 as IsGlobal'}
         from feesched
        where FeeSchedNum in (${keyList(keys)})
        order by FeeSchedNum`,
    )
    const fees = await database.query(
      `select FeeNum, FeeSched, CodeNum, ClinicNum, ProvNum,
              ${columns.has('fee.DateEffective') ? 'DateEffective' : 'null as DateEffective'},
              case when Amount = -1 then null else cast(Amount as decimal(19,2)) end as Amount
         from fee
        where FeeSched in (${keyList(keys)})`,
    )
    const byScheduleAndClinic = Map.groupBy(
      fees.map((row) => asFee(row, lookups.codes?.rows.get(row.CodeNum ?? '')?.code)).filter((fee) => fee !== null),
      (fee) => `${fee.schedule}/${fee.clinic}`,
    )
    return new Map(
      locations.ids.map((locationId) => [
        locationId,
        schedules.map((row) => {
          const id = row.FeeSchedNum ?? ''
          const own = locationId === '0' ? [] : (byScheduleAndClinic.get(`${id}/${locationId}`) ?? [])
          return feeSchedule(row, byScheduleAndClinic.get(`${id}/0`) ?? [], own)
        }),
      ]),
    )
  },
}

type Fee = {
  readonly id: string
  readonly schedule: string
  readonly clinic: string
  readonly line: {
    readonly procedure_code: string
    readonly amount: string | null
    readonly provider_source_id: string | null
    readonly effective_on: string | null
  }
}

/** Null when the fee's code is gone: a fee for nothing. */
function asFee(row: Row, code: string | null | undefined): Fee | null {
  const procedureCode = text(code)
  if (procedureCode === '') return null
  return {
    id: row.FeeNum ?? '0',
    schedule: row.FeeSched ?? '',
    clinic: row.ClinicNum ?? '0',
    line: {
      procedure_code: procedureCode,
      amount: moneyOrNull(row.Amount),
      provider_source_id: referenceOrNull(row.ProvNum),
      effective_on: dateOrNull(row.DateEffective),
    },
  }
}

function feeSchedule(row: Row, practice: readonly Fee[], own: readonly Fee[]): RecordOf<'fee_schedules'> {
  const replaced = new Set(own.map(appliesTo))
  const fees = [...practice.filter((fee) => !replaced.has(appliesTo(fee))), ...own]
  return {
    source_id: row.FeeSchedNum ?? '',
    attributes: {
      name: text(row.Description),
      schedule_type: scheduleTypes[row.FeeSchedType ?? ''] ?? 'other',
      is_global: isTrue(row.IsGlobal),
      is_hidden: isTrue(row.IsHidden),
      fees: fees.sort(inOrder).map((fee) => fee.line),
    },
  }
}

function appliesTo({ line }: Fee): string {
  return JSON.stringify([line.procedure_code, line.provider_source_id, line.effective_on])
}

/** One order for the same fees, so that an unchanged schedule looks unchanged; the key decides between doubles. */
function inOrder(left: Fee, right: Fee): number {
  return (
    compare(left.line.procedure_code, right.line.procedure_code) ||
    compare(left.line.provider_source_id ?? '', right.line.provider_source_id ?? '') ||
    compare(left.line.effective_on ?? '', right.line.effective_on ?? '') ||
    keyAscending(left.id, right.id)
  )
}

function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
