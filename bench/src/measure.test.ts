import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoadClient } from './client/load.ts'
import { compare, medianOf } from './measure.ts'
import { formatRows, isMissed } from './report.ts'

const side = (url: string) => ({ request: { url, headers: {}, connections: 1, seconds: 3 }, pids: () => [] })

test('both sides run in turn, the first one changing, and the ratio is the median of the rounds', async () => {
  const asked: string[] = []
  // The second round is a slow one for both: its ratio is like the others', though its figures are not.
  const speeds: Record<string, number[]> = { ours: [1, 200, 20, 300], theirs: [1, 100, 10, 100] }
  const client: LoadClient = {
    name: 'node',
    run: async ({ url }) => {
      asked.push(url)
      return { requests: 10, requestsPerSecond: speeds[url]?.shift() ?? 0, bytes: 50 }
    },
  }

  const result = await compare(client, { ours: side('ours'), theirs: side('theirs') }, { rounds: 3, warmUpSeconds: 1 })

  assert.deepEqual(asked, ['ours', 'theirs', 'ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs'])
  assert.equal(result.speedRatio, 2)
  assert.equal(result.ours.requestsPerSecond, 200)
  assert.equal(result.theirs.requestsPerSecond, 100)
  assert.equal(result.ours.bytesPerRequest, 5)
})

test('a missed target is said, and a row without one misses nothing', () => {
  const figure = { requestsPerSecond: 100, cpuMsPerRequest: null, bytesPerRequest: 1 }
  const row = { name: 'page', connections: 8, ours: figure, theirs: figure, speedRatio: 0.9, cpuRatio: null }

  assert.equal(isMissed({ ...row, target: 1 }), true)
  assert.equal(isMissed({ ...row, target: 0.9 }), false)
  assert.equal(isMissed({ ...row, target: null }), false)
  assert.match(formatRows('Title', { ours: 'a', theirs: 'b' }, [{ ...row, target: 1 }]), /0\.90 × +1\.0 × MISSED/)
})

test('the median of an even number of values lies between the middle two; what is unknown stays so', () => {
  assert.equal(medianOf([4, 1, 3, 2]), 2.5)
  assert.equal(medianOf([3]), 3)
  assert.equal(medianOf([1, null, 2]), null)
  assert.equal(medianOf([]), null)
})
