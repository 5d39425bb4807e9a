import type { Pool } from 'pg'
import { askPrepared, plainArray, plainValues, type TextRow } from '../../platform/database/hot/prepared.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import { createPump } from '../../platform/memory/pump.ts'

export type SyncType = 'initial' | 'incremental'
export type SlotLimits = Readonly<Record<SyncType, number>>
export type SlotKey = { companyId: CompanyId; syncType: SyncType; locationId: LocationId }

/** `sentAtMs`: before the statement left, so a lease counted from it never outlives the row. */
export type SlotAnswer = { granted: true; sentAtMs: number } | { granted: false; activeLocationIds: number[] }

export type SlotOperations = {
  /** `hold` takes or renews, `check` only asks, `release` gives back. Rejects when the database fails, but never for a release. */
  run: (kind: 'hold' | 'check' | 'release', key: SlotKey, lease: number) => Promise<SlotAnswer>
  /** Gives back after a hold whose outcome is unknown. Waits for nothing. */
  forget: (key: SlotKey, lease: number) => void
  /** Resolves when nothing is under way. Releases that could not be sent are left to expire. */
  close: () => Promise<void>
}

type Waiting = {
  kind: 'hold' | 'check' | 'release'
  key: SlotKey
  lease: number
  queuedAtMs: number
  resolve: (answer: SlotAnswer) => void
  reject: (error: unknown) => void
}

/**
 * Sends operations on sync slots to the database, one statement at a time and all that wait in it: under load a round trip carries many.
 * Operations on one location keep their order, also when a release has to be sent again.
 */
export function createSlotOperations(options: {
  pool: Pick<Pool, 'query'>
  processId: string
  limits: SlotLimits
  leaseMs: number
  timeoutMs: number
  retryMs: number
  now: () => number
}): SlotOperations {
  const { pool, processId, limits, leaseMs, timeoutMs, retryMs, now } = options
  let waiting: Waiting[] = []
  let retry: NodeJS.Timeout | undefined
  let closed = false

  const send = async () => {
    const batch = waiting.splice(0, batchMax).sort(byGate)
    const sentAtMs = now()
    try {
      const rows = await apply(batch)
      for (const [index, operation] of batch.entries()) operation.resolve(answerOf(rows[index], sentAtMs))
    } catch (error) {
      afterFailure(batch, error)
    }
  }

  // While a retry is set, only releases wait, and they wait for it.
  const pump = createPump(() => waiting.length > 0 && retry === undefined, send)
  const start = () => {
    clearTimeout(retry)
    retry = undefined
    pump.start()
  }

  /** Keeps releases for another try, ahead of everything newer; when only they are left, they wait for the retry. */
  const afterFailure = (batch: readonly Waiting[], error: unknown): void => {
    const again: Waiting[] = []
    for (const operation of batch) {
      if (operation.kind !== 'release') operation.reject(error)
      else {
        // The request that releases is about to answer its caller: we delete the row, or it expires.
        operation.resolve({ granted: true, sentAtMs: now() })
        if (!closed && now() - operation.queuedAtMs < leaseMs) again.push(operation)
      }
    }
    const others = waiting.some((operation) => operation.kind !== 'release')
    waiting = [...again, ...waiting]
    if (!others && waiting.length > 0) retry ??= setTimeout(start, retryMs).unref()
  }

  const apply = (batch: readonly Waiting[]): Promise<TextRow[]> =>
    askPrepared(pool, {
      name: 'sync-slot-apply',
      text: 'select granted, active from sync_slot_apply($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
      values: [
        processId,
        String(leaseMs),
        // The server gives up before we do, so that no statement that we gave up still runs.
        String(Math.max(1, Math.floor(timeoutMs * 0.6))),
        String(limits.initial),
        String(limits.incremental),
        plainArray(batch.map(({ kind }) => kind)),
        plainArray(batch.map(({ key }) => key.companyId)),
        plainArray(batch.map(({ key }) => key.syncType)),
        plainArray(batch.map(({ key }) => key.locationId)),
        plainArray(batch.map(({ lease }) => lease)),
      ],
      limitMs: timeoutMs,
    })

  const run: SlotOperations['run'] = (kind, key, lease) => {
    const { promise, resolve, reject } = Promise.withResolvers<SlotAnswer>()
    waiting.push({ kind, key, lease, queuedAtMs: now(), resolve, reject })
    start()
    return promise
  }

  return {
    run,
    forget(key, lease) {
      void run('release', key, lease)
    },
    async close() {
      closed = true
      await pump.idle()
      clearTimeout(retry)
    },
  }
}

function answerOf(row: TextRow | undefined, sentAtMs: number): SlotAnswer {
  if (!row) throw new Error('sync_slot_apply answered too few rows')
  const [granted, active] = row
  return granted === 't'
    ? { granted: true, sentAtMs }
    : { granted: false, activeLocationIds: plainValues(active ?? '{}').map(Number) }
}

const batchMax = 200

/** All processes lock gates in this order. Stable, so a location's operations stay in theirs. */
function byGate(left: Waiting, right: Waiting): number {
  const [a, b] = [`${left.key.companyId}/${left.key.syncType}`, `${right.key.companyId}/${right.key.syncType}`]
  return a < b ? -1 : a > b ? 1 : 0
}
