import type { TestContext } from 'node:test'
import { someWorld, type TestVendor, type TestWorld } from '../../../../apps/server/src/testing/test-world.ts'
import { Bridgework, type BridgeworkOptions } from '../bridgework.ts'
import type { ClientEvent } from '../events.ts'

export { aPlan, aRecord, aSchedule } from '../../../../apps/server/src/testing/test-world.ts'

/** A service with one vendor and its granted locations, each with so many insurance plans, and the vendor's client. */
export async function someClient(
  t: TestContext,
  options: {
    locations?: number
    insurancePlans?: number
    limits?: { initial: number; incremental: number }
    /** As in production: what is not switched on there yet is off. */
    isPreviewOff?: boolean
    options?: Partial<BridgeworkOptions>
  } = {},
) {
  const world = await someWorld(t, {
    ...(options.limits && { limits: options.limits }),
    ...(options.isPreviewOff && { previewDatasets: new Set() }),
  })
  const locations = []
  for (let index = 0; index < (options.locations ?? 1); index += 1) {
    locations.push(await world.addLocation({ insurancePlans: options.insurancePlans ?? 0 }))
  }
  const vendor = await world.addVendor(locations)
  const events: ClientEvent[] = []
  const client = clientOf(world, vendor, { onEvent: (event) => events.push(event), ...options.options })
  const [location] = locations
  if (!location) throw new Error('a client without a location')
  return { world, vendor, client, locations, location, events }
}

/** A client of the vendor. Pauses are short: the tests wait for them. */
export function clientOf(world: TestWorld, vendor: TestVendor, options: Partial<BridgeworkOptions> = {}): Bridgework {
  return new Bridgework({
    baseUrl: world.url,
    clientId: vendor.clientId,
    clientSecret: vendor.clientSecret,
    retry: { attempts: 10, delayMaxMs: 20 },
    ...options,
  })
}

/** All of an iterable. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

/** How many answers had each status. */
export function statusesOf(events: readonly ClientEvent[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const event of events) {
    if (event.event === 'response') counts[event.status] = (counts[event.status] ?? 0) + 1
  }
  return counts
}
