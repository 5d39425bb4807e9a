import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createHttpServer } from '../http/server.ts'
import type { LocationId } from '../identity/identity.ts'
import type { LogEvent } from '../log/log-event.ts'
import { createTraces } from './traces.ts'

const at = new Date('2026-11-23T10:00:00.000Z')

test('a request becomes a span of its route, whose trace has the id that the caller got, and nothing of the path', async (t) => {
  const collector = await someCollector(t)
  const traces = createTraces({ url: collector.url, now: () => at, log: () => {} })
  const app = createHttpServer({ log: traces.observe, trustedProxies: [] })
  t.after(() => app.close())
  app.get('/patients/:patient_id', async () => ({}))
  const { headers } = await app.inject('/patients/canary-patient?name=canary-name')
  await traces.stop()

  const [span, ...others] = collector.spans()
  assert.deepEqual(others, [])
  assert.equal(span?.name, 'GET /patients/:patient_id')
  assert.equal(span?.kind, 2)
  assert.equal(span?.traceId, String(headers['x-request-id']).replaceAll('-', ''))
  assert.match(span?.traceId ?? '', /^[0-9a-f]{32}$/)
  assert.match(span?.spanId ?? '', /^[0-9a-f]{16}$/)
  assert.equal(span?.endTimeUnixNano, `${at.getTime()}000000`)
  assert.deepEqual(span?.attributes, [
    { key: 'http.request.method', value: { stringValue: 'GET' } },
    { key: 'http.route', value: { stringValue: '/patients/:patient_id' } },
    { key: 'http.response.status_code', value: { intValue: '200' } },
  ])
  assert.doesNotMatch(collector.text(), /canary/)
})

test('other events with a duration are spans with the members of the log, those without are none', async (t) => {
  const collector = await someCollector(t)
  const traces = createTraces({ url: collector.url, now: () => at, log: () => {} })
  const upload = { locationId: '7' as LocationId, dataset: 'patients', changed: 2, hidden: 0, isRepeated: false }
  traces.observe({ event: 'records.ingested', ...upload, durationMs: 12.5 })
  traces.observe({ event: 'tls.reloaded' })
  await traces.stop()

  const [span, ...others] = collector.spans()
  assert.deepEqual(others, [])
  assert.equal(span?.name, 'records.ingested')
  assert.equal(BigInt(span?.endTimeUnixNano ?? 0) - BigInt(span?.startTimeUnixNano ?? 0), 12_500_000n)
  assert.deepEqual(span?.attributes, [
    { key: 'bridgework.locationId', value: { stringValue: '7' } },
    { key: 'bridgework.dataset', value: { stringValue: 'patients' } },
    { key: 'bridgework.changed', value: { intValue: '2' } },
    { key: 'bridgework.hidden', value: { intValue: '0' } },
    { key: 'bridgework.isRepeated', value: { boolValue: false } },
  ])
})

test('a collector that refuses is logged once, and costs no request and no memory', async (t) => {
  const collector = await someCollector(t, 503)
  const events: LogEvent[] = []
  const traces = createTraces({ url: collector.url, now: () => at, log: (event) => events.push(event) })
  const request = { requestId: crypto.randomUUID(), method: 'GET', route: '/', status: 500, durationMs: 1 }
  for (let i = 0; i < 6_000; i++) traces.observe({ event: 'request.answered', ...request })
  await traces.stop()
  await traces.stop()
  assert.deepEqual(events, [{ event: 'task.failed', task: 'send traces', error: 'HTTP_503' }])
  assert.equal(collector.spans().length, 1_000)
  assert.deepEqual(collector.spans()[0]?.status, { code: 2 })
})

type Span = {
  traceId: string
  spanId: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: object[]
  status?: object
}

/** A receiver of OTLP on loopback. */
async function someCollector(t: TestContext, status = 200) {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    assert.deepEqual([request.method, request.url], ['POST', '/v1/traces'])
    assert.equal(request.headers['content-type'], 'application/json')
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    bodies.push(body)
    response.writeHead(status).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    text: () => bodies.join(),
    spans: (): Span[] => bodies.flatMap((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans),
  }
}
