import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { fillLargePractice } from './open-dental/test-large-practice.ts'
import { measureFirstCycle } from './test-memory.ts'

/** Procedures of the smaller and of the larger practice; another pair makes the large run of bench/README.md. */
const sizes = (process.env.BRIDGEWORK_TEST_AGENT_PROCEDURES ?? '8000,36000').split(',').map(Number)
const skip = process.platform === 'linux' ? false : 'the peak of a process’ memory is read from /proc'

test('the first read of a larger practice needs no more memory than that of a smaller one', { skip }, async (t) => {
  const mariaDb = await startTestMariaDb({ after })
  const peaks: number[] = []
  for (const procedures of sizes) {
    const database = await mariaDb.createDatabase()
    const expected = await fillLargePractice(database, procedures)
    const { records, peakMb, durationMs } = await measureFirstCycle(t, database.settings)
    t.diagnostic(`${records} records: ${peakMb} MB at most, ${durationMs} ms`)
    assert.equal(records, expected)
    peaks.push(peakMb)
  }
  const [smaller = 0, larger = 0] = peaks
  assert.ok(larger <= smaller * 1.1, peaks.join(' → '))
})
