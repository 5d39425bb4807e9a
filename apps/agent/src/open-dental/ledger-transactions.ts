import { accountLookups, accountRows } from './account-rows.ts'
import { changedRows, daysBetween } from './changed-rows.ts'
import type { Database } from './connection.ts'
import type { DatasetReader, Since } from './dataset.ts'
import { planCredits } from './dynamic-plans.ts'
import { keyList } from './keys.ts'
import { ledgerTransaction } from './ledger-line.ts'
import { ledgerParts, ledgerPartsIn } from './ledger-parts.ts'
import { byLocation } from './location-map.ts'
import { neverShrinking } from './never-shrinking.ts'
import { inBuckets, keyOf, readBuckets, recordIds } from './record-table.ts'
import { readSmallTable } from './small-tables.ts'

/** Patients of one bucket of guarantors. */
const familyBucketSize = 50

/**
 * The lines of all accounts: charges, adjustments, splits of payments, what insurers paid and what was written off, and
 * payment plans. Only lines that count are records; one that stops counting is gone. By guarantor their amounts add up
 * to the balance that Open Dental shows.
 */
export const ledgerTransactions: DatasetReader = {
  tables: Object.values(ledgerParts).map((part) => part.table),
  keysPerChunk: 5000,

  readLookups: async (reading) => ({
    ...(await accountLookups(reading)),
    providers: await readSmallTable(reading, 'providers'),
    procedureCodes: await readSmallTable(reading, 'procedureCodes'),
    planCredits: await planCredits(reading),
    // Who answers for whom. The patient's stamp alone would name thousands whenever balances are aged.
    guarantors: await readBuckets(
      reading.session.database,
      { table: 'patient', key: 'PatNum' },
      { sum: "crc32(concat(PatNum, ' ', Guarantor))", size: familyBucketSize },
    ),
  }),

  readHighest: neverShrinking,

  changedKeys: async (reading, since) => {
    if (since.changed('preferences').length > 0) return null
    const { database } = reading.session
    const keys: string[] = []
    for (const part of ledgerPartsIn(reading.session)) {
      const changed = changedRows(database)
      for (const sql of part.changed) await changed.add(sql, Array(sql.split('?').length - 1).fill(since.stamp))
      for (const [lookup, sql, column] of part.shows) await changed.addReferring(sql, column, since.changed(lookup))
      for (const rowKey of changed.keys) keys.push(...recordIds(part.table, rowKey))
    }
    const [before, now] = daysBetween(since.today, reading.today)
    const due = await database.query(
      'select PayPlanChargeNum as id from payplancharge where ChargeDate > ? and ChargeDate <= ?',
      [before, now],
    )
    for (const row of due) keys.push(...recordIds(ledgerParts.planCharges.table, row.id ?? ''))
    keys.push(...(await ofMovedPatients(database, since)))
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

/** Every line names its patient's guarantor: a patient who moves to another family takes the lines along. */
async function ofMovedPatients(database: Database, since: Since): Promise<string[]> {
  const moved = inBuckets('PatNum', since.changed('guarantors'), familyBucketSize)
  if (moved === null) return []
  const patients = await database.query(`select PatNum as id from patient where DateTStamp >= ? and ${moved}`, [
    since.stamp,
  ])
  if (patients.length === 0) return []
  const ids = keyList(patients.map((row) => row.id ?? ''))
  const keys: string[] = []
  for (const { table, patientColumns } of Object.values(ledgerParts)) {
    for (const column of patientColumns) {
      const rows = await database.query(`select ${table.key} as id from ${table.table} where ${column} in (${ids})`)
      for (const row of rows) keys.push(...recordIds(table, row.id ?? ''))
    }
  }
  return keys
}
