import { randomBytes } from 'node:crypto'
import { releaseVersion } from '@bridgework/contract/release'
import type { Log, LogEvent } from '../log/log-event.ts'
import { createLoop } from '../loop/loop.ts'

export type Traces = {
  observe: (event: LogEvent) => void
  /** Sends what waits. */
  stop: () => Promise<void>
}

type TimedEvent = Extract<LogEvent, { durationMs: number }>

/** A collector that is slow or away costs the spans and no memory. */
const waitingMax = 5_000
const batchMax = 500
const everyMs = 5_000
const timeoutMs = 10_000

/**
 * Sends a span for each event of the log that has a duration to a collector (OTLP over HTTP, as JSON). A span has the members of its event and no
 * more, so what cannot stand in the log cannot stand here either. A request's trace has the id of the request, without hyphens.
 */
export function createTraces(deps: { url: string; now: () => Date; log: Log }): Traces {
  const { url, now, log } = deps
  let waiting: object[] = []

  const send = async (spans: readonly object[]) => {
    const body = JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: attributesOf({ 'service.name': 'bridgework', 'service.version': releaseVersion }) },
          scopeSpans: [{ scope: { name: 'bridgework' }, spans }],
        },
      ],
    })
    const signal = AbortSignal.timeout(timeoutMs)
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
    await answer.body?.cancel()
    if (!answer.ok) throw Object.assign(new Error('the collector refused the spans'), { code: `HTTP_${answer.status}` })
  }

  /** Nothing is sent twice: a collector may have taken what it did not answer. */
  const flush = async () => {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, batchMax)
      waiting = waiting.slice(batchMax)
      await send(spans)
    }
  }
  const loop = createLoop({ steps: { 'send traces': flush }, everyMs, log })
  loop.start()

  return {
    observe(event) {
      if ('durationMs' in event && waiting.length < waitingMax) waiting.push(spanOf(event, now()))
    },
    async stop() {
      await loop.stop()
      await loop.run()
    },
  }
}

function spanOf(event: TimedEvent, endedAt: Date): object {
  const { event: name, durationMs, ...members } = event
  const endNs = BigInt(endedAt.getTime()) * 1_000_000n
  const times = {
    startTimeUnixNano: String(endNs - BigInt(Math.round(durationMs * 1_000_000))),
    endTimeUnixNano: String(endNs),
  }
  const ids = { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') }
  if (event.event !== 'request.answered') {
    return { ...ids, ...times, name, kind: internal, attributes: attributesOf(prefixed(members)) }
  }
  const { requestId, method, route, status, event: _event, durationMs: _durationMs, ...more } = event
  return {
    ...ids,
    ...times,
    traceId: requestId.replaceAll('-', ''),
    name: `${method} ${route}`,
    kind: server,
    attributes: attributesOf({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      ...prefixed(more),
    }),
    ...(status >= 500 && { status: { code: failed } }),
  }
}

/** The numbers of SpanKind and of StatusCode. */
const internal = 1
const server = 2
const failed = 2

function prefixed(members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [`bridgework.${name}`, value]))
}

function attributesOf(members: Readonly<Record<string, unknown>>): object[] {
  return Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: otlpValueOf(value) }))
}

/** OTLP's JSON writes whole numbers as text, because they have 64 bits. */
function otlpValueOf(value: unknown): object {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { stringValue: String(value) }
}
