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

test('callers cannot add series without end: a method that no route has, and refusals beyond 500, have no route', async () => {
  const metrics = createMetrics({}, load)
  const seriesOf = async () =>
    (await metrics.render()).match(/^bridgework_http_request_duration_seconds_count\{.*$/gm) ?? []
  const answer = (method: string, route: string, status: number) =>
    metrics.observe({ event: 'request.answered', requestId: 'r', method, route, status, durationMs: 1 })
  for (let route = 0; route < 300; route += 1) {
    for (const method of ['PROPFIND', `X-${route}`, '-']) answer(method, `/${route}`, 401)
    for (const method of ['GET', 'DELETE', 'PROPFIND']) answer(method, `/${route}`, 405)
    for (const status of [400, 401, 404, 422]) answer('GET', `/${route}`, status)
  }
  const refused = await seriesOf()
  assert.equal(refused.length, 2 + 500 + 4, 'other 401 and 405; 500 refusals; the rest by status')
  for (const [method, status, count] of [
    ['other', 405, 900],
    ['other', 401, 900],
    ['GET', 422, 175],
  ])
    assert.ok(refused.some((line) => line.includes(`{method="${method}",route="(other)",status="${status}"} ${count}`)))
  answer('GET', '/late', 200)
  answer('GET', '/late', 503)
  answer('GET', '/0', 401)
  assert.equal((await seriesOf()).length, refused.length + 2, 'what is answered, or fails, always has its route')
})
