import { type ChangedRows, changedKeys, daysBetween } from '../changes/changed-rows.ts'
import { keyList } from '../changes/keys.ts'
import { neverShrinking } from '../changes/never-shrinking.ts'
import { keyOf, recordIds } from '../changes/record-table.ts'
import { isIn } from '../changes/runs.ts'
import { readSmallTable } from '../changes/small-tables.ts'
import type { DatasetReader, Since } from '../dataset.ts'
import { byLocation } from '../location-map.ts'
import { accountLookups, accountRows, accountTables } from './account-rows.ts'
import { planCredits } from './dynamic-plans.ts'
import { ledgerTransaction } from './ledger-line.ts'
import { ledgerParts, ledgerPartsIn } from './ledger-parts.ts'

/**
 * The lines of all accounts: charges, adjustments, splits of payments, what insurers paid and what was written off, and
 * payment plans. Only lines that count are records; one that stops counting is gone. By guarantor their amounts add up
 * to the balance that Open Dental shows.
 */
export const ledgerTransactions: DatasetReader = {
  reads: ({ session }) => [
    ...ledgerPartsIn(session).map(({ table }) => table.table),
    'payment',
    'claimpayment',
    'patient',
    'provider',
    'procedurecode',
    ...accountTables,
  ],
  tables: Object.values(ledgerParts).map((part) => part.table),
  keysPerChunk: 5000,

  readLookups: async (reading) => ({
    ...(await accountLookups(reading)),
    providers: await readSmallTable(reading, 'providers'),
    procedureCodes: await readSmallTable(reading, 'procedureCodes'),
    planCredits: await planCredits(reading),
  }),

  readHighest: (reading) => neverShrinking(reading, ['procedurelog', 'patient']),

  changedKeys: async (reading, since) => {
    if (since.changed('preferences').length > 0) return null
    const { database } = reading.session
    const keys: string[] = []
    const moved = await movedPatients(since)
    for (const part of ledgerPartsIn(reading.session)) {
      const changed = changedKeys(database)
      const { source, table, marks } = part
      const ofTable = `select ${table.key} as id from ${table.table} where`
      if (source !== undefined) changed.addKeys((await since.rows(source)).rows.map((row) => row.id))
      if (marks !== undefined) changed.addKeys(since.changed(marks))
      for (const [other, column] of part.follows ?? []) {
        await changed.addNaming(ofTable, column, await since.rows(other))
      }
      for (const [lookup, sql, column] of part.shows) await changed.addReferring(sql, column, since.changed(lookup))
      for (const column of part.patientColumns) await changed.addNaming(ofTable, column, moved)
      for (const rowKey of changed.keys) keys.push(...recordIds(table, rowKey))
    }
    const [before, now] = daysBetween(since.today, reading.today)
    if (before === now) return keys
    const due = await database.query(
      'select PayPlanChargeNum as id from payplancharge where ChargeDate > ? and ChargeDate <= ?',
      [before, now],
    )
    for (const row of due) keys.push(...recordIds(ledgerParts.planCharges.table, row.id ?? ''))
    return keys
  },

  readRecords: async (reading, lookups, keys) => {
    const account = await accountRows(reading)
    const found = []
    for (const part of Object.values(ledgerParts)) {
      const rowKeys = new Set(keys.map((key) => keyOf(part.table, key)).filter((key) => key !== null))
      if (rowKeys.size === 0) continue
      const rows = await reading.session.database.query(part.select(account, keyList([...rowKeys]), reading.session))
      found.push(...rows.flatMap((row) => part.lines(row)))
    }
    const wanted = new Set(keys)
    return byLocation(
      found
        .filter((line) => wanted.has(line.id))
        .map((line) => {
          const locationId = reading.locations.of(line.row.ClinicNum)
          return [
            locationId,
            ledgerTransaction(line, lookups, reading.locations.zoneOf(locationId), reading.locations.isSingle),
          ] as const
        }),
    )
  },
}

/**
 * Every line names its patient's guarantor: a patient who moves to another family takes the lines along. The patient's stamp alone would
 * name thousands whenever balances are aged, so the families of those patients are compared.
 */
async function movedPatients({ rows, compared }: Since): Promise<ChangedRows> {
  const stamped = (await rows('patient')).rows
  const runs = await compared.compareAround(
    'patient.Guarantor',
    stamped.map((row) => row.id ?? '0'),
  )
  return {
    rows: stamped.filter((row) => isIn(runs, row.id ?? '0')),
    runs: compared.differing('patient.Guarantor'),
  }
}
