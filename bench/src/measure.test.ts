import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuClock } from './cpu-time.ts'
import { contest, medianOf } from './measure.ts'

test('all run in turn, the first one changing, and a ratio is the median of the rounds', async () => {
  const asked: string[] = []
  // The second round is a slow one for both: its ratio is like the others', though its figures are not.
  const speeds: Record<string, number[]> = { ours: [1, 200, 20, 300], theirs: [1, 100, 10, 100] }
  const contender = (who: string) => ({
    who,
    cpu: () => null,
    run: async () => {
      asked.push(who)
      return { requests: 10, requestsPerSecond: speeds[who]?.shift() ?? 0, bytes: 50 }
    },
  })

  const [ours, theirs] = await contest([contender('ours'), contender('theirs')], {
    rounds: 3,
    seconds: 3,
    warmUpSeconds: 1,
  })

  assert.deepEqual(asked, ['ours', 'theirs', 'ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs'])
  assert.equal(ours?.speedRatio, 1)
  assert.equal(theirs?.speedRatio, 2)
  assert.equal(theirs?.cpuRatio, null)
  assert.equal(ours?.requestsPerSecond, 200)
  assert.equal(theirs?.requestsPerSecond, 100)
  assert.equal(ours?.bytesPerRequest, 5)
})

test('where a peer’s rate jumps, rounds go on until the last of them were quiet, and no longer than four times as many', async () => {
  const peerOf = (rates: readonly number[]) => {
    let asked = 0
    const run = async () => ({ requests: 10, requestsPerSecond: rates[asked++] ?? 0, bytes: 50 })
    return { asked: () => asked, contender: { who: 'peer', cpu: () => null, run } }
  }
  const options = { rounds: 2, seconds: 1, warmUpSeconds: 0, isPeer: (who: string) => who === 'peer' }

  const settled = peerOf([50, 100, 60, 100, 104, 110])
  const [quiet] = await contest([settled.contender], options)
  assert.deepEqual([settled.asked(), quiet?.requestsPerSecond], [5, 102])

  const restless = peerOf([1, 2, 1, 2, 1, 2, 1, 2, 1, 2])
  const [noisy] = await contest([restless.contender], options)
  assert.equal(restless.asked(), 8)
  assert.ok((noisy?.spread ?? 0) > 0.15)
})

test('the ratio by processor time says how many times as much the others take', async () => {
  const contender = (who: string, msPerRound: number) => {
    let spent = 0
    return {
      who,
      cpu: () => spent,
      run: async () => {
        spent += msPerRound
        return { requests: 10, requestsPerSecond: 100, bytes: 50 }
      },
    }
  }
  const options = { rounds: 3, seconds: 1, warmUpSeconds: 0 }
  const [ours, theirs] = await contest([contender('ours', 20), contender('theirs', 30)], options)
  assert.deepEqual([ours?.cpuRatio, theirs?.cpuRatio], [1, 1.5])
  assert.deepEqual([ours?.cpuMsPerRequest, theirs?.cpuMsPerRequest], [2, 3])
})

test('a round in which no answer came to its end is done again for longer, and is no figure', async () => {
  const lengths: number[] = []
  const slow = {
    who: 'slow',
    cpu: () => 0,
    run: async (seconds: number) => {
      lengths.push(seconds)
      const requests = seconds < 10 ? 0 : 5
      return { requests, requestsPerSecond: requests / seconds, bytes: 0 }
    },
  }
  const [figure] = await contest([slow], { rounds: 1, seconds: 2, warmUpSeconds: 0 })
  assert.deepEqual(lengths, [2, 6, 18])
  assert.equal(figure?.requestsPerSecond, 5 / 18)
  const never = { ...slow, run: async () => ({ requests: 0, requestsPerSecond: 0, bytes: 0 }) }
  await assert.rejects(contest([never], { rounds: 1, seconds: 2, warmUpSeconds: 0 }), /slow finished no answer/)
})

test('the median of an even number of values lies between the middle two; what is unknown stays so', () => {
  assert.equal(medianOf([4, 1, 3, 2]), 2.5)
  assert.equal(medianOf([3]), 3)
  assert.equal(medianOf([1, null, 2]), null)
  assert.equal(medianOf([]), null)
})

test('processor time is counted once and never runs back when a backend ends', { skip: needsProc() }, async (t) => {
  // A postmaster and a backend that works for 300 ms of processor time and ends.
  const busy = 'while (process.cpuUsage().user < 300_000);'
  const postmaster = spawn(process.execPath, [
    '-e',
    `const { spawn } = require('node:child_process')
     const backend = spawn(process.execPath, ['-e', ${JSON.stringify(busy)}])
     console.log(backend.pid)
     backend.on('exit', () => console.log('ended'))
     setInterval(() => {}, 1000)`,
  ])
  t.after(() => postmaster.kill('SIGKILL'))
  const [line] = await once(postmaster.stdout, 'data')
  const pids = () => [postmaster.pid ?? 0, Number(line)]
  const clock = cpuClock(() => [], { postmasterPid: () => postmaster.pid ?? 0, postgresPids: pids })
  const ended = once(postmaster.stdout, 'data')
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  const readings = [clock() ?? 0]
  while (!isOver) {
    readings.push(clock() ?? 0)
    await sleep(5)
  }
  await ended
  const last = clock() ?? 0
  readings.push(last)

  assert.deepEqual(
    readings,
    readings.toSorted((one, other) => one - other),
  )
  assert.ok(last - (readings[0] ?? 0) > 250, `${last} ms: the backend's time is there after its end`)
  assert.ok(last < 3_000, `${last} ms: and it is counted once`)
})

function needsProc(): string | false {
  return process.platform === 'linux' ? false : 'only Linux has /proc'
}
