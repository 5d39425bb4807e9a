import { releaseVersion } from '@bridgework/contract/release'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { Pool } from 'pg'
import { importantEvents, isImportant } from '../log/log.ts'
import type { LogEvent } from '../log/log-event.ts'
import type { LoadWatch } from '../memory/load-watch.ts'

export type Metrics = { observe: (event: LogEvent) => void; render: () => Promise<string>; contentType: string }

/** How many datasets wait to be packed, and since how many seconds the first of them does. */
export type WaitingSegments = { datasets: number; seconds: number }

/**
 * Prometheus metrics, made of the log's events: what cannot stand in the log cannot stand here either. `pools`: by their use. `measureDue` is asked at
 * each look.
 */
export function createMetrics(
  pools: Readonly<Record<string, Pool>>,
  load: Pick<LoadWatch, 'lagMs' | 'heapShare'>,
  measureDue?: () => Promise<WaitingSegments>,
): Metrics {
  const process = metricsOfProcess()
  const registry = new Registry()
  const registers = [registry]
  const labelsOf = createRequestLabels()
  const answered = new Histogram({
    name: 'bridgework_http_request_duration_seconds',
    help: 'Time from a request’s first byte to its answer’s last, by the route’s pattern; (other): of refused requests that have no series of their own',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  })
  const refused = new Counter({
    name: 'bridgework_problems_total',
    help: 'Refused requests, by the code of docs/errors.md',
    labelNames: ['code'],
    registers,
  })
  const changed = new Counter({
    name: 'bridgework_records_changed_total',
    help: 'Records inserted, changed or hidden by uploads',
    labelNames: ['dataset'],
    registers,
  })
  const cut = new Counter({
    name: 'bridgework_responses_cut_total',
    help: 'Answers cut off because their reader stalled or was too slow',
    registers,
  })
  const important = new Counter({
    name: 'bridgework_events_total',
    help: 'Events of the log that a person should read, by their name',
    labelNames: ['event'],
    registers,
  })
  // From 0 on: of a series that begins at 1, Prometheus sees no increase.
  for (const event of importantEvents) important.inc({ event }, 0)
  new Gauge({
    name: 'bridgework_build_info',
    help: 'Always 1: the version that runs',
    labelNames: ['version'],
    registers,
  }).set({ version: releaseVersion }, 1)
  new Gauge({
    name: 'bridgework_database_connections',
    help: 'Connections to the database, by their pool and by what they do',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [name, pool] of Object.entries(pools)) {
        this.set({ pool: name, state: 'busy' }, pool.totalCount - pool.idleCount)
        this.set({ pool: name, state: 'idle' }, pool.idleCount)
        this.set({ pool: name, state: 'waited_for' }, pool.waitingCount)
      }
    },
  })
  new Gauge({
    name: 'bridgework_event_loop_lag_seconds',
    help: 'How late the event loop comes to its work, smoothed over about a second: above 0.25, new requests are refused',
    registers,
    collect() {
      this.set(load.lagMs() / 1000)
    },
  })
  new Gauge({
    name: 'bridgework_heap_used_ratio',
    help: 'Share of the heap limit in use after a full collection of the last 5 s, else 0: above 0.75, large requests are refused',
    registers,
    collect() {
      this.set(load.heapShare())
    },
  })
  if (measureDue) registerSegments(registers, measureDue)
  return {
    observe(event) {
      if (event.event === 'request.answered') {
        answered.observe(labelsOf(event), event.durationMs / 1000)
        if (event.code !== undefined) refused.inc({ code: event.code })
      } else if (event.event === 'records.ingested')
        changed.inc({ dataset: event.dataset }, event.changed + event.hidden)
      else if (event.event === 'response.cut') cut.inc()
      else if (isImportant(event)) important.inc({ event: event.event })
    },
    render: () => Registry.merge([process, registry]).metrics(),
    contentType: registry.contentType,
  }
}

/**
 * What Node says of the process, once for all who ask: each set of these has timers and observers of its own, which nothing ends. Tests make
 * services by the hundred in one process.
 */
function metricsOfProcess(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}
let ofProcess: Registry | undefined

/** Without the database the other metrics are shown all the same, and these as unknown. */
function registerSegments(registers: Registry[], measureDue: () => Promise<WaitingSegments>): void {
  const register = (name: string, help: string, of: (due: WaitingSegments) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await measureDue().then(of, () => Number.NaN))
      },
    })
  register(
    'bridgework_segments_due',
    'Datasets that wait to be packed into segments, which large pages are made of; at most 10,000 are counted',
    ({ datasets }) => datasets,
  )
  register(
    'bridgework_segments_due_seconds',
    'For how many seconds the first of the datasets that wait to be packed has waited',
    ({ seconds }) => seconds,
  )
}

type Answered = Extract<LogEvent, { event: 'request.answered' }>

/**
 * The labels of a request's series, which are kept for ever. Callers choose the method's text, and can have every route refuse them in many ways:
 * a method that a route does not answer is no label, and after `refusedMax` refusals of a route, a method and a status each, further ones have no
 * route. What succeeds and what fails in the service is bounded by the routes.
 */
function createRequestLabels(): (event: Answered) => { method: string; route: string; status: string } {
  const refused = new Set<string>()
  return ({ method: given, route, status: code }) => {
    const status = String(code)
    if (code === 405 || !knownMethods.has(given)) return { method: 'other', route: '(other)', status }
    const labels = { method: given, route, status }
    if (code < 400 || code >= 500) return labels
    const name = `${given} ${route} ${status}`
    if (!refused.has(name) && refused.size >= refusedMax) return { ...labels, route: '(other)' }
    refused.add(name)
    return labels
  }
}

const refusedMax = 500
const knownMethods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
