import type { Pool } from 'pg'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import {
  createSlotOperations,
  type SlotAnswer,
  type SlotKey,
  type SlotLimits,
  type SyncType,
} from './slot-operations.ts'

export type Slot = {
  /** Resolves when the slot is free for others, or will expire because the database is away. Safe to call again. */
  release: () => Promise<void>
  /** Fires when the slot could not be kept, so that what it stood for must stop. */
  readonly signal: AbortSignal
}

export type SyncSlots = {
  readonly limits: SlotLimits
  /** Takes the company's slot of this type for the location. Throws `sync_slots_exceeded`, or `unavailable`. */
  acquire: (companyId: CompanyId, syncType: SyncType, locationId: LocationId) => Promise<Slot>
  /**
   * For an answer that is already known: refuses as `acquire` would, and holds nothing. `inFlight`: the company's locations with requests of the type
   * in flight, where the caller has asked the database already.
   */
  check: (
    companyId: CompanyId,
    syncType: SyncType,
    locationId: LocationId,
    inFlight?: readonly LocationId[],
  ) => Promise<void>
  /** Renews what is held until stopped. */
  start: () => void
  /** Gives back what this process holds. */
  stop: () => Promise<void>
}

// A hold, in this process, of one location by however many requests:
//   asking → held → released        the last request ended
//          → refused                the limit was reached, or the database failed
//            held → lost            it could not be renewed in time; its requests are aborted
type Hold = {
  id: string
  key: SlotKey
  lease: number
  requests: number
  granted: Promise<void>
  isHeld: boolean
  takenAtMs: number
  validUntilMs: number
  lost: AbortController
}

/**
 * Sync slots of companies, over all processes: at most `limits` locations of a company have requests of a type in flight. Requests of one
 * location in one process share a hold and its row; a hold is a lease that this process renews, so that those of a dead one expire. A
 * process that cannot renew ends its own requests before others may take the slot.
 */
export function createSyncSlots(options: {
  pool: Pick<Pool, 'query'>
  processId: string
  limits: SlotLimits
  leaseMs?: number
  renewMs?: number
  timeoutMs?: number
  /** A hold that no request joined for so long was forgotten by a bug: no answer takes that long. It is ended, or it would be renewed for ever. */
  holdMaxMs?: number
  log: Log
  /** Milliseconds of a clock that never jumps. */
  now?: () => number
}): SyncSlots {
  const {
    pool,
    processId,
    limits,
    leaseMs = 20_000,
    renewMs = 5_000,
    timeoutMs = 3_000,
    holdMaxMs = 120_000,
    log,
  } = options
  const now = options.now ?? (() => performance.now())
  const operations = createSlotOperations({ pool, processId, limits, leaseMs, timeoutMs, retryMs: 1_000, now })
  const holds = new Map<string, Hold>()
  let lastLease = 0

  const leave = (hold: Hold) => {
    if (holds.get(hold.id) === hold) holds.delete(hold.id)
  }

  const take = async (hold: Hold): Promise<void> => {
    let answer: SlotAnswer
    try {
      answer = await operations.run('hold', hold.key, hold.lease)
    } catch (cause) {
      leave(hold)
      operations.forget(hold.key, hold.lease)
      throw unavailable(cause)
    }
    if (!answer.granted) {
      leave(hold)
      throw exceeded(hold.key, limits, answer.activeLocationIds)
    }
    hold.isHeld = true
    hold.validUntilMs = answer.sentAtMs + leaseMs
  }

  const giveBack = async (hold: Hold): Promise<void> => {
    hold.requests -= 1
    if (hold.requests > 0) return
    leave(hold)
    await operations.run('release', hold.key, hold.lease)
  }

  const giveUp = (hold: Hold) => {
    leave(hold)
    hold.lost.abort()
  }

  const renew = async (hold: Hold): Promise<void> => {
    if (now() - hold.takenAtMs > holdMaxMs) {
      log({ event: 'task.failed', task: 'give back a sync slot', error: 'held too long' })
      giveUp(hold)
      operations.forget(hold.key, hold.lease)
      return
    }
    try {
      const answer = await operations.run('hold', hold.key, hold.lease)
      if (answer.granted) hold.validUntilMs = answer.sentAtMs + leaseMs
      else giveUp(hold)
    } catch (error) {
      log({ event: 'task.failed', task: 'renew sync slots', error: databaseErrorCode(error) })
    }
    // It would not last until the next try.
    if (hold.validUntilMs < now() + renewMs) giveUp(hold)
  }

  const renewAll = async () => {
    await Promise.all([...holds.values()].filter((hold) => hold.isHeld).map(renew))
  }
  const loop = createLoop({ steps: { 'renew sync slots': renewAll }, everyMs: renewMs, log })

  return {
    limits,

    async acquire(companyId, syncType, locationId) {
      const key = { companyId, syncType, locationId }
      const id = idOf(key)
      let hold = holds.get(id)
      if (!hold) {
        lastLease += 1
        const fresh: Hold = {
          id,
          key,
          lease: lastLease,
          requests: 0,
          granted: Promise.resolve(),
          isHeld: false,
          takenAtMs: 0,
          validUntilMs: 0,
          lost: new AbortController(),
        }
        holds.set(id, fresh)
        fresh.granted = take(fresh)
        hold = fresh
      }
      const mine = hold
      mine.requests += 1
      mine.takenAtMs = now()
      await mine.granted
      let released: Promise<void> | undefined
      return {
        signal: mine.lost.signal,
        release() {
          released ??= giveBack(mine)
          return released
        },
      }
    },

    async check(companyId, syncType, locationId, inFlight) {
      const key = { companyId, syncType, locationId }
      if (holds.get(idOf(key))?.isHeld) return
      if (inFlight) {
        if (inFlight.includes(locationId) || inFlight.length < limits[syncType]) return
        throw exceeded(key, limits, inFlight.map(Number))
      }
      let answer: SlotAnswer
      try {
        answer = await operations.run('check', key, 0)
      } catch (cause) {
        throw unavailable(cause)
      }
      if (!answer.granted) throw exceeded(key, limits, answer.activeLocationIds)
    },

    start: loop.start,

    async stop() {
      await loop.stop()
      for (const hold of holds.values()) operations.forget(hold.key, hold.lease)
      holds.clear()
      await operations.close()
    },
  }
}

function idOf(key: SlotKey): string {
  return `${key.companyId}/${key.syncType}/${key.locationId}`
}

/** spec: Errors, the 429. A slot lasts as long as one page, so a second is worth waiting. */
function exceeded(key: SlotKey, limits: SlotLimits, activeLocationIds: number[]): Problem {
  const retryAfterSeconds = 1
  const limit = limits[key.syncType]
  return new Problem('sync_slots_exceeded', {
    errors: `Too many locations are syncing concurrently: at most ${limit} with ${key.syncType} requests in flight. Try again in ${retryAfterSeconds} second.`,
    retryAfterSeconds,
    members: {
      sync_type: key.syncType,
      max_concurrent_locations: limit,
      active_location_ids: activeLocationIds.toSorted((left, right) => left - right),
    },
  })
}

function unavailable(cause: unknown): Problem {
  return new Problem('unavailable', {
    cause,
    retryAfterSeconds: 2,
    because: `sync slots: ${databaseErrorCode(cause)}`,
  })
}
