import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { firstReadOf } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'
import { type SourceTable, sourceTables } from './source-tables.ts'

const mariaDb = await startTestMariaDb({ after })

/** Of each type a value that no row of the practice has; numbers become 1, or 0 where they are 1. */
const others: Readonly<Record<string, string>> = {
  date: "'2019-03-04'",
  datetime: "'2019-03-04 05:06:07'",
  timestamp: "'2019-03-04 05:06:07'",
  time: "'05:06:07'",
  char: "'7'",
  varchar: "'7'",
  text: "'7'",
  mediumtext: "'7'",
}

test('a column that is not listed alters no record, so a change of it need not be noticed', async () => {
  const practice = await testFamily(mariaDb)
  const now = () => new Date('2026-11-20T12:00:00Z')
  const before = await firstReadOf(practice.settings, now)
  assert.ok(Object.values(before).some((records) => Object.keys(records).length > 0))
  let altered = 0
  for (const [table, { key, stamp, names, shows }] of Object.entries<SourceTable>(sourceTables)) {
    // Each cycle looks anew at which clinics there are.
    const listed = new Set([key, stamp, 'ClinicNum', ...names.split(' '), ...shows.split(' ')])
    const columns = await practice.execute(
      'select COLUMN_NAME as name, DATA_TYPE as type from information_schema.COLUMNS where TABLE_SCHEMA = database() and TABLE_NAME = ?',
      [table],
    )
    const unlisted = columns.filter(({ name }) => !listed.has(String(name)))
    altered += unlisted.length
    const assignments = unlisted.map(({ name, type }) => `${name} = ${others[String(type)] ?? `if(${name} = 1, 0, 1)`}`)
    if (assignments.length > 0) await practice.execute(`update ${table} set ${assignments.join(', ')}`)
  }
  assert.ok(altered > 100, `${altered}`)
  assert.deepEqual(await firstReadOf(practice.settings, now), before)
})
