import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'

test('a thread ranks the lists of common words, and frees their memory when it is idle', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  // A pool of its own: other tests of this process have chosen passwords.
  const { estimateStrength }: typeof import('./password-strength.ts') = await import(
    `${import.meta.resolve('./password-strength.ts')}?own`
  )
  const started: Worker[] = []
  const onStart = (message: unknown) => started.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', onStart)
  t.after(() => unsubscribe('worker_threads', onStart))
  const heap = process.memoryUsage().heapUsed
  const cpu = process.threadCpuUsage()
  const strengths = await Promise.all([
    estimateStrength('correct horse battery staple', []),
    estimateStrength('passwordpassword', []),
    estimateStrength('quillfeatherbrook', ['quillfeather', 'brook']),
  ])
  const { user, system } = process.threadCpuUsage(cpu)
  assert.deepEqual(
    strengths.map(({ score }) => score),
    [4, 0, 1],
  )
  // In this thread they take 500 ms and 50 MB.
  assert.ok((user + system) / 1000 < 150, `${(user + system) / 1000} ms of this thread`)
  assert.ok(process.memoryUsage().heapUsed - heap < 15e6)
  const thread = started[0] as Worker
  const ended = once(thread, 'exit')
  t.mock.timers.tick(3_000)
  await ended
  assert.equal((await estimateStrength('passwordpassword', [])).score, 0)
  assert.equal(started.length, 2)
})
