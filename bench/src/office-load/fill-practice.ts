import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { createPractice, openDentalShape, writePractice } from '@bridgework/practice-simulator'
import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'

/** Added to the keys of each further copy: more than the highest key of the practice that is copied. */
const keyStep = 1_000_000

/** Tables that grow with the number of patients. The others (codes, fees, definitions …) belong to the practice. */
const tables = [
  'patient',
  'patplan',
  'inssub',
  'appointment',
  'histappointment',
  'procedurelog',
  'adjustment',
  'payment',
  'paysplit',
  'payplan',
  'payplancharge',
  'payplanlink',
  'claim',
  'claimpayment',
  'claimproc',
  'referral',
  'refattach',
]

/** Columns that hold a key of one of these tables. 0 is no key. */
const keyColumns = [
  'PatNum',
  'Guarantor',
  'Subscriber',
  'PatPlanNum',
  'InsSubNum',
  'AptNum',
  'PlannedAptNum',
  'NextAptNum',
  'HistApptNum',
  'ProcNum',
  'ProcNumLab',
  'AdjNum',
  'PayNum',
  'SplitNum',
  'FSplitNum',
  'PayPlanNum',
  'PayPlanChargeNum',
  'PayPlanLinkNum',
  'FKey',
  'ClaimNum',
  'ClaimPaymentNum',
  'ClaimProcNum',
  'ReferralNum',
  'RefAttachNum',
]

/** Fills the database with the practice of a file (SQL, gzipped), or with one of the simulator's of about 600 patients. */
export async function fillPractice(database: TestDatabase, file: string | null): Promise<void> {
  const connection = await database.connect()
  if (file !== null) {
    await connection.query(gunzipSync(await readFile(file)).toString('utf8'))
    return
  }
  const place = { insurancePlans: 0, feeSchedules: 0, patients: 300 }
  const shape = openDentalShape('office-load', {
    locations: [place, place],
    shared: { insurancePlans: 150, feeSchedules: 12, patients: 20 },
    years: 3,
  })
  await writePractice(connection, createPractice(shape), { clinics: 'on', headquarters: false })
}

/** Makes the practice so many times larger: each copy has the same people under keys of its own, with the stamps of the first. */
export async function multiplyPractice(database: TestDatabase, times: number): Promise<void> {
  for (const table of tables) {
    const columns = await database.execute(
      'select column_name as name from information_schema.columns where table_schema = database() and table_name = ?',
      [table],
    )
    const names = columns.map(({ name }) => String(name))
    for (let copy = 1; copy < times; copy++) {
      const values = names.map((name) =>
        keyColumns.includes(name) ? `if(${name} = 0, 0, ${name} + ${copy * keyStep})` : name,
      )
      await database.execute(
        `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${table} where ${names[0]} < ${keyStep}`,
      )
    }
    await database.execute(`analyze table ${table}`)
  }
}
