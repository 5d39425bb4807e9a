import type { SyncType } from './events.ts'

/** How many locations may have requests of a type in flight. */
export type SlotLimits = Record<SyncType, number>

export type SyncSlots = {
  /** Waits until the location may have a request of this type in flight; call what it gives when the answer has been read. Throws the signal's reason. */
  acquire: (type: SyncType, locationId: string, signal?: AbortSignal) => Promise<() => void>
  /** The service named its limit: kept to from now on, never beyond what was configured. True when that changed something. */
  learn: (type: SyncType, limit: number) => boolean
  limitOf: (type: SyncType) => number
}

type Waiting = { locationId: string; begin: () => void }
type Lane = { max: number; limit: number; inFlight: Map<string, number>; waiting: Waiting[] }

/**
 * Keeps this client within the service's sync slots, which count locations with requests in flight, so that a 429 happens only when another
 * process of the same company is at work. First come, first served; a location that holds a slot shares it among its requests.
 */
export function createSyncSlots(limits: SlotLimits): SyncSlots {
  const lanes: Record<SyncType, Lane> = { initial: laneOf(limits.initial), incremental: laneOf(limits.incremental) }

  const begin = (lane: Lane, locationId: string) => {
    lane.inFlight.set(locationId, (lane.inFlight.get(locationId) ?? 0) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (lane.inFlight.get(locationId) ?? 1) - 1
      if (left > 0) lane.inFlight.set(locationId, left)
      else lane.inFlight.delete(locationId)
      admitWaiting(lane)
    }
  }

  return {
    acquire(type, locationId, signal) {
      const lane = lanes[type]
      if (signal?.aborted) return Promise.reject(signal.reason)
      if (isFree(lane, locationId)) return Promise.resolve(begin(lane, locationId))
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          locationId,
          begin() {
            signal?.removeEventListener('abort', giveUp)
            resolve(begin(lane, locationId))
          },
        }
        const giveUp = () => {
          lane.waiting = lane.waiting.filter((other) => other !== waiting)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', giveUp, { once: true })
        lane.waiting.push(waiting)
      })
    },
    learn(type, limit) {
      const lane = lanes[type]
      const before = lane.limit
      lane.limit = Math.max(1, Math.min(lane.max, Math.trunc(limit) || 1))
      admitWaiting(lane)
      return lane.limit !== before
    },
    limitOf: (type) => lanes[type].limit,
  }
}

function laneOf(limit: number): Lane {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`concurrency must be a whole number of at least 1, not ${limit}`)
  return { max: limit, limit, inFlight: new Map(), waiting: [] }
}

function isFree(lane: Lane, locationId: string): boolean {
  return lane.inFlight.has(locationId) || lane.inFlight.size < lane.limit
}

function admitWaiting(lane: Lane): void {
  for (const waiting of lane.waiting) {
    if (!isFree(lane, waiting.locationId)) continue
    lane.waiting = lane.waiting.filter((other) => other !== waiting)
    waiting.begin()
  }
}
