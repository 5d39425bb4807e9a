import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import { limitKey } from '../../platform/http/client-address.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'
import { requireLocation } from '../directory/location.ts'
import { isOwnOrigin, ownDomains } from './settings.ts'
import { findScriptByKey, lockScript, saveInstallation, saveSighting } from './store.ts'

/** Takes the report of a script that it ran on a website. Never throws, and never says what became of it. */
export type PageViewReceiver = (pageView: { key: string; origin: string | undefined; ip: string }) => Promise<void>

const minuteMs = 60_000
/** Of one address in a minute, kept in memory. One visitor is enough to see a script, so what is dropped is not missed. */
const perMinuteMax = 20
/** How long the same key and origin are not looked at again. */
const rememberedMs = 5 * minuteMs
const rememberedMax = 10_000
/** Being stored at one time: a flood must not take the connections that reads need. */
const underWayMax = 2
const foreignOriginsMax = 20
const ownOriginsMax = 50

/** Receives page views within bounds of memory, of connections and of rows. */
export function createPageViewReceiver(deps: { pool: Pool; now: () => Date; log: Log }): PageViewReceiver {
  const byAddress = new BoundedMap<string, number[]>(rememberedMax)
  const seenAt = new BoundedMap<string, number>(rememberedMax)
  let underWay = 0

  const isAdmitted = (ip: string, nowMs: number) => {
    const key = limitKey(ip)
    const recent = (byAddress.get(key) ?? []).filter((at) => Math.abs(nowMs - at) < minuteMs)
    if (recent.length >= perMinuteMax) return false
    byAddress.set(key, [...recent, nowMs])
    return true
  }

  return async ({ key, origin: header, ip }) => {
    const nowMs = deps.now().getTime()
    const origin = websiteOf(header)
    if (origin === null || !/^[\w-]{22}$/.test(key) || !isAdmitted(ip, nowMs)) return
    const what = `${key} ${origin}`
    const before = seenAt.get(what)
    if ((before !== undefined && Math.abs(nowMs - before) < rememberedMs) || underWay >= underWayMax) return
    seenAt.set(what, nowMs)
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
