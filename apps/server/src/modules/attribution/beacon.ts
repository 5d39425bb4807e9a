import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import { limitKey } from '../../platform/http/client-address.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { requireLocation } from '../directory/location.ts'
import { isOwnOrigin, ownDomains } from './settings.ts'
import { findScriptByKey, lockScript, saveInstallation, saveSighting } from './store.ts'

/** Takes what a script tells: that it ran on a website. Never throws, and never says what became of it. */
export type BeaconReceiver = (beacon: { key: string; origin: string | undefined; ip: string }) => Promise<void>

const minuteMs = 60_000
/** Of one address in a minute, kept in memory. One visitor is enough to see a script, so what is dropped is not missed. */
const perMinuteMax = 20
/** For so long the same key and origin are not looked at again. */
const rememberedMs = 5 * minuteMs
const rememberedMax = 10_000
/** Being stored at one time: a flood must not take the connections that reads need. */
const underWayMax = 2
const foreignOriginsMax = 20
const ownOriginsMax = 50

/** Receives beacons within bounds of memory, of connections and of rows. */
export function createBeaconReceiver(deps: { pool: Pool; now: () => Date; log: Log }): BeaconReceiver {
  const byAddress = new Map<string, number[]>()
  const seenAt = new Map<string, number>()
  let underWay = 0

  const isAdmitted = (ip: string, nowMs: number) => {
    const key = limitKey(ip)
    const recent = (byAddress.get(key) ?? []).filter((at) => Math.abs(nowMs - at) < minuteMs)
    if (recent.length >= perMinuteMax) return false
    remember(byAddress, key, [...recent, nowMs])
    return true
  }

  return async ({ key, origin: header, ip }) => {
    const nowMs = deps.now().getTime()
    const origin = websiteOf(header)
    if (origin === null || !/^[\w-]{22}$/.test(key) || !isAdmitted(ip, nowMs)) return
    const what = `${key} ${origin}`
    const before = seenAt.get(what)
    if ((before !== undefined && Math.abs(nowMs - before) < rememberedMs) || underWay >= underWayMax) return
    remember(seenAt, what, nowMs)
    underWay += 1
    try {
      await recordSighting(deps.pool, key, origin)
    } catch (error) {
      seenAt.delete(what)
      deps.log({ event: 'task.failed', task: 'attribution', error: databaseErrorCode(error) })
    } finally {
      underWay -= 1
    }
  }
}

async function recordSighting(pool: Pool, key: string, origin: string): Promise<void> {
  const found = await findScriptByKey(pool, key)
  if (!found) return
  const { locationId } = found
  await withTransaction(pool, async (client) => {
    const { domains } = await lockScript(client, locationId)
    const { websiteUrl } = await requireLocation(client, locationId)
    const isOwnDomain = isOwnOrigin(origin, ownDomains(domains, websiteUrl))
    const max = isOwnDomain ? ownOriginsMax : foreignOriginsMax
    await saveSighting(client, { locationId, origin, isOwnDomain, max })
    if (isOwnDomain) await saveInstallation(client, locationId)
  })
}

/** The origin of a website as browsers write it; null for `null`, apps and garbage. */
function websiteOf(header: string | undefined): string | null {
  if (header === undefined || header.length > 300 || !/^https?:\/\//.test(header) || !URL.canParse(header)) return null
  return new URL(header).origin === header ? header : null
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= rememberedMax) return
  const oldest = map.keys().next()
  if (!oldest.done) map.delete(oldest.value)
}
