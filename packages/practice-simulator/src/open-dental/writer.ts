import { readFile } from 'node:fs/promises'
import type { Connection } from 'mysql2/promise'
import type { Practice } from '../practice.ts'
import type { PracticeEvent } from '../practice-events.ts'
import { type InsurancePlan, type RowChange, type Rows, type TableName, type Tables, tableNames } from '../rows.ts'
import { historyOf, pastHistoryOf } from './appointment-history.ts'
import { openDentalTables, type StoredTableName } from './rows.ts'
import type { ClinicOf, Columns } from './table.ts'
import { clinicOf, type OpenDentalVariant } from './variant.ts'

const rowsPerInsert = 2000
const dayMs = 24 * 60 * 60 * 1000

/** Makes Open Dental's tables, as far as we know them, in the connection's database, which should be empty. */
export async function createOpenDentalTables(connection: Connection): Promise<void> {
  const text = await readFile(new URL('../../open-dental/schema.sql', import.meta.url), 'utf8')
  for (const statement of text.replace(/--.*$/gm, '').split(';')) {
    if (statement.trim() !== '') await connection.query(statement)
  }
}

/**
 * Writes the practice into empty Open Dental tables. Rows carry change stamps of the days before `writtenAt` (a day ago, unless
 * told), a third of them one and the same, as after an upgrade that touched them all.
 */
export async function writePractice(
  connection: Connection,
  practice: Practice,
  variant: OpenDentalVariant,
  { writtenAt = new Date(Date.now() - dayMs) }: { writtenAt?: Date } = {},
): Promise<void> {
  await prepareSession(connection)
  await insertRows(connection, 'preference', preferences(practice, variant))
  const clinic: ClinicOf = (key) => clinicOf(practice, variant, key)
  for (const table of tableNames) {
    if (isStored(table)) await writeTable(connection, practice, table, clinic, writtenAt)
  }
  const history = [...practice.appointments.values()]
    .map((row) => pastHistoryOf(row, clinic))
    .filter((row) => row !== null)
  await insertRows(connection, 'histappointment', history)
}

/** What workstations do to the database when this happens. `at` is the database's time meanwhile, by default now. */
export async function writeEvent(
  connection: Connection,
  practice: Practice,
  variant: OpenDentalVariant,
  event: PracticeEvent,
  { at }: { at?: Date } = {},
): Promise<void> {
  await prepareSession(connection)
  if (at !== undefined) await connection.query('set timestamp = ?', [at.getTime() / 1000])
  try {
    const clinic: ClinicOf = (key) => clinicOf(practice, variant, key)
    const historyAt = (at ?? new Date()).toISOString().slice(0, 19)
    for (const change of event.changes) {
      await writeChange(connection, change, clinic)
      const history = historyOf(change, clinic, historyAt)
      if (history !== null) await insertRows(connection, 'histappointment', [history])
    }
  } finally {
    if (at !== undefined) await connection.query('set timestamp = default')
  }
}

/** Changes one of the preferences that `writePractice` wrote, as `UpdateInProgressOnComputerName` during an upgrade. */
export async function writePreference(connection: Connection, name: string, value: string): Promise<void> {
  await connection.query('update preference set ValueString = ? where PrefName = ?', [value, name])
}

/** Writes plans in bulk, apart from any practice; all with one change stamp. See `manyPlans`. */
export async function writePlans(connection: Connection, plans: Iterable<InsurancePlan>): Promise<void> {
  await prepareSession(connection)
  const { table, key, columns } = openDentalTables.insurancePlans
  let rows: Columns[] = []
  for (const plan of plans) {
    rows.push({ [key]: BigInt(plan.key), ...columns(plan, (location) => location ?? '0') })
    if (rows.length < rowsPerInsert) continue
    await insertRows(connection, table, rows)
    rows = []
  }
  await insertRows(connection, table, rows)
}

/** As the product's own sessions, with change stamps in UTC. */
async function prepareSession(connection: Connection): Promise<void> {
  await connection.query("set session sql_mode = '', session time_zone = '+00:00'")
}

async function writeTable<T extends StoredTableName>(
  connection: Connection,
  practice: Practice,
  name: T,
  clinic: ClinicOf,
  writtenAt: Date,
): Promise<void> {
  const { table, key, stamp, columns } = openDentalTables[name]
  const rows: Columns[] = []
  for (const row of rowsOf(practice, name)) {
    rows.push({
      [key]: BigInt(row.key),
      ...columns(row, clinic),
      ...(stamp === null ? {} : { [stamp]: stampOf(rows.length, writtenAt) }),
    })
  }
  await insertRows(connection, table, rows)
}

function isStored(name: TableName): name is StoredTableName {
  return name !== 'clock'
}

function rowsOf<T extends TableName>(tables: Tables, name: T): Iterable<Rows[T]> {
  return tables[name].values()
}

function stampOf(index: number, writtenAt: Date): string {
  const daysEarlier = index % 3 === 0 ? 0 : index % 300
  return new Date(writtenAt.getTime() - daysEarlier * dayMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** Rows all name the same columns. */
async function insertRows(connection: Connection, table: string, rows: readonly Columns[]): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerInsert) {
    const slice = rows.slice(start, start + rowsPerInsert)
    const names = Object.keys(slice[0] ?? {})
    await connection.query(`insert into ${table} (${names.join(', ')}) values ?`, [
      slice.map((row) => names.map((name) => row[name])),
    ])
  }
}

async function writeChange(connection: Connection, change: RowChange, clinic: ClinicOf): Promise<void> {
  if (change.table === 'clock') return
  const { table, key } = openDentalTables[change.table]
  const [before, after] = [
    columnsOf(change.table, change.before, clinic),
    columnsOf(change.table, change.after, clinic),
  ]
  if (change.before === null && after !== null) return await insertRows(connection, table, [after])
  const where = `${key} = ${BigInt(change.before?.key ?? 0)}`
  if (after === null) {
    await connection.query(`delete from ${table} where ${where}`)
    return
  }
  const changed = Object.entries(after).filter(([name, value]) => before?.[name] !== value)
  if (changed.length === 0) return
  const assignments = changed.map(([name]) => `${name} = ?`).join(', ')
  await connection.query(
    `update ${table} set ${assignments} where ${where}`,
    changed.map(([, value]) => value),
  )
}

/** Key included. */
function columnsOf<T extends StoredTableName>(name: T, row: Rows[TableName] | null, clinic: ClinicOf): Columns | null {
  if (row === null) return null
  const { key, columns } = openDentalTables[name]
  // A change's rows are of its table's kind: that is how `RowChange` is made.
  return { [key]: BigInt(row.key), ...columns(row as Rows[T], clinic) }
}

function preferences(practice: Practice, { clinics }: OpenDentalVariant): Columns[] {
  const { organization } = practice
  const values: Record<string, string> = {
    PracticeTitle: organization.name,
    PracticeAddress: organization.addressLine1,
    PracticeAddress2: organization.addressLine2,
    PracticeCity: organization.city,
    PracticeST: organization.state,
    PracticeZip: organization.postalCode,
    PracticePhone: organization.phone,
    DataBaseVersion: organization.softwareVersion,
    ProgramVersion: organization.softwareVersion,
    EasyNoClinics: clinics === 'on' ? '0' : '1',
    LanguageAndRegion: 'en-US',
    PayPlansVersion: '2',
    RandomPrimaryKeys: practice.keyStyle === 'random' ? '1' : '0',
    UpdateInProgressOnComputerName: '',
    CorruptedDatabase: '0',
  }
  return Object.entries(values).map(([PrefName, ValueString]) => ({ PrefName, ValueString }))
}
