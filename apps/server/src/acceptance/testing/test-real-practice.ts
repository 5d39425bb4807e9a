import { readFileSync } from 'node:fs'
import { after } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startTestMariaDb, type TestDatabase } from '@bridgework/practice-simulator/test-mariadb'

const file = process.env.BRIDGEWORK_TEST_PRACTICE
export const skip = file ? false : 'BRIDGEWORK_TEST_PRACTICE does not name a practice of 600 patients (a .sql.gz)'
export const clinics = ['0', '1', '2']

export async function loadPractice(): Promise<TestDatabase> {
  const database = await (await startTestMariaDb({ after })).createDatabase()
  const connection = await database.connect()
  await connection.query(gunzipSync(readFileSync(file ?? '')).toString('utf8'))
  return database
}
