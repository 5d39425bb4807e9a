import type { Practice } from './practice.ts'

/** How a practice is seen: which locations there are, and where what belongs to none of them stands. */
export type View = {
  readonly locationKeys: readonly string[]
  /** The location of a row; null is the practice as a whole. */
  readonly locationOf: (locationKey: string | null) => string
  readonly timeZoneOf: (locationKey: string) => string
  /** Whether it holds more than the agent reads from Open Dental: moments of entry, campaigns, numbers of insurers' checks. */
  readonly knowsMore: boolean
}

/** As the practice itself sees it: what is registered nowhere stands at the first location. */
export function ownView(practice: Practice): View {
  const locationKeys = [...practice.locations.keys()]
  return {
    locationKeys,
    locationOf: (key) => key ?? locationKeys[0] ?? '0',
    timeZoneOf: (key) => practice.locations.get(key)?.timeZone ?? practice.organization.timeZone,
    knowsMore: true,
  }
}
