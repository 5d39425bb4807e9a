import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { fillLargePractice } from './open-dental/testing/test-large-practice.ts'
import { measureFirstCycle } from './testing/test-memory.ts'

/** Procedures of the smaller and of the larger practice; another pair makes the large run of bench/README.md. */
const sizes = (process.env.BRIDGEWORK_TEST_AGENT_PROCEDURES ?? '8000,36000').split(',').map(Number)
const skip = process.platform === 'linux' ? false : 'the peak of a process’ memory is read from /proc'

test('the first read of a larger practice needs no more memory than that of a smaller one', { skip }, async (t) => {
  const mariaDb = await startTestMariaDb({ after })
  const fill = async (procedures: number) => {
    const database = await mariaDb.createDatabase()
    return { database, expected: await fillLargePractice(database, procedures) }
  }
  const measure = async ({ database, expected }: Awaited<ReturnType<typeof fill>>) => {
    const { records, peakMb, durationMs } = await measureFirstCycle(t, database.settings)
    t.diagnostic(`${records} records: ${peakMb} MB at most, ${durationMs} ms`)
    assert.equal(records, expected)
    return peakMb
  }
  const [smaller, larger] = [await fill(sizes[0] ?? 0), await fill(sizes[1] ?? 0)]
  const enoughMb = (await measure(smaller)) * 1.1
  const peaks = [await measure(larger)]
  // When garbage is collected is chance, some 10 MB; what a read needs is the least of a few.
  while (peaks.length < 3 && Math.min(...peaks) > enoughMb) peaks.push(await measure(larger))
  assert.ok(Math.min(...peaks) <= enoughMb, `${peaks} MB of ${enoughMb}`)
})
