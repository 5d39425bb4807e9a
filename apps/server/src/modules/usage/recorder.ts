import { vendorApiPath } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, KeyPairId } from '../../platform/identity/identity.ts'
import type { Log, LogEvent } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import { createActivityCounter } from '../activity/counts.ts'
import { addDurations, positionOf } from './durations.ts'
import { addRequests, requestsKept, type StoredRequest } from './request-log.ts'
import { addKeyPairUses, addUsage, type KeyPairUse, type UsageCounts } from './store.ts'

export type UsageRecorder = {
  /** Takes note of what happened: an answer that was given to a company or an agent, an upload. Costs microseconds, waits for nothing and never throws. */
  observe: (event: LogEvent) => void
  /** Resolves when all that was noted so far is written, or could not be. */
  flush: () => Promise<void>
  /** Writes every second until stopped. */
  start: () => void
  /** Writes what is left. */
  stop: () => Promise<void>
}

type Answered = Extract<LogEvent, { event: 'request.answered' }>

/**
 * Counts what companies ask of the vendor API, from the log's own events: what cannot stand in the log cannot stand here either. Numbers wait
 * in memory and are written together, so no request pays for them; those of a process that dies are lost, and of a database that is away so
 * many are kept as fit a bounded memory.
 */
export function createUsageRecorder(options: {
  pool: Queryable
  log: Log
  now: () => Date
  everyMs?: number
  /** Buckets, key pairs and requests that may wait, so that a long outage fills no memory; what comes on top is not counted. */
  waitingMax?: number
}): UsageRecorder {
  const { pool, log, now, everyMs = 1_000, waitingMax = 10_000 } = options
  const counts = new Map<string, UsageCounts & { durations: number[] }>()
  const requests = new Map<string, StoredRequest[]>()
  const uses = new Map<KeyPairId, KeyPairUse>()
  const usesWritten = new Map<KeyPairId, number>()
  const activity = createActivityCounter(waitingMax)
  let activityWrittenMs = Number.NEGATIVE_INFINITY
  let requestsWaiting = 0

  /** The sum that it was added to; nothing when there is no room for another one. */
  const count = (more: UsageCounts): { durations: number[] } | undefined => {
    const key = `${more.companyId} ${more.bucketAt.getTime()}`
    const sum = counts.get(key)
    if (sum) {
      sum.requests += more.requests
      sum.records += more.records
      sum.throttled += more.throttled
      sum.errors += more.errors
      if (more.durations.length > 0) sum.durations = addDurations(sum.durations, more.durations)
      return sum
    }
    if (counts.size >= waitingMax) return
    const first = { ...more, durations: addDurations(more.durations, []) }
    counts.set(key, first)
    return first
  }

  const keep = (some: readonly StoredRequest[]) => {
    for (const request of some) {
      const key = `${request.companyId} ${request.outcome}`
      const kept = requests.get(key)
      if (!kept) {
        if (requestsWaiting >= waitingMax) continue
        requests.set(key, [request])
      } else {
        kept.push(request)
        if (kept.length > requestsKept[request.outcome] / perWriteShare) kept.shift()
        else requestsWaiting += 1
        continue
      }
      requestsWaiting += 1
    }
  }

  const use = (keyPairId: KeyPairId, at: Date, isToken: boolean) => {
    const before = usesWritten.get(keyPairId)
    if (!isToken && before !== undefined && at.getTime() - before < useEveryMs) return
    if (usesWritten.size >= waitingMax) usesWritten.clear()
    usesWritten.set(keyPairId, at.getTime())
    if (uses.size < waitingMax) uses.set(keyPairId, { keyPairId, at })
  }

  /** Each of the three on its own, so that one which was written is not written again after another failed. */
  const write = async <Key, Value>(
    waiting: Map<Key, Value>,
    insert: (db: Queryable, values: Value[]) => Promise<void>,
    putBack: (key: Key, value: Value) => void,
  ): Promise<unknown> => {
    const taken = [...waiting]
    if (taken.length === 0) return null
    waiting.clear()
    try {
      await insert(
        pool,
        taken.map(([, value]) => value),
      )
      return null
    } catch (error) {
      for (const [key, value] of taken) putBack(key, value)
      return error
    }
  }

  /** Hours are read by the hour: they are written less often. */
  const writeActivity = async (): Promise<unknown> => {
    if (performance.now() - activityWrittenMs < activityEveryMs) return null
    activityWrittenMs = performance.now()
    return await activity.write(pool).then(
      () => null,
      (error: unknown) => error,
    )
  }

  const writeAll = async () => {
    const errors = await Promise.all([
      writeActivity(),
      write(counts, addUsage, (_key, value) => count(value)),
      write(
        requests,
        (db, values) => {
          requestsWaiting = 0
          return addRequests(db, values.flat())
        },
        (key, value) => {
          const since = requests.get(key) ?? []
          requestsWaiting -= since.length
          requests.delete(key)
          keep([...value, ...since])
        },
      ),
      write(uses, addKeyPairUses, (keyPairId, value) => uses.set(keyPairId, uses.get(keyPairId) ?? value)),
    ])
    const error = errors.find((each) => each !== null)
    if (error !== undefined) throw error
  }
  const loop = createLoop({ steps: { 'write usage': writeAll }, everyMs, log })

  const flush = async () => {
    activityWrittenMs = Number.NEGATIVE_INFINITY
    await loop.run()
  }

  return {
    observe(event) {
      activity.observe(event, now())
      if (event.event !== 'request.answered' || event.companyId === undefined) return
      if (!event.route.startsWith(vendorApiPath) && event.route !== '(unknown)') return
      const at = now()
      keep([requestOf(event, event.companyId, at)])
      // Anyone may name a client id: what is not proved is listed, within its own bound, and counts as nothing.
      if (event.isUnproved) return
      const sum = count(countsOf(event, event.companyId, at))
      const position = positionOf(event.durationMs)
      if (sum) sum.durations[position] = (sum.durations[position] ?? 0) + 1
      // A token whose pair was revoked is refused: that is no use of it.
      if (event.keyPairId !== undefined && event.status !== 401) {
        use(event.keyPairId, at, event.route === `${vendorApiPath}/auth/token`)
      }
    },
    flush,
    start: loop.start,
    async stop() {
      await loop.stop()
      await flush()
    },
  }
}

/** A key pair's last use is that exact, and costs one row a minute. */
const useEveryMs = 60_000

const bucketMs = 300_000

const activityEveryMs = 10_000

/** Each second a company may add this part of what is kept of it: of 200 successful requests and more, the last 200 of the second. */
const perWriteShare = 250

function countsOf(event: Answered, companyId: CompanyId, at: Date): UsageCounts {
  const isThrottled = event.status === 429
  return {
    companyId,
    bucketAt: new Date(Math.floor(at.getTime() / bucketMs) * bucketMs),
    requests: 1,
    records: event.records ?? 0,
    throttled: isThrottled ? 1 : 0,
    errors: event.status >= 400 && !isThrottled ? 1 : 0,
    durations: [],
  }
}

function requestOf(event: Answered, companyId: CompanyId, answeredAt: Date): StoredRequest {
  return {
    companyId,
    answeredAt,
    requestId: event.requestId,
    method: event.method,
    route: event.route.replace(vendorApiPath, ''),
    // An id that names no location is whatever the caller wrote there.
    locationId: event.code === 'location_unknown' ? null : (event.locationId ?? null),
    keyPairId: event.keyPairId ?? null,
    outcome: outcomeOf(event),
    status: event.status,
    code: event.code ?? null,
    because: event.status === 401 ? (event.because ?? null) : null,
    parameter: event.broken?.parameter ?? null,
    rule: event.broken?.rule ?? null,
    records: event.records ?? 0,
    durationMs: event.durationMs,
  }
}

function outcomeOf({ status, isUnproved }: Answered): StoredRequest['outcome'] {
  if (isUnproved) return 'unauthenticated'
  if (status === 429) return 'throttled'
  return status >= 400 ? 'error' : 'ok'
}
