import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

const load = { lagMs: () => 0, heapShare: () => 0 }

test('events that a person should read are counted from zero on, others are not', async () => {
  const metrics = createMetrics({}, load)
  assert.match(await metrics.render(), /^bridgework_events_total\{event="task\.failed"\} 0$/m)
  metrics.observe({ event: 'task.failed', task: 'mail', error: 'ECONNREFUSED' })
  metrics.observe({ event: 'tls.reloaded' })
  const text = await metrics.render()
  assert.match(text, /^bridgework_events_total\{event="task\.failed"\} 1$/m)
  assert.doesNotMatch(text, /tls\.reloaded|ECONNREFUSED/)
})

test('the version that runs is shown', async () => {
  assert.match(await createMetrics({}, load).render(), /^bridgework_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
})
