import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { Connection } from 'mysql2/promise'
import { createPractice, openDentalShape } from '../../create-practice.ts'
import { todayIn } from '../../practice.ts'
import { writePractice } from '../writer.ts'
import { startTestMariaDb, type TestDatabase, type TestMariaDb } from './test-mariadb.ts'

const file = process.env.BRIDGEWORK_TEST_PRACTICE

/** Its locations: headquarters and two clinics. */
export const clinics = ['0', '1', '2']

export type WholePractice = {
  readonly mariaDb: TestMariaDb
  readonly database: TestDatabase
  /** The practice's today. */
  readonly day: string
  /** Whether it is the practice of a file, of which numbers are known from elsewhere. */
  readonly isFile: boolean
}

/**
 * A whole practice in an Open Dental database, all of it in Nashville: of the file that BRIDGEWORK_TEST_PRACTICE names (SQL, gzipped), else a
 * synthetic one, always the same. `timeZone` is the database server's.
 */
export async function loadPractice(
  t: Parameters<typeof startTestMariaDb>[0],
  { timeZone = 'UTC' } = {},
): Promise<WholePractice> {
  const mariaDb = await startTestMariaDb(t, { timeZone })
  const database = await mariaDb.createDatabase()
  const connection = await database.connect()
  if (file !== undefined) {
    await connection.query(gunzipSync(await readFile(file)).toString('utf8'))
    return { mariaDb, database, day: '2026-11-20', isFile: true }
  }
  const locations = [130, 40].map((patients) => ({ insurancePlans: 0, feeSchedules: 0, patients }))
  const practice = createPractice(openDentalShape('whole', { locations }))
  await writePractice(connection, practice, { clinics: 'on', headquarters: true })
  await addRareRows(connection)
  return { mariaDb, database, day: todayIn(practice), isFile: false }
}

/** Deletes all but every n-th family, that of the dynamic payment plan among the rest, for a test that reads all of them again and again. */
export async function keepFamilies(database: TestDatabase, of: number): Promise<void> {
  await database.execute(
    `create table gone as select PatNum from patient
      where Guarantor % ${of} <> (select min(Guarantor) % ${of} from payplan where IsDynamic = 1)`,
  )
  const tables = await database.execute(
    `select table_name as name from information_schema.columns
      where table_schema = database() and column_name = 'PatNum' and table_name not in ('gone', 'patient')`,
  )
  for (const { name } of [...tables, { name: 'patient' }])
    await database.execute(`delete from ${name} where PatNum in (select PatNum from gone)`)
  await database.execute('drop table gone')
}

/** What the simulator does not make, or not for sure. Keys begin where its own, which count from 1, do not reach. Stamps are of the day before. */
async function addRareRows(connection: Connection): Promise<void> {
  for (const sql of [
    "set sql_mode = '', time_zone = '+00:00', timestamp = unix_timestamp() - 86400",
    // Invented addresses are nowhere.
    "update preference set ValueString = '37013' where PrefName = 'PracticeZip'",
    "update clinic set Zip = '37013', TimeZone = ''",
    // One merged, two merged there and back, one deleted, a clone.
    `insert into patient (PatNum, FName, LName, Guarantor, ClinicNum, PatStatus) values
       (990001, 'Entered', 'Twice', 990001, 1, 3), (990002, 'Merged', 'There', 990002, 1, 0),
       (990003, 'And', 'Back', 990003, 2, 3), (990004, 'No', 'Patient', 990004, 2, 4)`,
    `insert into patientlink (PatNumFrom, PatNumTo, LinkType, DateTimeLink) values
       (990001, 1, 1, '2026-02-02'), (990002, 990003, 1, '2026-02-03'), (990003, 990002, 1, '2026-02-04'), (1, 2, 2, '2026-03-01')`,
    `insert into patplan (PatPlanNum, PatNum, InsSubNum, Ordinal)
     select 990000 + PatPlanNum, PatNum, (select min(InsSubNum) from inssub), 2 from patplan where PatPlanNum % 4 = 0`,
    // Payment plans fall due on the first of a month, and no insurance ends in the next year.
    `update payplancharge set ChargeDate = least(date_format(ChargeDate + interval 1 month, '%Y-%m-01'), '2027-06-01')
      where ChargeDate > '2026-11-20'`,
    "update inssub set DateTerm = '2099-12-31' where DateTerm > '2026-11-20'",
    'insert into payplan (PayPlanNum, PatNum, Guarantor, IsDynamic) select 990001, PatNum, Guarantor, 1 from patient where PatNum = 1',
    `insert into payplanlink (PayPlanLinkNum, PayPlanNum, LinkType, FKey, SecDateTEntry)
     select 990001, 990001, 2, min(ProcNum), '2026-09-01 10:00:00' from procedurelog p
      where ProcStatus = 2 and ProcFee > 50
        and not exists (select 1 from claimproc c where c.ProcNum = p.ProcNum)
        and not exists (select 1 from paysplit s where s.ProcNum = p.ProcNum)
        and not exists (select 1 from adjustment a where a.ProcNum = p.ProcNum)`,
    "insert into carrier (CarrierNum, CarrierName, IsHidden) values (990001, 'Closed Carrier', 1)",
    'update insplan set CarrierNum = 990001 where IsHidden = 1 order by PlanNum limit 2',
    // A note of several procedures together, and who referred in other ways.
    "insert into procedurecode (CodeNum, ProcCode) values (990001, '~GRP~')",
    'insert into procedurelog (ProcNum, PatNum, CodeNum, ProcStatus, ClinicNum) values (990001, 1, 990001, 3, 1)',
    `insert into refattach (RefAttachNum, ReferralNum, PatNum, RefType, ItemOrder, RefDate) values
       (990001, 1, 1, 2, 7, '2026-03-01'), (990002, 999999, 2, 1, 7, '2026-03-02')`,
    `insert into appointment (AptNum, PatNum, AptStatus, Pattern, ClinicNum, AptDateTime) values
       (990001, 999999, 1, '/XX/', 1, '2026-12-03 10:00:00'), (990002, 1, 7, '/XX/', 0, '2026-12-03 10:00:00')`,
    'set timestamp = default',
  ]) {
    await connection.query(sql)
  }
}
