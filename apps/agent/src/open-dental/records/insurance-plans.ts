import type { RecordOf } from '../../connector.ts'
import { changedKeys } from '../changes/changed-rows.ts'
import { keyList } from '../changes/keys.ts'
import { plainTable } from '../changes/record-table.ts'
import { readSmallTable } from '../changes/small-tables.ts'
import type { Row } from '../database/connection.ts'
import type { DatasetReader, Lookups } from '../dataset.ts'
import { isTrue, referenceOrNull, text, textOrNull } from './values.ts'

const planTypes: Readonly<Record<string, string>> = { '': 'percentage', p: 'ppo', f: 'flat_copay', c: 'capitation' }

/** Which column of insplan refers to which lookup. Neither is indexed in every version; plans are few. */
const references: Readonly<Record<string, string>> = {
  employers: 'EmployerNum',
  carriers: 'CarrierNum',
  feeSchedules: 'FeeSched',
}

/**
 * Insurance plans are the practice's, so each location gets all of them. Carrier, employer and fee schedule are joined
 * here and not in SQL: the names that a plan was sent with are then exactly those whose marks the cursor keeps.
 */
export const insurancePlans: DatasetReader = {
  reads: () => ['insplan', 'employer', 'carrier', 'feesched'],
  tables: [plainTable('insplan', 'PlanNum')],
  keysPerChunk: 5000,

  readLookups: async (reading) => ({
    employers: await readSmallTable(reading, 'employers'),
    carriers: await readSmallTable(reading, 'carriers'),
    feeSchedules: await readSmallTable(reading, 'feeSchedules'),
  }),

  readHighest: async ({ session: { database } }) => {
    const [row] = await database.query('select max(SecDateTEdit) as stamp, max(PlanNum) as id from insplan')
    return { 'insplan.SecDateTEdit': row?.stamp ?? '', 'insplan.PlanNum': row?.id ?? '0' }
  },

  changedKeys: async ({ session: { database } }, since) => {
    const changed = changedKeys(database)
    changed.addKeys((await since.rows('insplan')).rows.map((row) => row.id))
    for (const [lookup, column] of Object.entries(references)) {
      await changed.addReferring('select PlanNum as id from insplan where', column, since.changed(lookup))
    }
    return [...changed.keys]
  },

  readRecords: async ({ session: { database }, locations }, lookups, keys) => {
    const rows = await database.query(
      `select PlanNum, GroupName, GroupNum, PlanType, EmployerNum, CarrierNum, FeeSched, MonthRenew, IsHidden
         from insplan
        where PlanNum in (${keyList(keys)})
        order by PlanNum`,
    )
    const records = rows.map((row) => insurancePlan(row, lookups))
    return new Map(locations.ids.map((id) => [id, records]))
  },
}

function insurancePlan(row: Row, lookups: Lookups): RecordOf<'insurance_plans'> {
  const employer = lookups.employers?.rows.get(row.EmployerNum ?? '')
  const carrier = lookups.carriers?.rows.get(row.CarrierNum ?? '')
  const feeSchedule = referenceOrNull(row.FeeSched)
  const month = Number(row.MonthRenew)
  return {
    source_id: row.PlanNum ?? '',
    attributes: {
      // There is no column for a plan's name: the group's name is the nearest, and usually the employer's.
      plan_name: text(row.GroupName) || text(employer?.name),
      group_number: textOrNull(row.GroupNum),
      carrier_name: textOrNull(carrier?.name),
      payer_id: textOrNull(carrier?.payer_id),
      employer_name: textOrNull(employer?.name),
      plan_type: planTypes[text(row.PlanType)] ?? null,
      renewal_month: month >= 1 && month <= 12 ? month : null,
      is_hidden: isTrue(row.IsHidden),
      // 0 is no schedule; a number that names none dangles, and is none either.
      fee_schedule_source_id: feeSchedule !== null && lookups.feeSchedules?.rows.has(feeSchedule) ? feeSchedule : null,
    },
  }
}
